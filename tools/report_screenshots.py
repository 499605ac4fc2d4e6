"""Pictures of the report for the documentation: `report_screenshots.py FOLDER`. Needs Chromium and Playwright.

The texts are in examples/report and were written for this purpose.
"""

from __future__ import annotations

import subprocess
import sys
from functools import partial
from pathlib import Path
from shutil import which
from tempfile import TemporaryDirectory

EXAMPLES = Path(__file__).resolve().parents[1] / "examples" / "report"
REPORTS = {
    "de-en": ("-l", "en", "-m", "m,x,bleu", "--source", "source.txt", "--labels", "labels.txt"),
    "en-zh": ("-l", "zh", "-m", "celab,chrf", "--source", "source.txt"),
    "ar": ("-l", "ar", "-m", "m,chrf"),
}
WIDE, NARROW = (1280, 860), (390, 844)
SHOTS = [
    ("de-en", "", "", WIDE, "light", "overview"),
    ("de-en", "", "", WIDE, "dark", "overview-dark"),
    ("de-en", "", "", NARROW, "light", "overview-narrow"),
    ("de-en", "", "#plots", WIDE, "light", "plots"),
    ("de-en", "", "#segments", WIDE, "light", "segments"),
    ("de-en", "", "#segments", NARROW, "dark", "segments-narrow-dark"),
    ("de-en", "", "#why", WIDE, "light", "why"),
    ("de-en", "", "#why", NARROW, "dark", "why-narrow-dark"),
    ("de-en", "", "#errors", WIDE, "light", "errors"),
    ("de-en", "", "#stress", WIDE, "dark", "stress-dark"),
    ("de-en", "#segment-1", "", WIDE, "light", "segment"),
    ("de-en", "#segment-6", "", WIDE, "dark", "segment-dark"),
    ("de-en", "#segment-4", "", NARROW, "dark", "segment-narrow-dark"),
    ("en-zh", "#segment-3", "", WIDE, "light", "segment"),
    ("en-zh", "#segment-2", "", NARROW, "dark", "segment-narrow-dark"),
    ("ar", "#segment-2", "", WIDE, "dark", "segment-dark"),
    ("ar", "#segment-1", "", NARROW, "light", "segment-narrow"),
    ("ar", "", "#segments", WIDE, "light", "segments"),
]
"""Report, fragment, part to scroll to, size, colours, name."""


def main(folder: Path) -> None:
    from playwright.sync_api import sync_playwright

    folder.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as made, sync_playwright() as started:
        for name, options in REPORTS.items():
            systems = sorted(
                path.name
                for path in (EXAMPLES / name).glob("*.txt")
                if path.stem not in ("reference", "source", "labels")
            )
            command = [
                "tesla",
                "report",
                "-q",
                "-r",
                "reference.txt",
                *systems,
                *options,
                "--title",
                f"Example {name}",
            ]
            tesla = partial(subprocess.run, cwd=EXAMPLES / name, check=True, text=True)
            if name == "de-en":
                stress = Path(made) / "stress.json"
                given = (
                    "stress",
                    "-q",
                    "-l",
                    "en",
                    "-r",
                    "reference.txt",
                    *systems,
                    "-m",
                    "m,x,bleu",
                    "--format",
                    "json",
                )
                with stress.open("w", encoding="utf-8") as printed:
                    tesla([sys.executable, "-m", "tesla_eval", *given], stdout=printed)
                command += ["--stress", str(stress)]
            output = str(Path(made) / f"{name}.html")
            tesla([sys.executable, "-m", "tesla_eval", *command[1:], "-o", output])
        browser = started.chromium.launch(executable_path=which("chromium"), args=["--no-sandbox"])
        for report, fragment, part, (width, height), scheme, name in SHOTS:
            page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
            page.goto(f"{(Path(made) / report).as_uri()}.html{fragment}")
            page.wait_for_selector("html[data-ready]", state="attached")
            page.wait_for_timeout(300)  # the part that says why comes last
            if part:
                page.locator(part).evaluate("part => part.scrollIntoView()")
            page.wait_for_timeout(300)
            page.screenshot(path=folder / f"report-{report}-{name}.png")
            page.close()
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))

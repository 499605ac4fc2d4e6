"""Pictures of the report and the judging page for the documentation: `report_screenshots.py FOLDER`.

Needs Chromium and Playwright.
The texts are in examples/report and were written for this purpose.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from shutil import which
from subprocess import PIPE
from tempfile import TemporaryDirectory

EXAMPLES = Path(__file__).resolve().parents[1] / "examples" / "report"
REPORTS = {
    "de-en": ("-l", "en", "-m", "m,x,bleu", "--source", "source.txt", "--labels", "labels.txt"),
    "en-zh": ("-l", "zh", "-m", "celab,chrf", "--source", "source.txt"),
    "ar": ("-l", "ar", "-m", "m,chrf"),
    "summaries": ("-l", "en", "-m", "s-source", "--source", "source.txt"),
}
JUDGING = "judging"
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
    ("summaries", "", "#support", WIDE, "light", "support"),
    ("summaries", "", "#support", NARROW, "dark", "support-narrow-dark"),
    (JUDGING, "", "", WIDE, "light", "sheet"),
    (JUDGING, "", "", NARROW, "dark", "sheet-narrow-dark"),
]
"""Report, fragment, part to scroll to, size, colours, name."""


def write_pages(folder: Path) -> None:
    """The reports and the page of a judge, each as FOLDER/NAME.html."""

    def tesla(name: str, *arguments: str) -> str:
        command = [sys.executable, "-m", "tesla_eval.cli", *arguments]
        return subprocess.run(command, cwd=EXAMPLES / name, check=True, text=True, stdout=PIPE).stdout

    for name, options in REPORTS.items():
        files = sorted(path.name for path in (EXAMPLES / name).glob("*.txt"))
        outputs = [file for file in files if file not in ("reference.txt", "source.txt", "labels.txt")]
        if "reference.txt" in files:
            outputs = ["-r", "reference.txt", *outputs]
        stress: tuple[str, ...] = ()
        if name == "de-en":
            printed = tesla(name, "stress", "-q", *options[:4], *outputs, "--format", "json")
            (folder / "stress.json").write_text(printed, "utf-8")
            stress = ("--stress", str(folder / "stress.json"))
            given = ("-s", "source.txt", "--judges", "ann", "--items", "6", "-o", str(folder / JUDGING))
            tesla(name, "judge", "make", *outputs, *given)
            (folder / JUDGING / "sheet-ann.html").rename(folder / f"{JUDGING}.html")
        page = str(folder / f"{name}.html")
        tesla(name, "report", "-q", *outputs, *options, *stress, "--title", f"Example {name}", "-o", page)


def main(folder: Path) -> None:
    from playwright.sync_api import sync_playwright

    folder.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as pages, sync_playwright() as started:
        write_pages(Path(pages))
        browser = started.chromium.launch(executable_path=which("chromium"), args=["--no-sandbox"])
        for report, fragment, part, (width, height), scheme, name in SHOTS:
            page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
            page.goto(f"{(Path(pages) / report).as_uri()}.html{fragment}")
            if report == JUDGING:
                page.keyboard.press("1")
            else:
                page.wait_for_selector("html[data-ready]", state="attached")
            page.wait_for_timeout(300)  # the part that says why comes last
            if part == "#support":  # of the worse system there is more to see
                page.locator('#choices select[name="system"]').select_option(label="boreas")
            if part:
                page.locator(part).evaluate("part => part.scrollIntoView()")
            page.wait_for_timeout(300)
            stem = report if report == JUDGING else f"report-{report}"
            page.screenshot(path=folder / f"{stem}-{name}.png")
            page.close()
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))

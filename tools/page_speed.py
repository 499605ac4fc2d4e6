"""How fast a report opens: `page_speed.py REPORT.html [ROUNDS]`. Needs Chromium.

Chromium records its own start-up. No debugger is attached: the protocol that Playwright uses decodes the whole file a
second time when it has been read, in one task of 80 ms for 11 MB.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from shutil import which
from tempfile import TemporaryDirectory

CATEGORIES = "toplevel,loading,blink.user_timing,disabled-by-default-devtools.timeline"
SECONDS = 6


def trace(page: Path) -> list[dict]:
    """What Chromium records while it opens a page."""
    with TemporaryDirectory() as folder:
        output = Path(folder) / "trace.json"
        chromium = os.environ.get("TESLA_CHROMIUM") or which("chromium") or "chromium-browser"
        command = [
            chromium, "--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1280,800",
            f"--user-data-dir={folder}/profile", f"--trace-startup={CATEGORIES}", f"--trace-startup-file={output}",
            f"--trace-startup-duration={SECONDS}", "--trace-startup-format=json", page.resolve().as_uri(),
        ]  # fmt: skip
        browser = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            for _ in range(60):
                time.sleep(0.5)
                if output.exists() and output.read_bytes().rstrip().endswith(b"}"):
                    return json.loads(output.read_text("utf-8"))["traceEvents"]
        finally:
            browser.terminate()
            browser.wait()
    raise SystemExit(f"Chromium wrote no trace of {page}")


def measures(events: list[dict]) -> dict[str, float]:
    """Milliseconds from the start of the navigation, and of the longest task after the first paint."""
    (mark,) = (e for e in events if e["name"] == "interactive" and "user_timing" in e["cat"])
    names = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["name"] == "thread_name"}
    page = [
        e for e in events if e["pid"] == mark["pid"] and names.get((e["pid"], e["tid"])) == "CrRendererMain"
    ]
    painted = min(e["ts"] for e in page if e["name"] == "firstPaint")
    start = max(e["ts"] for e in page if e["name"] == "navigationStart" and e["ts"] < painted)
    tasks = [
        e for e in page if e["name"] == "ThreadControllerImpl::RunTask" and "tdur" in e and e["ts"] > painted
    ]
    return {
        "first paint": (painted - start) / 1000,
        "interactive": (mark["ts"] - start) / 1000,
        "longest task, CPU": max(task["tdur"] for task in tasks) / 1000,
        "longest task, clock": max(task["dur"] for task in tasks) / 1000,
    }


def main(page: Path, rounds: int) -> None:
    print(f"{page.stat().st_size / 1e6:.1f} MB")
    for _ in range(rounds):
        print(", ".join(f"{name} {value:.0f} ms" for name, value in measures(trace(page)).items()))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 3)

"""Say at once what a machine lacks before anything is downloaded or compiled: `python3 tools/preflight.py`.

Runs with any Python 3 and nothing else. Exits with 1 and names the system's packages.
"""

import os
import shutil
import sys
import sysconfig

OLDEST = (3, 10)
VERSION = ".".join(map(str, sys.version_info[:2]))
PACKAGES = {
    "python": ("python3.11 or newer", "python3.11", "brew install python"),
    "venv": ("python3-venv", "python3", "brew install python"),
    "headers": ("python3-dev", "python3-devel", "brew install python"),
    "compiler": ("g++", "gcc-c++", "xcode-select --install"),
}
"""What to install on Debian and Ubuntu, on Fedora, and on macOS."""


def missing():
    """What this machine lacks, with a sentence for each."""
    found = {}
    if sys.version_info[:2] < OLDEST:
        found["python"] = f"Python {VERSION} is too old: tesla-eval needs 3.10 or newer"
    try:
        import ensurepip  # noqa: F401
        import venv  # noqa: F401
    except ImportError:
        found["venv"] = f"Python {VERSION} has no venv, which makes the environment"
    include = sysconfig.get_path("include")
    if os.name != "nt" and not os.path.exists(os.path.join(include, "Python.h")):  # noqa: PTH110, PTH118
        found["headers"] = f"Python {VERSION} has no headers ({include}/Python.h), which the core needs"
    compilers = [os.environ.get("CXX", ""), "c++", "g++", "clang++"]
    if os.name != "nt" and not any(shutil.which(name.split()[0]) for name in compilers if name.strip()):
        found["compiler"] = "there is no C++ compiler, which the core needs"
    return found


def main():
    """Print what is missing and how to get it."""
    found = missing()
    if not found:
        return
    for sentence in found.values():
        print("error: " + sentence, file=sys.stderr)
    debian, fedora, macos = ([PACKAGES[name][place] for name in found] for place in range(3))
    print("hint: Debian, Ubuntu: apt install " + " ".join(debian), file=sys.stderr)
    print("hint: Fedora: dnf install " + " ".join(dict.fromkeys(fedora)), file=sys.stderr)
    print("hint: macOS: " + "; ".join(dict.fromkeys(macos)), file=sys.stderr)
    sys.exit(1)


if __name__ == "__main__":
    main()

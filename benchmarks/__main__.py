"""Run all benchmarks, or those named: `python -m benchmarks [throughput celab ...]`."""

from __future__ import annotations

import sys
from importlib import import_module

ALL = (
    "throughput",
    "sentences",
    "startup",
    "stages",
    "solver",
    "growth",
    "compare",
    "celab",
    "language_models",
    "pem",
    "languages",
    "summaries",
    "pivots",
    "discourse",
    "tuning",
    "vectors",
    "engines",
    "serve",
)


def main() -> None:
    for name in sys.argv[1:] or ALL:
        if name not in ALL:
            raise SystemExit(f"no benchmark is called {name!r}; there are {', '.join(ALL)}")
        print(f"== {name}")
        import_module(f"benchmarks.{name}").main()
        print()


if __name__ == "__main__":
    main()

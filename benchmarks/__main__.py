"""Run all benchmarks, or those named: `python -m benchmarks [throughput celab ...]`.

Options go to the benchmark: `python -m benchmarks serve_attacks --minutes 10`.
"""

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
    "serve_attacks",
)


def main() -> None:
    given = sys.argv[1:]
    first = next((place for place, text in enumerate(given) if text.startswith("-")), len(given))
    names, options = given[:first], given[first:]
    for name in names or ALL:
        if name not in ALL:
            raise SystemExit(f"no benchmark is called {name!r}; there are {', '.join(ALL)}")
        print(f"== {name}")
        import_module(f"benchmarks.{name}").main(*([options] if options else []))
        print()


if __name__ == "__main__":
    main()

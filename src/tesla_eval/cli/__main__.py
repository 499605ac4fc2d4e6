"""`python -m tesla_eval.cli` is `tesla`."""

from tesla_eval.cli import main

main()

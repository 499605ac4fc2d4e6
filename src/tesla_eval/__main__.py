"""`python -m tesla_eval` is `tesla`."""

from tesla_eval.cli import main

main()

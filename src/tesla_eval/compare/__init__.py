"""Systems against each other: intervals, paired tests, effect sizes, rank clusters."""

"""The metrics of others, beside which ours are shown."""

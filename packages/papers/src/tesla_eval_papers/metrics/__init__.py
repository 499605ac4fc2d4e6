"""The metrics of the papers that few users need, one short file per metric."""

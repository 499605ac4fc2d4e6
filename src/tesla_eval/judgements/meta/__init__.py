"""Metrics measured against human judgements: `run` reads, scores and joins, `evaluate` and `significance` measure."""

"""Readers of human judgements: WMT tables, mt-metrics-eval, rankings, summaries, paraphrases."""

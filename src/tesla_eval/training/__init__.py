"""Fitting the learned metrics from judgements."""

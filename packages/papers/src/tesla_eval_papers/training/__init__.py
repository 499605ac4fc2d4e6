"""The makers of the models of this package."""

"""The groups of features of PEM and PEM-X."""

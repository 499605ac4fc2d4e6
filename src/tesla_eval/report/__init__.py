"""The report: one HTML file that shows which system is better, by how much, how surely, and where."""

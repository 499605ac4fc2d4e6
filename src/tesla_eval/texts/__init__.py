"""Reading text: lines, compression, markup, tables, and segments with their references."""

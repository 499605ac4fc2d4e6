"""What every room stands on: errors, arrays, files, threads, resource files, and the nouns of the package."""

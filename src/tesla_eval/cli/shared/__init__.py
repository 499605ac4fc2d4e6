"""Code shared by the subcommands: options, inputs, formats, the terminal."""

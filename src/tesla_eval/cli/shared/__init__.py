"""What several subcommands use: options, inputs, formats, the terminal."""

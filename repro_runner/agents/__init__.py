"""What coding agents ask, over the Model Context Protocol. Each tool is a command, so that others can do the same."""

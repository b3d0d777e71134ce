"""The command line: options only, one module per verb."""

"""One module for each command; `cli.app` imports the one that is called."""

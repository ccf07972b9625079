"""Pages of the console: thin views; layout is in templates/engines."""

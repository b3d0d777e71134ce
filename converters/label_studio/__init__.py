"""Label Studio: label configs, tasks and results."""

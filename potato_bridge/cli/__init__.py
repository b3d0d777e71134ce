"""The command line: options only, one module per verb; what is heavy is imported by the verb that needs it."""


def main() -> None:
    """The console script."""
    from potato_bridge.cli.app import main as run

    run()

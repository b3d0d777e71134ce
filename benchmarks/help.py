"""How long `potato-bridge --help` takes, as a ratio to a bare typer app with as many commands.

    python benchmarks/help.py [RUNS]

Both are whole processes, run in turn; the figure is the ratio of the medians. Aim: at most 1.3.
"""

import statistics
import subprocess
import sys
import time

COMMANDS = 8
BARE = f"""
import typer
app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False)
for number in range({COMMANDS}):
    def command(name: str = "") -> None:
        "Does something."
    app.command(f"verb{{number}}")(command)
app()
"""
OURS = "from potato_bridge.cli import main; main()"


def seconds(code: str) -> float:
    """Wall seconds of one whole process that prints its help."""
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", code, "--help"], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def main() -> None:
    """Runs both in turn and prints the medians and their ratio."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    seconds(BARE), seconds(OURS)
    pairs = [(seconds(BARE), seconds(OURS)) for _ in range(runs)]
    bare, ours = (statistics.median(column) for column in zip(*pairs, strict=True))
    print(f"bare typer {bare:.3f} s, potato-bridge {ours:.3f} s, ratio {ours / bare:.2f} ({runs} runs)")


if __name__ == "__main__":
    main()

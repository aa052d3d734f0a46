"""The command ``treadle``: what is installed, what the optimizer does to a function, and a demonstration.

Each command is a module of its own, imported when the command is given: ``treadle --help`` imports neither NumPy nor the kernel.
"""

from __future__ import annotations

from typing import Annotated, Any

import typer
from typer.core import TyperGroup


class Commands(TyperGroup):
    """The commands, with errors that are the user's to mend told in one line."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was given."""
        from treadle_cli.failures import contained

        with contained():
            return super().invoke(ctx)


app = typer.Typer(
    name="treadle",
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="TensorFlow 2's execution model as a microkernel: look at what is installed, and at what the optimizer does.",
)


def _version(wanted: bool) -> None:
    if wanted:
        from treadle.version import __version__

        print(f"treadle {__version__}")
        raise typer.Exit


@app.callback()
def treadle(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and stop.")] = False,
) -> None:
    """Take the options that stand before a command."""


@app.command()
def plugins(as_json: Annotated[bool, typer.Option("--json", help="As JSON, for programs.")] = False) -> None:
    """List every plugin, whether it works and, if not, why."""
    from treadle_cli.plugins import show

    show(as_json)


@app.command()
def devices() -> None:
    """List the device types, how many there are here and, if none, why."""
    from treadle_cli.devices import show

    show()


@app.command()
def ops(
    text: Annotated[str, typer.Option("--filter", "-f", metavar="TEXT", help="Only ops with this text in a name.")] = "",
    namespace: Annotated[str, typer.Option("--namespace", "-n", metavar="NS", help="Only ops under td.NS, such as nn.")] = "",
) -> None:
    """List the ops: public names, signature, kernels, gradient, plugin."""
    from treadle_cli.ops import show

    raise typer.Exit(show(text, namespace))


@app.command()
def passes() -> None:
    """Print the optimizer's schedule, and where each line and option comes from."""
    from treadle_cli.passes import show

    show()


@app.command()
def explain(
    target: Annotated[str, typer.Argument(metavar="FILE.py:FUNCTION", help="A td.function, or a plain function with --spec.")],
    spec: Annotated[
        list[str] | None,
        typer.Option(
            "--spec", "-s", metavar="SPEC", help='An argument: "float32[None,784]", a Python value like 3, or NAME=SPEC. Repeat it for more.'
        ),
    ] = None,
    plan: Annotated[bool, typer.Option("--plan", help="Print the program that runs in the end, too.")] = False,
    diff: Annotated[bool, typer.Option("--diff", help="Print what each pass changed instead of the whole graph after it.")] = False,
    sources: Annotated[bool, typer.Option("--sources", help="Put the line of your program behind each node.")] = False,
) -> None:
    """Show a function's graph as traced and after each pass that changed it."""
    from treadle_cli.explain import show

    show(target, spec or [], plan=plan, diff=diff, sources=sources)


@app.command()
def demo() -> None:
    """Train a classifier of handwritten digits eagerly and traced, and compare the two."""
    from treadle_cli.demo import show

    raise typer.Exit(show())


def main() -> None:
    """Run the command line."""
    app()


if __name__ == "__main__":
    main()

"""The `assay` command: which commands there are, and how an error reaches the person who typed one."""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import typer

from core.errors import AssayError, ConfigError, ExitCode


@dataclass(frozen=True)
class Command:
    """Where a command lives. Its module is imported when the command is asked for, so that `--help` stays quick."""

    module: str
    help: str
    function: str | None = None
    """None for a module whose `app` has commands of its own."""


COMMANDS = {
    "run": Command("experiments.commands.run", "Run an experiment to its report, or go on with it.", "run"),
    "plan": Command("experiments.commands.run", "Say what would run and what it would cost; sends nothing.", "plan"),
    "resume": Command("experiments.commands.run", "Go on with a run that was stopped.", "resume"),
    "show": Command("experiments.commands.show", "Show one run: result, binding faults, record, files.", "show"),
    "list": Command("experiments.commands.show", "List all runs.", "list_runs"),
    "watch": Command("experiments.commands.watch", "Watch a run from another shell.", "watch"),
    "steer": Command("experiments.commands.steer", "Pause a run, let it go on, change its concurrency.", "steer"),
    "budget": Command("experiments.commands.budget", "What a run has spent, and what it may still spend.", "budget"),
    "compare": Command("experiments.commands.compare", "Is B better than A, and may it be said?", "compare"),
    "report": Command("experiments.commands.report", "Write the report of a run again, or publish it.", "report"),
    "ui": Command("experiments.commands.ui", "Look at runs, campaigns and differences in a browser.", "ui"),
    "track": Command("experiments.commands.track", "Weights & Biases as a copy of the record."),
    "replay": Command("experiments.commands.replay", "Make a report again from recorded replies, offline.", "replay"),
    "rerun": Command("experiments.commands.rerun", "Repeat an earlier run and say what differs.", "rerun"),
    "submit": Command("experiments.commands.submit", "Run a configuration on a Ray cluster, from here.", "submit"),
    "import-legacy": Command("experiments.commands.legacy", "Take in old evaluation files.", "import_legacy"),
    "recheck": Command("experiments.commands.recheck", "What another vocabulary makes of a finished run.", "recheck"),
    "doctor": Command("experiments.commands.doctor", "Check everything Assay needs and say how to fix it.", "doctor"),
    "avap": Command("experiments.commands.avap", "The AVAP language: check, run, format, explain."),
    "parser": Command("experiments.commands.parser", "The parser as a gRPC service."),
    "rehearsal": Command("experiments.commands.rehearsal", "The rehearsal model as a local server."),
    "index": Command("experiments.commands.index", "Retrieval indices."),
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command and end the process: 0 ok, 1 gate failed, 2 config, 3 incomplete, 4 budget, 5 dependency down.

    An AssayError is told in one paragraph with its remedy; `--debug`, anywhere, lets the traceback through.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    words = [word for word in given if word != "--debug"]
    try:
        _application(words)(args=words, prog_name="assay")
    except Exception as error:
        if "--debug" in given:
            raise
        sys.exit(_tell(_told_of(error)))


def _application(words: Sequence[str]) -> typer.Typer:
    app = typer.Typer(
        no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False, rich_markup_mode="rich"
    )
    app.callback()(_assay)
    asked = next((word for word in words if not word.startswith("-")), None)
    for name, command in COMMANDS.items():
        if importlib.util.find_spec(command.module) is not None:
            _mount(app, name, command, asked)
    return app


def _mount(app: typer.Typer, name: str, command: Command, asked: str | None) -> None:
    if name != asked:
        app.command(name, help=command.help)(_elsewhere)
    elif command.function is None:
        app.add_typer(importlib.import_module(command.module).app, name=name)
    else:
        app.command(name)(getattr(importlib.import_module(command.module), command.function))


def _elsewhere() -> None:
    """Stands in `--help` for a command that was not asked for."""


def _version(asked: bool) -> None:
    if asked:
        typer.echo(importlib.metadata.version("assay-lab"))
        raise typer.Exit


def _assay(
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks. Works anywhere on the line.")] = False,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """Reproducible experiments for RAG systems, behind a mandatory syntactic gate.

    Start with [bold]assay doctor[/], then [bold]assay run msvl[/].
    """


def _told_of(error: Exception) -> Exception:
    """A package that a smaller install left out is a matter of configuration, not a bug."""
    ours = {"core", "experiments"}
    if isinstance(error, ModuleNotFoundError) and error.name and error.name.partition(".")[0] not in ours:
        return ConfigError(
            f"this command needs the package {error.name}, which is not installed",
            remedy="pip install 'assay-lab[all]', or the smaller extra that `assay doctor` names",
        )
    return error


def _tell(error: Exception) -> ExitCode:
    from rich.console import Console
    from rich.text import Text

    console = Console(stderr=True, soft_wrap=True, highlight=False)
    if isinstance(error, AssayError):
        console.print(Text.assemble(("error: ", "bold red"), str(error)))
        if error.remedy:
            console.print(Text.assemble(("  fix: ", "bold green"), error.remedy))
        return error.exit_code
    what = f"{type(error).__name__}: {error}"
    console.print(Text.assemble(("internal error: ", "bold red"), what))
    console.print(Text.assemble(("  fix: ", "bold green"), "run again with --debug and report the traceback"))
    return ExitCode.INCOMPLETE


if __name__ == "__main__":
    main()

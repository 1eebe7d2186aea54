"""The entry point: builds the commands, runs one, and says in one sentence what went wrong."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, NoReturn

import typer

from svmselect.cli.commands.compare import compare
from svmselect.cli.commands.demo import demo
from svmselect.cli.commands.fit import fit
from svmselect.cli.commands.listing import listing
from svmselect.cli.commands.predict import predict
from svmselect.cli.commands.report import report
from svmselect.cli.commands.reproduce import reproduce
from svmselect.cli.commands.score import score
from svmselect.cli.console import complain
from svmselect.files.whole import NO_ROOM
from svmselect.progress import EndNow

_EPILOG = (
    "Exit codes: 0 done, 1 a defect of the program, 2 the command or the data cannot be used, "
    "130 interrupted."
)
_DEFECT = 1
_REFUSED = 2
_INTERRUPTED = 130


def application() -> typer.Typer:
    """All commands."""
    app = typer.Typer(
        name="svmselect",
        help="Chooses the hyperparameters of support vector machines: from a table to a model.",
        epilog=_EPILOG,
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_before)
    for command in (fit, predict, score, compare, report, demo, reproduce):
        app.command()(_guarded(command))
    app.command("list")(_guarded(listing))
    return app


class Interrupted(Exception):  # noqa: N818 - what happened, as a name
    """Ctrl-C, where nothing could be kept: the parser of commands would swallow the other."""


def _guarded(command: Callable[..., Any]) -> Callable[..., Any]:
    """The command, with other names for what the parser would take for an interruption."""

    @functools.wraps(command)
    def run(*arguments: Any, **options: Any) -> Any:
        try:
            return command(*arguments, **options)
        except KeyboardInterrupt:
            raise Interrupted from None
        except EOFError as error:  # which the parser takes for Ctrl-D, and so for an interruption
            raise RuntimeError(f"a file ended too soon: {error}") from error

    return run


def _version(wanted: bool) -> None:
    if wanted:
        import svmselect

        typer.echo(f"svmselect {svmselect.__version__}")
        raise typer.Exit


def _before(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Say which version this is."
    ),
) -> None:
    """Options before the command."""


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run a command; ``--debug`` anywhere shows the traceback of an error."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in given
    try:
        code = application()(args=given, prog_name="svmselect", standalone_mode=False)
        sys.stdout.flush()  # here, where an error can still be told
    except (KeyboardInterrupt, Interrupted, EndNow):
        complain("interrupted; nothing more was written")
        sys.exit(_INTERRUPTED)
    except BrokenPipeError:
        _silence()  # who reads our output has gone: no more of it, and no complaint at exit either
        sys.exit(_DEFECT)
    except Exception as error:
        if debug:
            raise
        if isinstance(error, OSError) and error.errno in NO_ROOM and error.filename is None:
            _silence()  # else what is left to be written fails once more at exit
        sys.exit(_told(error))
    sys.exit(code if isinstance(code, int) else 0)


def _silence() -> None:
    """Standard output goes nowhere from here on."""
    with suppress(OSError, ValueError):  # where it has no file
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _told(error: Exception) -> int:
    """Say it in one sentence; the exit code."""
    usage = getattr(error, "format_message", None)
    if usage is not None:  # of the command line's parser
        context = getattr(error, "ctx", None)
        command = context.command_path if context is not None else "svmselect"
        complain(f"{usage().rstrip('.')}; see {command} --help")
        return _REFUSED
    if type(error).__name__ == "Abort":
        complain("interrupted; nothing more was written")
        return _INTERRUPTED
    if isinstance(error, ValueError):
        complain(" ".join(str(error).split()))
        return _REFUSED
    if isinstance(error, OSError) and error.errno in NO_ROOM:
        where = "standard output" if error.filename is None else error.filename
        complain(
            f"{where}: there is no room for it ({error.strerror}); what was there before is kept, "
            "so make room or give another folder"
        )
        return _REFUSED
    if isinstance(error, OSError) and error.filename is not None:
        complain(f"{error.filename}: {error.strerror}; check the name and your rights there")
        return _REFUSED
    if isinstance(error, OSError) and error.strerror is not None:
        complain(f"{error.strerror}, the system says, while reading or writing; look at the disk")
        return _REFUSED
    if isinstance(error, MemoryError):
        complain("there is not enough memory; use fewer rows, e.g. --rows 20000")
        return _REFUSED
    complain(
        f"this is a defect of svmselect ({type(error).__name__}: {error}); please report it with "
        "what --debug shows"
    )
    return _DEFECT

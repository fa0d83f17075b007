"""The command line: one file for each command."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from ipytorchseed import __version__
from ipytorchseed.cli.check import check
from ipytorchseed.cli.doctor import doctor
from ipytorchseed.cli.kernel import kernel
from ipytorchseed.cli.ledger import ledger
from ipytorchseed.cli.views import ranks, report, trace
from ipytorchseed.commands import UnreadableError, Words
from ipytorchseed.errors import IPyTorchSeedError
from ipytorchseed.render.links import DOCS
from ipytorchseed.render.text import visible

COMMANDS = (check, doctor, kernel, ledger, ranks, report, trace)


@contextmanager
def _visible_errors() -> Iterator[None]:
    """Turn errors into one line, with control characters escaped.

    Raises:
        UnreadableError: A file cannot be read or written, or the command cannot do its work. The
            exit code is 2, because 1 means that results differ.
    """
    try:
        yield
    except BrokenPipeError:
        raise  # click handles it: the reader closed the pipe
    except OSError as error:
        where = error.filename or "the output cannot be written"
        raise UnreadableError(visible(f"{where}: {error.strerror or error}")) from None
    except IPyTorchSeedError as error:
        raise UnreadableError(visible(str(error))) from None
    except click.ClickException as error:
        is_help = isinstance(error, click.exceptions.NoArgsIsHelpError)
        error.message = visible(error.message, lines=is_help)  # type: ignore[misc] # no setter
        raise


class _Commands(Words):
    """The top command; every error is one line."""

    def main(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 -- click's own
        """Run the command.

        Characters that the output's encoding lacks, such as in a pipe on Windows, become ``?``.
        """
        if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors == "strict":
            sys.stdout.reconfigure(errors="replace")
        return super().main(*args, **kwargs)

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        with _visible_errors():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401 -- click's own
        with _visible_errors():
            return super().invoke(ctx)


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=f"Documentation: {DOCS}",
)
@click.version_option(__version__, prog_name="ipytorchseed")
def main() -> None:
    """Find out why a PyTorch notebook gave a different number, and make it repeat."""


for _command in COMMANDS:
    main.add_command(_command)

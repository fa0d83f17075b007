"""The shell's side: one file for each command."""

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
from ipytorchseed.cli.ranks import ranks
from ipytorchseed.cli.report import report
from ipytorchseed.cli.trace import trace
from ipytorchseed.commands import UnreadableError, Words, without_dashes
from ipytorchseed.errors import IPyTorchSeedError, did_you_mean
from ipytorchseed.render.links import DOCS
from ipytorchseed.render.text import visible

COMMANDS = (check, doctor, kernel, ledger, ranks, report, trace)


@contextmanager
def _visible_errors() -> Iterator[None]:
    """Say what the system refuses in a line; escape what is hostile in words that an error repeats.

    Raises:
        UnreadableError: A full disk, or a file that may not be written; 1 is another answer.
    """
    try:
        yield
    except BrokenPipeError:
        raise  # click's: the reader has had enough
    except OSError as error:
        where = error.filename or "the output cannot be written"
        raise UnreadableError(visible(f"{where}: {error.strerror or error}")) from None
    except IPyTorchSeedError as error:
        raise UnreadableError(visible(str(error))) from None
    except click.FileError as error:  # click's exits 1, which is another answer
        raise UnreadableError(visible(error.format_message())) from None
    except click.ClickException as error:
        message = error.message
        if isinstance(error, click.NoSuchOption) and error.ctx and not error.possibilities:
            known = without_dashes(error.ctx.command).values()
            message = f"{message.rstrip('.')}{did_you_mean(error.option_name, known)}"
        is_help = type(error) is getattr(click.exceptions, "NoArgsIsHelpError", None)
        error.message = visible(message, lines=is_help)  # type: ignore[misc] # it has no other way in
        raise


class _Commands(Words):
    """The command, whose errors are one line each whatever was typed."""

    def main(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 -- click's own
        """Run it; what the output's encoding lacks, as on Windows that of a pipe, is a ``?``."""
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
    """Say why a PyTorch notebook gave another number, and make it give the same one again."""


for _command in COMMANDS:
    main.add_command(_command)

"""The shell's side: one file for each command."""

from __future__ import annotations

import click

from ipytorchseed import __version__
from ipytorchseed.cli.check import check
from ipytorchseed.cli.kernel import kernel
from ipytorchseed.cli.ledger import ledger
from ipytorchseed.cli.report import report

COMMANDS = (check, kernel, ledger, report)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="ipytorchseed")
def main() -> None:
    """Known random states, and the truth about determinism, for PyTorch notebooks."""


for _command in COMMANDS:
    main.add_command(_command)

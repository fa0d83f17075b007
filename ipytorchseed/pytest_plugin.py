"""``pytest --ipytorchseed notebooks/``: one test for each notebook.

A failure shows the explanation. pytest loads this file whenever it starts, so everything except
pytest is imported on first use.
"""

from __future__ import annotations

from argparse import ArgumentTypeError
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ipytorchseed.checking.verdict import Verdict

_CHECKPOINTS = ".ipynb_checkpoints"


class NotRepeatingError(Exception):
    """A notebook differs, or could not be checked; its message is the explanation."""


# The options of the check, without their prefix.
_FLAGS = {
    "rerun": "Run all cells in one kernel, then each cell again, and compare.",
    "strict": "Also fail if a cell has the same output but different variables.",
}
_VALUES = {
    "seed": ("N", "Seed every source before the first cell."),
    "timeout": ("S", "Seconds that a cell may take."),
    "kernel": ("NAME", "The kernel to use instead of the notebook's."),
}


def _parse(name: str, text: str) -> Any:  # noqa: ANN401 -- a seed, seconds or a name
    """Parse an option as ``ipytorchseed check`` does, with the same error messages."""
    from click import STRING, BadParameter

    from ipytorchseed.commands import Number, Seed

    kinds: dict[str, Any] = {"seed": Seed(), "timeout": Number(min=0, min_open=True)}
    try:
        return kinds.get(name, STRING).convert(text, None, None)
    except BadParameter as error:
        raise ArgumentTypeError(error.message) from None


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--ipytorchseed``, which collects notebooks, and options of the check."""
    group = parser.getgroup("ipytorchseed", "notebooks that repeat")
    told = "Run each notebook in two fresh kernels, and fail if an output differs."
    group.addoption("--ipytorchseed", action="store_true", help=told)
    for name, told in _FLAGS.items():
        group.addoption(f"--ipytorchseed-{name}", action="store_true", help=told)
    for name, (metavar, told) in _VALUES.items():
        kind = partial(_parse, name)
        group.addoption(f"--ipytorchseed-{name}", type=kind, metavar=metavar, help=told)


def pytest_collect_file(parent: pytest.Collector, file_path: Path) -> NotebookFile | None:
    """Collect a notebook, unless it is a checkpoint copy that Jupyter saved."""
    wanted = parent.config.getoption("--ipytorchseed")
    if wanted and file_path.suffix == ".ipynb" and _CHECKPOINTS not in file_path.parts:
        return NotebookFile.from_parent(parent, path=file_path)
    return None


class NotebookFile(pytest.File):
    """A notebook, collected as one test."""

    def collect(self) -> Iterator[NotebookItem]:
        """Yield the test."""
        yield NotebookItem.from_parent(self, name="repeats")


class NotebookItem(pytest.Item):
    """A test that checks whether a notebook repeats."""

    def runtest(self) -> None:
        """Check the notebook.

        Raises:
            NotRepeatingError: A cell differs, or the notebook cannot be run to its end.
            KeyboardInterrupt: The user pressed Ctrl-C; the kernels have ended.
        """
        from ipytorchseed.checking.running import INTERRUPTED, Watcher, check

        (verdict,) = check([self.path], self._options(), Watcher())
        if verdict.fault == INTERRUPTED:
            raise KeyboardInterrupt
        if verdict.exit_code:
            raise NotRepeatingError(self._explain(verdict))
        if said := self._explain(verdict):
            self.add_report_section("call", "ipytorchseed", said)  # pytest -rP shows it

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:  # noqa: ANN401 -- pytest's own
        """Return the explanation, without our traceback."""
        if isinstance(excinfo.value, NotRepeatingError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Return the location of the test."""
        return self.path, 0, f"{self.path.name} repeats"

    def _options(self) -> Any:  # noqa: ANN401 -- Options, which is not imported yet
        from ipytorchseed.checking.kernel import Options

        names = (*_FLAGS, *_VALUES)
        return Options(**{it: self.config.getoption(f"--ipytorchseed-{it}") for it in names})

    def _explain(self, verdict: Verdict) -> str:
        from msgspec.structs import replace

        from ipytorchseed.checking.report import explanation

        here = self.config.invocation_params.dir
        short = self.path.relative_to(here) if self.path.is_relative_to(here) else self.path
        return explanation(replace(verdict, path=short))

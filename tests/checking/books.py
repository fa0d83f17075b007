"""Notebooks for the tests, written as a front end writes them."""

from __future__ import annotations

import os
from contextlib import nullcontext
from typing import TYPE_CHECKING

import nbformat
import psutil
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from ipytorchseed.checking.grading import Grade, compare_shown
from ipytorchseed.checking.kernel import Options
from ipytorchseed.checking.outputs import Outputs, clean
from ipytorchseed.checking.running import Watcher, check
from tests.forking import forking

if TYPE_CHECKING:
    from pathlib import Path

    from ipytorchseed.checking.verdict import Verdict

SPEC = {"name": "python3", "display_name": "Python 3", "language": "python"}


def book(
    path: Path, *cells: str, tags: dict[int, str] | None = None, spec: str = "python3"
) -> Path:
    """Write a notebook.

    Args:
        path: Where; the suffix is added.
        *cells: The text of each code cell; one that begins with ``#md`` is Markdown.
        tags: Tags by the cell's index.
        spec: The kernel that it names.
    """
    made = [
        new_markdown_cell(text.removeprefix("#md").strip(), id=f"cell-{index}")
        if text.startswith("#md")
        else new_code_cell(
            text,
            id=f"cell-{index}",
            metadata={"tags": [tags[index]]} if tags and index in tags else {},
        )
        for index, text in enumerate(cells)
    ]
    node = new_notebook(cells=made, metadata={"kernelspec": {**SPEC, "name": spec}})
    path = path.with_suffix(".ipynb")
    nbformat.write(node, path)
    return path


def look(*paths: Path, cold: bool = False, **options: object) -> list[Verdict]:
    """Check notebooks in this process, two kernels at a time.

    Args:
        *paths: The notebooks.
        cold: With kernels that are started from nothing, and not forked.
        **options: As for the command.
    """
    with nullcontext() if cold else forking():
        return check(paths, Options(**{"jobs": 2, **options}), Watcher())


def causes(verdict: Verdict) -> list[tuple[str, str]]:
    """Return kind and name of each cause of the cell in which it begins."""
    assert verdict.origin is not None, verdict
    return [(cause.kind, cause.name) for cause in verdict.origin.causes]


def found(verdict: Verdict) -> list[tuple[str, str]]:
    """Return what was found of outputs and states, for each cell."""
    return [(cell.outputs.value, cell.state.value) for cell in verdict.cells]


def alive(mark: str) -> list[str]:
    """Return the command lines of other processes whose environment has a mark."""
    left = []
    for process in psutil.process_iter():
        try:
            if process.pid != os.getpid() and process.environ().get("BOOK_MARK") == mark:
                left.append(" ".join(process.cmdline()))
        except psutil.Error:  # it ended, or is somebody else's
            continue
    return [line for line in left if line]  # a zombie has none


def compare_outputs(before: Outputs, after: Outputs, *, timed: bool = False) -> tuple[Grade, ...]:
    """Compare the outputs of two runs of a cell, which reads a clock if ``timed``."""
    return compare_shown(*(clean(each, timed=timed) for each in (before, after)))

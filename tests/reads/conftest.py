"""A notebook without a shell: runs cells, and analyzes them before they run."""

from __future__ import annotations

import builtins
import itertools
import linecache
import math
import sys
import textwrap

import pytest

from ipytorchseed.reads.cell import effects_of_cell
from ipytorchseed.reads.following import find_dependencies
from tests.limits import LimitedCalls
from tests.reads import programs

_numbers = itertools.count()


class Notebook:
    """A namespace in which cells run."""

    def __init__(self):
        self.names = {"__name__": "__main__", "__builtins__": builtins}

    def run(self, *cells, **values):
        """Set names and run cells."""
        self.names.update(values)
        for cell in cells:
            text, name = textwrap.dedent(cell), f"<cell {next(_numbers)}>"
            linecache.cache[name] = len(text), None, text.splitlines(keepends=True), name
            exec(compile(text, name, "exec"), self.names)  # noqa: S102
        return self

    def dependencies(self, cell, **options):
        """Return what a cell reads, before it runs."""
        options = {"seconds": math.inf, **options}
        effects = effects_of_cell(textwrap.dedent(cell), str)
        return find_dependencies(effects, self.names, **options)

    def inputs(self, cell):
        """Return the names of everything that a cell reads."""
        return {*self.dependencies(cell).names}


@pytest.fixture
def notebook():
    """Return an empty notebook."""
    return Notebook()


@pytest.fixture
def local_module(tmp_path, monkeypatch):
    """Write modules next to the notebook, and remove them afterwards."""
    monkeypatch.syspath_prepend(tmp_path)
    before = {*sys.modules}

    def write(name, text):
        path = tmp_path.joinpath(*name.split("."))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.with_suffix(".py").write_text(textwrap.dedent(text))

    yield write
    for name in {*sys.modules} - before:
        if str(tmp_path) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


@pytest.fixture(scope="module")
def limited_run():
    """Run a random program along all its paths, in a process with limits."""
    with LimitedCalls(programs.run) as calls:
        yield calls

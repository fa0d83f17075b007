"""User scripts in separate files, so that tests can check line numbers."""

from __future__ import annotations

import linecache
import textwrap

import pytest

# The beginning of each script. Its first own line is the seventh of the file.
HEAD = """\
import torch
import ipytorchseed as its

def values(n=3):
    return torch.zeros(n), torch.tensor([0]), torch.ones(1)

"""

FIRST = HEAD.count("\n") + 1


@pytest.fixture
def script(tmp_path):
    """Write a script, and return a function that runs it with given names.

    Lines are counted from the first given line, which is ``FIRST`` in the file.
    """

    def write(body, name="script.py"):
        path = tmp_path / name
        text = HEAD + textwrap.dedent(body)
        path.write_text(text, encoding="utf-8")
        code = compile(text, str(path), "exec")

        def run(**names):
            space = {"__name__": "script", **names}
            exec(code, space)  # noqa: S102 -- the test's own text
            return space

        return run

    yield write
    linecache.clearcache()

"""``%seed?`` and the like show what each magic accepts, with working examples."""

from __future__ import annotations

import re
import sys

import pytest

from ipytorchseed.notebook.extension import MAGICS
from tests.kernel import Kernel

SIGNS = [f"{'%%' if kind == 'cell' else '%'}{name}" for kind, name, _ in MAGICS]


@pytest.fixture(scope="module")
def kernel(tmp_path_factory):
    """A kernel in which cells 2 to 9 have run."""
    with Kernel(tmp_path_factory.mktemp("help")) as kernel:
        kernel.run("%load_ext ipytorchseed")
        for _ in range(7):
            kernel.run("import torch; acc = torch.rand(1); acc", "draw")
        kernel.run("%%deterministic --trace\ntorch.rand(1)")
        name = kernel.runs()[-1].notebook
        words = [sys.executable, "-m", "ipytorchseed", "ledger", "export", name, "-o", "a.json"]
        kernel.run(f"import subprocess\nsubprocess.run({words!r}, check=True)", "export")
        yield kernel


def examples(kernel, sign):
    """Return the lines that the help of a magic gives as examples."""
    (page,) = kernel.run(f"{sign}?").pages
    assert max(map(len, page.splitlines()[:-1])) <= 80
    listed = page.partition("Examples:\n")[2].partition("\nFile:")[0]
    return re.findall(r"^ +(%.*?)(?:  |$)", listed, re.MULTILINE)


@pytest.mark.parametrize("sign", SIGNS)
def test_every_example_of_the_help_works(kernel, sign):
    """Examples run in order and unchanged; cell magics get a cell below."""
    lines = examples(kernel, sign)
    assert len(lines) >= 3
    for line in lines:
        body = "\ntorch.rand(1)" if line.startswith("%%") else ""
        reply = kernel.run(line + body)
        assert (reply.status, reply.stderr) == ("ok", ""), line


def test_help_of_all_else_is_as_ever(kernel):
    """This includes variables, other magics and text that looks like our magics."""
    kernel.run("each = 5")
    assert "int" in kernel.run("each?").pages[0]
    assert "Time execution" in kernel.run("%timeit?").pages[0]
    assert kernel.run("text = '''\n%seed each?\n'''\nprint(text)").stdout == "\n%seed each?\n\n"
    (page,) = kernel.run("%seed?").pages
    assert "Usage: %seed [OPTIONS]" in page

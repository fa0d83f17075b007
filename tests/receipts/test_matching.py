"""Which cell of a receipt is which cell here: by ids, texts and places."""

from __future__ import annotations

import pytest

from ipytorchseed.ledger.records import Run
from ipytorchseed.receipts.privacy import cell_name
from ipytorchseed.receipts.receipt import match


def runs(cells):
    """Return a run for each word: an id, and the name of a text."""
    return [
        Run("", "", name, "", None, 0.0, 0.0, "ok", code=code)
        for name, _, code in (cell.partition(":") for cell in cells.split())
    ]


CASES = {  # here, there, and who is who
    "the same": ("a:1 b:2", "a:1 b:2", "a:1=a:1 b:2=b:2"),
    "edited": ("a:1 b:3", "a:1 b:2", "a:1=a:1 b:3=b:2"),
    "other ids": ("x:1 y:2", "a:1 b:2", "x:1=a:1 y:2=b:2"),
    "other ids, and one was edited": ("x:1 y:3 z:4", "a:1 b:2 c:4", "x:1=a:1 y:3=b:2 z:4=c:4"),
    "ids that count cells, and one came": ("0:9 1:1 2:2", "0:1 1:2", "1:1=0:1 2:2=1:2"),
    "one came": ("a:1 n:9 b:2", "a:1 b:2", "a:1=a:1 b:2=b:2"),
    "one went": ("b:2", "a:1 b:2", "b:2=b:2"),
    "others moved": ("b:2 a:1", "a:1 b:2", "b:2=b:2 a:1=a:1"),
    "one text twice": ("a:1 b:1", "a:1 b:1", "a:1=a:1 b:1=b:1"),
    "one text twice, by place": ("x:1 y:1", "a:1 b:1", "x:1=a:1 y:1=b:1"),
    "one that is not there": ("x:9", "a:1 b:2", ""),
}


@pytest.mark.parametrize(("here", "there", "pairs"), CASES.values(), ids=CASES)
def test_each_cell_finds_its_own_or_none(here, there, pairs):
    """What is certain first."""
    mine = {run.cell: run for run in runs(here)}
    found = match([*mine.values()], runs(there))
    told = [f"{name}:{mine[name].code}={run.cell}:{run.code}" for name, run in found.items()]
    assert sorted(told) == sorted(pairs.split())


def test_what_is_no_id_is_named_by_its_digest():
    """Cells are known by text in a terminal, by document address in VS Code."""
    assert cell_name("a1-b_2") == "a1-b_2"
    for other in ("x = 1", "vscode-notebook-cell:/home/me/x.ipynb#W0sZmlsZQ%3D%3D", "", "a" * 65):
        assert cell_name(other).startswith("#")
        assert len(cell_name(other)) == 17

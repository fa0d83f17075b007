"""``why`` explains records: it does not search or parse the text of cells."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import ipytorchseed.why

FILES = sorted(Path(ipytorchseed.why.__file__).parent.rglob("*.py"))

# Files that compare, show or measure a text, and why.
LOOKS_AT_TEXT = {
    "finders/operations.py": "shows which lines were edited",
    "unknown.py": "measures how long it is",
    "doubts.py": "measures how long it is",
}


def names_of(file: Path) -> str:
    """Return a file's path in the folder."""
    return file.relative_to(Path(ipytorchseed.why.__file__).parent).as_posix()


def reads_source(text: str) -> list[int]:
    """Return the lines on which an attribute ``source`` is read."""
    return [
        node.lineno
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Attribute) and node.attr == "source"
    ]


@pytest.mark.parametrize("file", FILES, ids=names_of)
def test_no_finder_reads_the_text_of_a_cell(file):
    """Finders must use the recorded actions of a run."""
    assert not reads_source(file.read_text("utf-8")) or names_of(file) in LOOKS_AT_TEXT


def test_a_search_in_the_text_would_be_found():
    """The check above can fail."""
    assert reads_source("import re\nfound = re.search('seed', case.run.source)") == [2]

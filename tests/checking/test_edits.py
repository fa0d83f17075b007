"""Edits by position: only the intended text changes, byte for byte."""

from __future__ import annotations

import json
from difflib import SequenceMatcher

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ipytorchseed.checking.notebook import Cell, read
from ipytorchseed.checking.program import TAG, Edit, Splice, diff, edit_file, edit_text, write

SOURCE = "import torch\n%matplotlib inline\nx = 'é < \U0001f600'  # a \"quote\""
CELL = Cell(1, "b", SOURCE)
TOP = Edit(CELL, "seed", "", (Splice(12, 12, "\ntorch.manual_seed(42)"),))
AFTER = (
    "import torch\ntorch.manual_seed(42)\n%matplotlib inline\nx = 'é < \U0001f600'  # a \"quote\""
)


def book(source, *, tags=None, **cell):
    """Return a notebook of two cells, the second one with this source."""
    metadata = {"scrolled": True} if tags is None else {"tags": tags, "z": 1}
    code = {
        "cell_type": "code",
        "execution_count": 3,
        "id": "b",
        "metadata": metadata,
        "outputs": [{"output_type": "stream", "name": "stdout", "text": ["source\n"]}],
        "source": source,
        **cell,
    }
    note = {"cell_type": "markdown", "id": "a", "metadata": {}, "source": ["# A title"]}
    return {"cells": [note, code], "metadata": {"x": [1, 2]}, "nbformat": 4, "nbformat_minor": 5}


LINES = SOURCE.splitlines(keepends=True)
FORMS = {
    "jupyter": json.dumps(book(LINES), indent=1, ensure_ascii=False) + "\n",
    "ascii": json.dumps(book(LINES), indent=2),
    "compact": json.dumps(book(LINES), separators=(",", ":")),
    "one string": json.dumps(book(SOURCE), indent=1) + "\n\n",
    "colab": json.dumps(book(LINES), indent=2).replace("<", "\\u003c").replace("/", "\\/"),
    "windows": json.dumps(book(LINES), indent=4).replace("\n", "\r\n"),
    "one element": json.dumps(book([SOURCE]), indent=1),
}


@pytest.mark.parametrize("form", FORMS)
def test_only_the_inserted_line_is_new(form):
    """Removing it again restores the file, byte for byte."""
    text = FORMS[form]
    made = edit_file(text, [TOP])
    assert json.loads(made) == {
        **json.loads(text),
        "cells": [book("")["cells"][0], made_cell(text)],
    }
    inserted = [
        each
        for each in SequenceMatcher(None, text, made, autojunk=False).get_opcodes()
        if each[0] != "equal"
    ]
    assert all(kind == "insert" for kind, *_ in inserted)
    assert "manual_seed" in made[inserted[0][3] : inserted[-1][4]]


def made_cell(text):
    """Return the second cell of a file as it must be after the edit."""
    cell = json.loads(text)["cells"][1]
    source = AFTER if isinstance(cell["source"], str) else AFTER.splitlines(keepends=True)
    if len(cell["source"]) == 1:  # an element that is not a line: cut at the end of the new line
        head, _, rest = AFTER.partition("\n")
        source = [f"{head}\n", rest]
    return {**cell, "source": source}


def test_a_mark_at_the_beginning_of_the_file_stays(tmp_path):
    """Some editors write one; the notebook can still be read."""
    text = f"\ufeff{json.dumps(book(LINES))}"
    (tmp_path / "a.ipynb").write_text(text, encoding="utf-8")
    notebook = read(tmp_path / "a.ipynb")
    assert notebook.cells[-1].source == SOURCE
    made = edit_file(notebook.text, [TOP])
    assert made[0] == text[0]
    assert json.loads(made[1:])["cells"][1] == made_cell(made[1:])


def test_several_edits_of_one_cell():
    """Their places refer to the original text.

    Insertions keep their order.
    """
    edits = [
        TOP,
        Edit(CELL, "order", "", (Splice(0, 0, "sorted("), Splice(6, 6, ")"))),
        Edit(CELL, "seed", "", (Splice(12, 12, "\nrandom.seed(1)"),)),
        Edit(CELL, "generator", "", (Splice(len(SOURCE), len(SOURCE), "\nlast"),)),
        Edit(CELL, "generator", "", (Splice(7, 12, "numpy"),)),
    ]
    wanted = (
        "sorted(import) numpy\ntorch.manual_seed(42)\nrandom.seed(1)"
        + SOURCE.removeprefix("import torch")
        + "\nlast"
    )
    assert edit_text(SOURCE, edits) == wanted
    for text in FORMS.values():
        assert "".join(json.loads(edit_file(text, edits))["cells"][1]["source"]) == wanted


@pytest.mark.parametrize("indent", [None, 1, 2])
@pytest.mark.parametrize("tags", [None, [], ["a"], ["a", "b"]])
@pytest.mark.parametrize("metadata", [{}, None])
def test_a_tag(indent, tags, metadata):
    """It is added to existing tags, and nothing else changes."""
    was = book(LINES, tags=tags, **({} if metadata is None or tags else {"metadata": metadata}))
    text = json.dumps(was, indent=indent)
    made = edit_file(text, [Edit(CELL, TAG, "")])
    wanted = json.loads(text)
    wanted["cells"][1]["metadata"].setdefault("tags", []).insert(0, "ipytorchseed-varies")
    assert json.loads(made) == wanted


TEXT = st.text(st.sampled_from('ab\n"\\/é<\U0001f600%'), max_size=20)


@given(st.lists(TEXT, min_size=1, max_size=4), st.data(), st.booleans(), st.sampled_from([None, 1]))
@settings(max_examples=60)
def test_any_text_and_any_place(sources, data, lines, indent):
    """The edits of the file match those of the text.

    The text before and after is untouched.
    """
    cells = [
        {
            "cell_type": "code",
            "metadata": {},
            "source": text.splitlines(keepends=True) if lines else text,
        }
        for text in sources
    ]
    index = data.draw(st.integers(0, len(sources) - 1))
    source = sources[index]
    if not source:
        return
    places = sorted(data.draw(st.lists(st.integers(0, len(source)), min_size=2, max_size=2)))
    edit = Edit(Cell(index, "c", source), "seed", "", (Splice(*places, data.draw(TEXT)),))
    text = json.dumps({"cells": cells, "nbformat": 4}, indent=indent)
    made = json.loads(edit_file(text, [edit]))
    assert "".join(made["cells"].pop(index)["source"]) == edit_text(source, [edit])
    cells.pop(index)
    assert made == {"cells": cells, "nbformat": 4}


def test_a_diff():
    """The diff of one cell, with the lines around the edit, and the tag."""
    said = diff("In[1]", SOURCE, [TOP, Edit(CELL, TAG, "")])
    assert said.split("\n") == [
        "--- In[1]",
        "+++ In[1]",
        "+tag ipytorchseed-varies",
        "@@ -1,3 +1,4 @@",
        " import torch",
        "+torch.manual_seed(42)",
        *(f" {line}" for line in SOURCE.split("\n")[1:]),
    ]


def test_a_file_is_written_at_once(tmp_path):
    """Its mode stays, links are followed, and no temporary file is left."""
    path, link = tmp_path / "a.ipynb", tmp_path / "b.ipynb"
    path.write_text("before")
    path.chmod(0o640)
    link.symlink_to(path)
    write(link, "before", "afterwards é")
    assert path.read_text(encoding="utf-8") == "afterwards é"
    assert path.stat().st_mode & 0o777 == 0o640
    assert link.is_symlink()
    assert {*tmp_path.iterdir()} == {path, link}


def test_a_file_that_another_program_wrote_meanwhile(tmp_path):
    """The other content stays."""
    path = tmp_path / "a.ipynb"
    path.write_text("theirs")
    with pytest.raises(OSError, match="another program"):
        write(path, "before", "after")
    assert path.read_text() == "theirs"
    assert [*tmp_path.iterdir()] == [path]


def test_a_file_that_cannot_be_replaced(tmp_path, monkeypatch):
    """It stays as it was, and no temporary file is left."""
    path = tmp_path / "a.ipynb"
    path.write_text("before")

    def refuse(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("pathlib.Path.replace", refuse)
    with pytest.raises(KeyboardInterrupt):
        write(path, "before", "after")
    assert path.read_text() == "before"
    assert [*tmp_path.iterdir()] == [path]

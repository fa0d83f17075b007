"""Receipts of real runs.

What is in them, what is not, and what they say of a run here.
"""

from __future__ import annotations

import copy
import json
import os
import random

import numpy as np
import pytest
import torch

from ipytorchseed.errors import LookupFailure, ReceiptError
from ipytorchseed.receipts.privacy import Places
from ipytorchseed.receipts.receipt import read, write
from ipytorchseed.render.why import WhyView
from ipytorchseed.session.asking import why_elsewhere
from ipytorchseed.session.states import LedgerStates
from tests.session.conftest import Notebook

IMPORTS = "import os, random, torch\nimport numpy as np\nfrom torch import nn"


def written(notebook, places=None):
    """Return the last run of each cell of a notebook as a receipt."""
    ledger = notebook.session.ledger
    runs = [*{run.cell: run for run in [*ledger.runs()][::-1]}.values()]
    places = places or Places.here("here.ipynb")
    return write("here.ipynb", runs, lambda: LedgerStates(ledger), places)


def received(path, content, places=None):
    """Return a receipt read from a file."""
    path.write_bytes(content)
    return read(path, places or Places.here("here.ipynb"))


@pytest.fixture
def asked(put_back, monkeypatch, tmp_path):
    """Run a cell in two kernels, and ask the second one about the first one's receipt."""

    def ask(cell, *, there=IMPORTS, here=IMPORTS, edited=None):
        elsewhere, notebook = Notebook(), Notebook()
        for made, first, text in ((elsewhere, there, cell), (notebook, here, edited or cell)):
            made.run(first, "first")
            made.run(text, "asked")
        receipt = received(tmp_path / "there.json", written(elsewhere))
        return why_elsewhere(notebook.session, receipt, notebook.session.last)

    monkeypatch.setenv("RATE", "0")
    threads = torch.get_num_threads()
    yield ask
    torch.set_default_dtype(torch.float32)
    torch.set_num_threads(threads)


DRAW = "float(torch.rand(1))"
SIN = "x = torch.arange(9.0).sin()\nfloat(x.sum())"
TWINS = {  # what ran first there and here, the cell, and the causes
    "the same seed": (IMPORTS + "\ntorch.manual_seed(1)",) * 2 + (DRAW, []),
    "another seed": (
        IMPORTS + "\ntorch.manual_seed(1)",
        IMPORTS + "\ntorch.manual_seed(2)",
        DRAW,
        ["rng torch.cpu"],
    ),
    "a seed that was drawn from": (
        IMPORTS + "\ntorch.manual_seed(1)",
        IMPORTS + "\ntorch.manual_seed(1)\ntorch.rand(1)",
        DRAW,
        ["rng torch.cpu"],
    ),
    "never seeded": (
        IMPORTS + "\nrandom.setstate(random.Random().getstate())",
        IMPORTS + "\nrandom.setstate(random.Random().getstate())",
        "random.random()",
        ["rng python"],
    ),
    "another dtype": (
        IMPORTS,
        IMPORTS + "\ntorch.set_default_dtype(torch.float64)",
        SIN,
        ["flag torch.default_dtype"],
    ),
    "a setting that may round": (
        IMPORTS + "\ntorch.set_num_threads(1)\nx = torch.tensor([1.0, 1e-7])",
        IMPORTS + "\ntorch.set_num_threads(2)\nx = torch.tensor([1.0, 2e-7])",
        "float(x.sum())",
        ["input x", "flag torch.num_threads"],
    ),
    "another dtype that it does not depend on": (
        IMPORTS + "\nn = 3",
        IMPORTS + "\nn = 4\ntorch.set_default_dtype(torch.float64)",
        "n + 1",
        ["input n"],
    ),
    "another variable of the environment": (
        IMPORTS + "\nos.environ['RATE'] = '1'",
        IMPORTS + "\nos.environ['RATE'] = '2'",
        "float(os.environ['RATE'])",
        ["environment RATE"],
    ),
    "the same variable of the environment": (
        IMPORTS + "\nos.environ['RATE'] = '1'\nn = 1",
        IMPORTS + "\nos.environ['RATE'] = '1'\nn = 2",
        "n * float(os.environ['RATE'])",
        ["input n"],
    ),
    "another item of a dictionary": (
        IMPORTS + "\nd = {'rate': 1.5, 'name': 1}",
        IMPORTS + "\nd = {'rate': 2.5, 'name': 1}",
        "d['rate'] * 2",
        ["input d"],
    ),
    "an item that it may not read": (
        IMPORTS + "\nd = {'rate': 1.5, 'name': 1}\nn = 1",
        IMPORTS + "\nd = {'rate': 1.5, 'name': 2}\nn = 2",
        "d['rate'] * n",
        ["input d", "input n"],
    ),
}


@pytest.mark.parametrize(("there", "here", "cell", "causes"), TWINS.values(), ids=TWINS)
def test_the_same_finders_explain_it(asked, there, here, cell, causes):
    """What differs and what the cell depends on, and nothing else."""
    said = asked(cell, there=there, here=here)
    assert [f"{each.kind} {each.name}" for each in said.causes] == causes
    assert said.verdict == ("explained" if causes else "same")
    assert said.against.receipt == "there.json"
    told = json.loads(WhyView(said, said.run.kernel).to_json())
    assert all("#" not in each["fix"] and "rewind" not in each["fix"] for each in told["causes"])


def test_an_edit_is_told_without_the_text_of_elsewhere(asked):
    """There is none in a receipt."""
    said = asked("2 * 3", edited="2 * 4")
    assert [each.kind for each in said.causes] == ["code"]
    assert "not that of there.json" in said.causes[0].message
    assert asked("2 * 3", edited="2*3  # three").verdict == "same"


def test_a_seed_of_elsewhere_is_the_way_back(asked):
    """There are no states in a receipt to go back to."""
    seeds = (IMPORTS + "\ntorch.manual_seed(1)", IMPORTS + "\ntorch.manual_seed(2)")
    (cause,) = asked(DRAW, there=seeds[0], here=seeds[1]).causes
    assert cause.fix == "%seed 1"
    assert "with 2, not with 1" in cause.message


def test_where_several_settings_differ_each_is_named(asked):
    """Nothing tells them apart: the cell cannot run elsewhere."""
    here = IMPORTS + "\ntorch.set_default_dtype(torch.float64)\nos.environ['RATE'] = '2'"
    said = asked(f"r = float(os.environ['RATE'])\n{SIN}", here=here)
    assert {each.name for each in said.causes} == {"RATE", "torch.default_dtype"}


def test_without_a_run_it_is_about_the_first_cell_that_differs(put_back, tmp_path):
    """Cells are reported by their ids, or by their texts."""
    elsewhere, notebook = Notebook(), Notebook()
    for made, seed in ((elsewhere, 1), (notebook, 2)):
        for text in (IMPORTS, f"torch.manual_seed({seed})", "1 + 1", DRAW, "torch.rand(2)"):
            made.run(text)
    receipt = received(tmp_path / "there.json", written(elsewhere))
    said = why_elsewhere(notebook.session, receipt)
    assert said.run.source == "torch.manual_seed(2)"
    assert [each.kind for each in said.causes] == ["code"]
    run = next(run for run in notebook.session.ledger.runs() if run.source == DRAW)
    said = why_elsewhere(notebook.session, receipt, run)
    assert [each.name for each in said.causes] == ["torch.cpu"]
    assert "In[2] seeded torch with 2, not with 1" in said.causes[0].message
    notebook.run("other = 1")
    with pytest.raises(LookupFailure, match=r"the receipt of here\.ipynb has no such cell"):
        why_elsewhere(notebook.session, receipt, notebook.session.last)


# --------------------------------------------------------------------------------------------------
# What is in it


def test_nothing_private_is_in_it(put_back, tmp_path, monkeypatch):
    """No contents, no names of people, no home: whatever a cell is about."""
    home = tmp_path / "home" / "merope"
    (home / "books").mkdir(parents=True)
    (home / "train.csv").write_text("1\n")
    monkeypatch.setenv("MEROPES_TOKEN", "hunter2-in-the-environment")
    notebook = Notebook()
    monkeypatch.chdir(home / "books")
    for text in (
        IMPORTS,
        "key = 'hunter2'\nrows = ['hunter2', b'hunter2']\nheld = {'hunter2': 1, 'loss': 0.5}",
        "print('hunter2')\nos.environ['MEROPES_TOKEN']",
        "held['hunter2'] + held['loss']  # hunter2",
        f"open('{home}/train.csv').read()",
        f"raise ValueError('hunter2 in {home}')",
        "class Hunter:\n    'hunter2'\nHunter()",
    ):
        notebook.run(text)
    content = written(notebook, Places(str(home / "books"), str(home), "merope")).decode()
    assert "hunter2" not in content
    assert "merope" not in content.lower().replace("meropes_token", "")
    assert str(tmp_path) not in content
    told = json.loads(content)
    assert [each["path"] for cell in told["cells"] for each in cell.get("files", ())] == [
        "~/train.csv"
    ]


def test_fifty_cells_take_less_than_200_kilobytes(put_back):
    """A model with hundreds of parameters is trained, and thousands of numbers made."""
    notebook = Notebook()
    notebook.run(IMPORTS)
    notebook.run("model = nn.Sequential(*[nn.Linear(8, 8) for _ in range(200)])")
    for cell in range(24):
        notebook.run(f"losses{cell} = torch.rand(5_000).tolist()", f"losses-{cell}")
        notebook.run(
            "with torch.no_grad():\n    for p in model.parameters(): p += 0.1", f"train-{cell}"
        )
    content = written(notebook)
    assert len(json.loads(content)["cells"]) == 50
    assert len(content) < 200_000


def test_what_the_cells_that_run_code_have_in_common_is_told_once(put_back):
    """Others have no settings on record, wherever they stand."""
    notebook = Notebook()
    for text in ("rate = 0.1", IMPORTS, DRAW, "rate = 0.2"):
        notebook.run(text)
    told = json.loads(written(notebook))
    assert {"PYTHONHASHSEED", "folder", "torch"} <= told["settings"].keys()
    assert not any("PYTHONHASHSEED" in cell["settings"] for cell in told["cells"])


def test_what_is_read_is_what_was_written(put_back, tmp_path):
    """Numbers that are none, and characters that no one sees, too."""
    notebook = Notebook()
    notebook.run(IMPORTS)
    odd = tmp_path / "a\u202eb.txt"
    odd.write_text("x")
    made = notebook.run(f"x = torch.tensor([1.0, float('nan'), 0.1])\nopen({str(odd)!r}).read()")
    last = received(tmp_path / "there.json", written(notebook)).runs[-1]
    assert str(last.writes["x"].series) == str(made.writes["x"].series)
    assert last.writes["x"].digest == made.writes["x"].digest
    assert (last.before, last.after, last.code) == (made.before, made.after, made.code)
    assert last.files[0].path.endswith("a?b.txt")
    assert last.settings["torch"] == torch.__version__


# --------------------------------------------------------------------------------------------------
# What is none


@pytest.fixture(scope="module")
def sound():
    """A receipt as JSON values, with something of everything in it."""
    notebook = Notebook()
    states = random.getstate(), np.random.get_state(), torch.get_rng_state()
    for text in (IMPORTS, "g = torch.Generator()\nx = {'a': torch.rand(3)}\nprint(1.5)", "x['a']"):
        notebook.run(text)
    random.setstate(states[0])
    np.random.set_state(states[1])
    torch.set_rng_state(states[2])
    return json.loads(written(notebook)), notebook


def refused(path):
    """Return the one line with which a file is refused."""
    with pytest.raises(ReceiptError) as caught:
        read(path, Places.here("here.ipynb"))
    line = str(caught.value)
    assert line.isprintable()
    assert line.startswith(str(path).replace("\n", "?"))
    return line.removeprefix(f"{path}: ")


def test_what_is_no_receipt_is_refused_in_one_line(sound, tmp_path):
    """What is wrong, with which file, and what to do."""
    told, _ = sound
    whole = json.dumps(told)
    deep = '{"kind": "ipytorchseed receipt", "schema": 1, "settings": ' + "[" * 100_000
    files = {
        whole[: len(whole) // 2]: "an incomplete one",
        "": "an incomplete one",
        "\x80\x04\x95": "an incomplete one",
        deep: "nested too deeply",
        '{"schema": 1, "notebooks": []}': "not a receipt: its JSON does not say kind",
        "[1]": "not a receipt",
        json.dumps({**told, "schema": 2}): "it has schema 2; this ipytorchseed reads schema 1",
        json.dumps({**told, "cells": 3}): "a damaged receipt: Expected `array`",
        json.dumps({**told, "values": {}}): "a damaged receipt: KeyError",
        json.dumps({**told, "notebook": "a\x1b[2Jb"}): "control characters",
        json.dumps({**told, "notebook": "x" * 100_000}): "too long",
    }
    for content, words in files.items():
        (tmp_path / "f.json").write_bytes(content.encode("latin-1"))
        assert words in refused(tmp_path / "f.json")
    pickled = tmp_path / "f.json"
    pickled.write_bytes(b"cos\nsystem\n(S'touch owned'\ntR.")
    assert "write it again with ipytorchseed check --receipt" in refused(pickled)
    assert "did you mean f.json?" in refused(tmp_path / "ff.json")
    assert refused(tmp_path) == "it is a folder, not a file"
    os.mkfifo(tmp_path / "pipe")
    assert refused(tmp_path / "pipe") == "it is a pipe or a device, not a file"
    with (tmp_path / "huge").open("wb") as file:
        file.truncate(1 << 40)
    assert "too large" in refused(tmp_path / "huge")
    refused(tmp_path / "two\nlines")


def places(value, where=()):
    """Yield the way to everything in JSON values."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, each in items:
        yield (*where, key)
        if isinstance(each, dict | list):
            yield from places(each, (*where, key))


ODD = [None, 3, -1, "x", [], {}, [None], {"a": 1}, True, 1e300, 1 << 70]


def test_json_that_is_hardly_a_receipt_is_refused_or_explained(sound, tmp_path):
    """Whatever stands where something else should: one line, or an answer.

    Nothing breaks.
    """
    told, notebook = sound
    chance = random.Random(1)
    ways = [*places(told)]
    read_well, lines = 0, []
    for where in [*ways[:12], *chance.sample(ways, min(200, len(ways)))]:
        whole = copy.deepcopy(told)
        holder = whole
        for key in where[:-1]:
            holder = holder[key]
        holder[where[-1]] = chance.choice(ODD)
        path = tmp_path / "odd.json"
        path.write_text(json.dumps(whole))
        try:
            receipt = read(path, Places.here("here.ipynb"))
            said = why_elsewhere(notebook.session, receipt)
        except (ReceiptError, LookupFailure) as error:
            lines.append(str(error))
            continue
        assert WhyView(said, notebook.session.kernel).to_json()
        assert WhyView(said, notebook.session.kernel).text()
        read_well += 1
    assert all(map(str.isprintable, lines))
    assert 20 < read_well < 190

"""Mistakes planted in one of four ranks.

Rank, step, name and line are reported, and no others.
"""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

import ipytorchseed as its
from ipytorchseed.cli import main
from ipytorchseed.ranks.callers import Callers
from tests.ranks.training import CASES
from tests.test_schemas import check


@pytest.mark.parametrize("name", CASES)
def test_what_parted_first_is_told(played, name):
    """Each case has one first cause; a clean one has none at all."""
    case = CASES[name]
    view = its.ranks.read(played / str([*CASES].index(name)), expect=case.get("expect"))
    if "finding" not in case:
        assert view.alike, view.headline
        distinct = any(len(row.groups) > 1 for row in view.rows)
        how = "differ only where they should" if distinct else "are alike"
        assert view.headline == f"All 4 ranks {how}, to step 9."
        return
    first = view.findings[0]
    assert {field: getattr(first, field) for field in case["finding"]} == case["finding"]
    if "by" in case:
        assert first.site.line == case["line"]
        assert (first.drew is None) == (case["by"] in {"torch.manual_seed", "ipytorchseed.seed"})
        assert f"{case['by']}, line {case['line']} of training.py" in view.headline
    if "then" in case:
        then = view.findings[1]
        assert {field: getattr(then, field) for field in case["then"]} == case["then"]
        assert (
            "; parameters diverge at step 7, first in 0.weight (different in rank 0)"
            in view.headline
        )


def test_each_line_that_drew_is_named(played):
    """Not the first alone, as if it had drawn all."""
    name = "both in rank 1 at 8"
    line = CASES[name]["line"]
    assert its.ranks.read(played / str([*CASES].index(name))).headline == (
        "Step 8: rank 1 drew 9 more numbers from torch.cpu than the others: torch.rand, line"
        f" {line} of training.py and torch.randn, line {line + 1} of training.py."
    )


def test_a_plain_value_is_told_as_it_is(played):
    """What a sampler's epoch is in each rank, rather than a digest of it."""
    number = [*CASES].index("another order of data: an epoch not set")
    assert its.ranks.read(played / str(number)).headline == (
        "Step 6: `loader` diverges, first in sampler.epoch (rank 2: 0, ranks 0, 1 and 3: 1)."
    )


def test_the_whole_sentence_is_the_one_that_people_need(played):
    """Who, how much, from what, by what, where, and what came of it."""
    number = [*CASES].index("and where it drops, parameters part")
    line = CASES["and where it drops, parameters part"]["line"]
    assert its.ranks.read(played / str(number)).headline == (
        "Step 7: rank 0 drew 2 more numbers from torch.cpu than the others: a DataLoader's base"
        f" seed, line {line} of training.py; parameters diverge at step 7, first in 0.weight"
        " (different in rank 0)."
    )


def test_a_comparison_is_the_same_in_words_table_and_json(played):
    """Gathered by all ranks: alike, masks alike that should not be, one rank apart."""
    told = json.loads((played / "compared.json").read_text())
    alike, masks, apart = (json.loads(told[each]) for each in ("alike", "masks", "apart"))
    check("ranks", told["alike"])
    assert alike["alike"]
    assert [each["rank"] for each in alike["ranks"]] == [0, 1, 2, 3]
    assert masks["headline"] == (
        "All 4 ranks draw the same masks: torch.cpu is equal in ranks 0 to 3, expected distinct."
    )
    assert [each["ranks"] for each in apart["findings"]] == [[2], [2], [2]]
    assert [each["name"] for each in apart["findings"]] == ["torch.cpu", "3.weight", "lr"]
    assert apart["findings"][0]["drew"] == 2
    assert told["text"].startswith("Rank 2 drew 2 more numbers from torch")
    assert max(map(len, told["text"].splitlines())) <= 80
    assert told["raised"].endswith("; parameters differ, first in 3.weight (different in rank 2)")


@pytest.mark.parametrize("name", CASES)
def test_the_command_says_the_same(played, name):
    """As JSON that its schema describes.

    The exit code tells whether all is as it should be.
    """
    words = ["ranks", str(played / str([*CASES].index(name))), "--json"]
    for source, wish in CASES[name].get("expect", {}).items():
        words += ["--expect", wish, source]
    done = CliRunner().invoke(main, words)
    told = check("ranks", done.stdout)
    assert told["alike"] is ("finding" not in CASES[name])
    assert done.exit_code == (0 if told["alike"] else 1)


def test_each_line_that_a_rank_writes_is_what_its_schema_says(played):
    """In every case, of every rank."""
    lines = {
        line for path in played.rglob("rank-*.jsonl") for line in path.read_text().splitlines()
    }
    kinds = {check("watch", line)["type"] for line in lines}
    assert kinds == {"rank", "look"}


def test_a_file_that_was_cut_is_read_as_far_as_it_is_whole(played, tmp_path):
    """A rank that was killed may leave half a line.

    That is reported, and the others go on.
    """
    source = played / str([*CASES].index("rand in rank 2 at 4"))
    for path in source.iterdir():
        content = path.read_bytes()
        kept = content[:-300] if path.name == "rank-1.jsonl" else content
        (tmp_path / path.name).write_bytes(kept)
    view = its.ranks.read(tmp_path)
    assert view.findings[0].ranks == [2]
    assert view.findings[0].step == 4
    assert any(note.startswith("Rank 1's file is intact only up to line ") for note in view.notes)
    assert "Rank 1 was last seen at step 8, others at 9." in view.notes
    header = (source / "rank-1.jsonl").read_bytes().partition(b"\n")[0]
    (tmp_path / "rank-1.jsonl").write_bytes(header)
    view = its.ranks.read(tmp_path)
    assert view.ranks == [0, 2, 3]
    assert "There is no record of rank 1." in view.notes
    (tmp_path / "rank-1.jsonl").write_bytes(b"{")
    view = its.ranks.read(tmp_path)
    assert view.ranks == [0, 2, 3]
    assert any(note.startswith("The file rank-1.jsonl was skipped: ") for note in view.notes)
    assert "There is no file from rank 1." in view.notes


def test_files_of_an_earlier_launch_are_left_out(played, tmp_path):
    """As after a launch with fewer ranks into the same folder."""
    source = played / str([*CASES].index("clean: plain"))
    for path in source.iterdir():
        content = path.read_text()
        if path.name == "rank-3.jsonl":
            content = content.replace('"world":4', '"world":8')
            content = content.replace('"started":', '"started":1,"then":')
        (tmp_path / path.name).write_text(content)
    view = its.ranks.read(tmp_path)
    assert view.ranks == [0, 1, 2]
    assert "Rank 3's file is from an earlier launch and was skipped." in view.notes


@pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated")
def test_functions_are_put_back(put_back):
    """Whatever was replaced to count, also what was inherited."""
    import random

    import torch

    before = torch.rand, random.random, torch._VF.dropout
    callers = Callers()
    callers.start()
    assert torch.rand is not before[0]
    scripted = torch.jit.script(torch.nn.Dropout(0.5))
    torch.rand(1)
    torch.empty(2).normal_()
    torch.rand(1, generator=torch.Generator())
    torch.nn.functional.dropout(torch.ones(2), training=False)
    random.random()
    names = [site.what for site, _ in callers.take()]
    callers.stop()
    assert names == ["torch.rand", "torch.Tensor.normal_", "random.random"]
    assert (torch.rand, random.random, torch._VF.dropout) == before
    assert "normal_" not in vars(torch.Tensor)
    assert scripted(torch.ones(2)).shape == (2,)


def test_a_compiled_model_is_compiled_as_ever(put_back):
    """The functions are what they were while torch.compile looks at them."""
    import torch

    callers = Callers()
    callers.start()
    try:
        module = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Dropout(0.5))
        compiled = torch.compile(module, backend="eager", fullgraph=True)
        assert compiled(torch.ones(1, 2)).shape == (1, 2)
    finally:
        callers.stop()

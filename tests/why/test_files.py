"""Which files account for a change."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from ipytorchseed.ledger.records import FileRead
from tests.render.explanations import States, explain, number, run


@pytest.mark.parametrize(("written", "is_cause"), [(1.0, False), (1e6, True)])
def test_a_file_that_only_one_run_read_counts_if_it_changed(written, is_cause):
    """A file that is older than the earlier run was the same for both."""
    read = FileRead("/home/ada/.git/HEAD", 23, "01", modified=int(written * 1e9))
    runs = [
        replace(run(count, "x = f()", writes={"x": number(count)}), started=100.0 * count)
        for count in (1, 2)
    ]
    runs[0] = replace(runs[0], files=(read,))
    said = explain(runs[1], runs[0], runs[:1], States(runs))
    assert [cause.name for cause in said.causes] == [read.path] * is_cause
    assert [it.message for it in said.cleared if it.kind == "file"] == (
        [] if is_cause else ["not changed since In[1]"]
    )


def test_new_folders_in_a_listed_folder_are_told_as_one():
    """A tracker of experiments makes a folder with many files for each run."""
    before, after = (FileRead("/n/runs/", count, f"d{count}", True, 0) for count in (1, 2))
    new = [FileRead(f"/n/runs/b/{name}", 4, name, True, int(150e9)) for name in ("meta", "loss")]
    runs = [
        run(n, "count()", started=100.0 * n, writes={"x": number(n)}, files=files,
            wrote=("/n/runs/a", "/n/runs/b"))
        for n, files in ((1, (before,)), (2, (after, *new)))
    ]  # fmt: skip
    said = explain(runs[1], runs[0], runs[:1], States(runs))
    (cause,) = said.causes
    assert cause.message.startswith("`/n/runs/`, which this cell lists, holds 2 files, not 1")
    assert not [each for each in said.cleared if each.kind == "file"]

"""A check of a differing notebook finds the causes by experiment."""

from __future__ import annotations

import asyncio
import json

import pytest

from ipytorchseed.checking import proving, report
from ipytorchseed.checking.grading import Found
from ipytorchseed.checking.kernel import FreshKernel, Options, fresh_kernel
from ipytorchseed.checking.notebook import read
from ipytorchseed.checking.verdict import CellVerdict, Verdict
from ipytorchseed.why.explanation import Cause, Change
from tests.checking.books import book, look

VOTES = """\
import torch
torch.set_num_threads(8)
torch.manual_seed(0)
index = torch.randint(0, 40, (800_000,))
ones = torch.randn(800_000)"""

COUNT = """\
count = torch.zeros(40)
for _ in range(30):
    count.index_put_((index,), ones, accumulate=True)"""


def found(verdict):
    """Return the findings on each cause of the cell where a difference starts."""
    return {cause.name: cause.finding for cause in verdict.origin.causes}


@pytest.fixture
def started(monkeypatch):
    """The folders of the kernels that experiments start."""
    folders = []

    def counted(notebook, options, folder):
        folders.append(folder)
        return fresh_kernel(notebook, options, folder)

    monkeypatch.setattr(proving, "fresh_kernel", counted)
    return folders


class TestProof:
    """The report on causes after experiments."""

    def test_a_source_that_nobody_seeded_is_proved(self, tmp_path):
        """It is restored in the cell that drew; the cell's id looks like a run number."""
        path = book(
            tmp_path / "a", "import torch", "x = torch.randn(3)", "y = 1", "print(x.sum().item())"
        )
        path.write_text(path.read_text().replace('"cell-1"', '"12345678"'))
        (verdict,) = look(path, prove=True)
        assert verdict.first.cell.name == "In[4]"
        assert verdict.origin.cell.name == "In[2]"
        finding = found(verdict)["torch.cpu"]
        assert finding.level == "proved"
        assert finding.how == "proved: restoring it gives the first run's result again"
        assert finding.how in " ".join(report.text([verdict]).split())
        (told,) = json.loads(report.as_json([verdict]))["notebooks"]
        assert told["origin"]["causes"][0]["proof"] == "proved"

    def test_two_sources_act_only_together(self, tmp_path):
        """Neither alone restores the first result."""
        path = book(
            tmp_path / "a",
            "import torch\nimport numpy.random",
            "print(torch.rand(2).sum().item() + numpy.random.rand())",
        )
        (verdict,) = look(path, prove=True)
        findings = found(verdict)
        assert {each.level for each in findings.values()} == {"proved"}, findings
        how = "proved: restoring it together with numpy gives the first run's result again"
        assert findings["torch.cpu"].how == how

    def test_what_no_kernel_can_put_back_costs_no_kernel(self, tmp_path, started):
        """Numbers from the system differ each time, so no kernel is started."""
        path = book(tmp_path / "a", "import uuid", "print(uuid.uuid4())")
        (verdict,) = look(path, prove=True)
        assert [cause.finding.level for cause in verdict.origin.causes] == ["may-matter"]
        assert started == []

    def test_a_cell_that_is_not_safe_to_run_again_is_tried_in_one_kernel(self, tmp_path, started):
        """There the first run is in the same kernel."""
        path = book(
            tmp_path / "a", "import torch\ntorch.manual_seed(0);", "print(torch.rand(2))", "z = 2"
        )
        (verdict,) = look(path, prove=True, rerun=True)
        assert len(started) == 1
        finding = found(verdict)["torch.cpu"]
        assert (finding.level, finding.how) == (
            "proved",
            "proved: restoring it gives the first run's result again",
        )

    def test_a_cell_that_writes_files_is_not_run_for_it(self, tmp_path):
        """The user did not allow it."""
        path = book(
            tmp_path / "a",
            "import torch",
            "x = torch.rand(2)\nwith open('x.txt', 'a') as file:\n    file.write('.')\nprint(x)",
        )
        (verdict,) = look(path, prove=True)
        assert found(verdict)["torch.cpu"].level == "may-matter"
        assert (tmp_path / "x.txt").read_text() == "..."  # two runs, and up to it once more

    def test_an_operation_that_does_not_repeat_is_named(self, tmp_path):
        """Nothing recorded differs, so the cell runs under ``--check``."""
        path = book(tmp_path / "a", VOTES, f"%%time\n{COUNT}\nprint(count.tolist())")
        (verdict,) = look(path, prove=True)
        (cause,) = verdict.origin.causes
        assert (cause.kind, cause.name) == ("operation", "aten::index_put_")
        assert "on line 4 gives different results for the same input" in cause.message
        assert cause.proof == "count.index_put_((index,), ones, accumulate=True)"
        assert cause.fix == "torch.use_deterministic_algorithms(True)"
        assert cause.finding.level == "proved"
        said = " ".join(report.text([verdict]).split())
        assert cause.message in said
        assert "no recorded input differs" not in said

    def test_a_cell_that_repeats_within_a_kernel_is_said_to(self, tmp_path):
        """The difference then comes from unrecorded state, not from an operation."""
        path = book(tmp_path / "a", "import os", "print(os.getpgid(0))")
        (verdict,) = look(path, prove=True, cold=True)
        assert verdict.origin.does_not_repeat
        said = " ".join(report.text([verdict]).split())
        assert "Within one kernel the cell repeats" in said
        assert "--check" not in said

    @pytest.mark.parametrize(
        "beside",
        ["open('x.txt', 'a').write('.')", "import os\nos.system('echo . >> x.txt');"],
        ids=["file", "program"],
    )
    def test_a_cell_that_acts_outside_is_not_run_to_name_its_operation(
        self, tmp_path, started, beside
    ):
        """The user did not allow it."""
        path = book(tmp_path / "a", VOTES, f"{COUNT}\n{beside}\nprint(count.tolist())")
        (verdict,) = look(path, prove=True)
        assert verdict.origin.does_not_repeat
        assert started == []

    def test_a_check_waits_no_longer_for_proof_than_it_took_itself(self, tmp_path, monkeypatch):
        """The experiment would take a minute; the earlier result stays."""

        async def run(self, cell):
            await asyncio.sleep(60)

        monkeypatch.setattr(proving, "_SECONDS", 0.5)
        monkeypatch.setattr(FreshKernel, "run", run)
        path = book(tmp_path / "a", "import torch", "print(torch.rand(2))")
        verdict = asyncio.run(_proved(path))
        assert verdict == Verdict(path, [_differs(path)])


async def _proved(path):
    return await proving.prove(read(path), Options(), Verdict(path, [_differs(path)]), path.parent)


def _differs(path):
    """Return a verdict on the second cell."""
    cause = Cause("rng", "torch.cpu", "torch.cpu started from another state")
    change = Change("stdout", "stdout", "other")
    cell = read(path).cells[1]
    return CellVerdict(cell, Found.DIFFERENT, Found.SAME, (change,), (cause,))

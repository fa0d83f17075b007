"""Memory that the user freed does not crash the kernel.

This holds for sweeps, fingerprints, and the copies of checks.
"""

from __future__ import annotations

import os

import pytest
import torch

from ipytorchseed.experiment.copier import Copier
from tests.experiment.checking import check
from tests.fingerprint import lost
from tests.fingerprint.child import in_child, removes_files
from tests.session.conftest import Notebook
from tests.trace.recorded import record

pytestmark = pytest.mark.skipif(os.name != "posix", reason="children are forked")
cleans = pytest.fixture(autouse=True, scope="module")(removes_files)


# At least one for each library, and for each way to refer to such memory.
KINDS = [
    "memmap", "structured_record", "over_closed_shared_memory", "over_pointer", "beyond_its_base",
    "view_of_shortened", "memmap_in_closure", "memmap_in_generator", "memmap_in_loader", "from_file",
    "from_file_nested", "from_file_subclass", "from_file_storage", "loaded_module",
    "optimizer_with_lost_rate", "shared_between_processes", "mapped_file", "polars_over_array",
    "image_file", "ctypes_array", "frame", "categories", "arrow_table",
]  # fmt: skip


def _tracked(name):
    """Run cells around one that frees memory without naming the value."""
    notebook = Notebook()
    notebook.names["make"] = lost.MAKERS[name]
    notebook.run("value, lose = make()\nothers = [1]")
    notebook.run("lose()")
    notebook.run("others.append(2)")
    known = notebook.session.variables._known.get("value")
    read = notebook.run("kind = type(value)").reads["value"]
    assert notebook.error is None
    # the sweep inspected it, unless it could never be read completely
    assert known is not None or read.kind == "function" or not read.exact
    return read.summary, read.opaque, read.parts.get("unseen")


@pytest.mark.parametrize("name", KINDS)
def test_a_tracked_session_lives_on(name):
    """A cell may name the value. Then its record says what could not be inspected."""
    summary, opaque, unseen = in_child(_tracked, name)
    assert opaque or unseen
    assert "not looked at" not in summary


def _checked(name):
    """Check a cell that reads a value, before and after its memory was freed."""
    value, lose = lost.MAKERS[name]()
    well, _ = check("kind = type(value)", {"value": value})
    lose()
    ill, _ = check("kind = type(value)", {"value": value})
    return well.reproducible, ill.reproducible


@pytest.mark.parametrize("name", KINDS)
def test_a_check_lives_on(name):
    """It copies what can be read, and shares the rest."""
    assert in_child(_checked, name) == [True, True]


def _copied(name):
    value, lose = lost.MAKERS[name]()
    lose()
    copier = Copier()
    copier.copy_all({"value": value})
    return copier.shared


@pytest.mark.parametrize(
    "name",
    ["memmap", "structured_record", "over_closed_shared_memory", "over_pointer", "from_file",
     "from_file_negated", "from_file_sparse", "from_file_subclass", "from_file_storage",
     "frame", "index", "view_of_shortened", "beyond_its_base_sparsely", "image_file",
     "image_over_array", "ctypes_array"],
)  # fmt: skip
def test_what_cannot_be_copied_is_shared_and_named(name):
    """The report gives the reason."""
    (reason,) = in_child(_copied, name).values()
    assert "its memory" in reason


def _apart(name):
    """Copy an intact value, and change the original."""
    value, _ = lost.MAKERS[name]()
    copied = Copier().copy_all({"value": value})["value"]
    was = torch.as_tensor(copied).clone()
    same = torch.equal(was, torch.as_tensor(value))
    value[7] = 1 - value[7]
    kept, changed = (torch.equal(was, torch.as_tensor(each)) for each in (copied, value))
    return [same, kept, not changed]


@pytest.mark.parametrize(
    "name",
    ["memmap", "memmap_strided", "memmap_transposed", "memmap_matrix", "over_interface_strided",
     "over_closed_shared_memory", "from_file", "from_file_transposed", "from_file_conjugated",
     "loaded_tensor", "view_of_shortened", "from_file_to_numpy"],
)  # fmt: skip
def test_what_is_well_is_copied(name):
    """The copy is equal, and independent of the original."""
    assert in_child(_apart, name) == [True, True, True]


VIEWS = [name for name in lost.MAKERS if name.startswith(("from_", "loaded_tensor"))]


def _traced(name):
    value, lose = lost.MAKERS[name]()
    names = {"torch": torch, "value": value}
    lose()
    if isinstance(value, torch.Tensor):
        recording = record("view = value.detach()\nshape = torch.empty_like(value).shape", names)
        return recording.count
    return 1


@pytest.mark.parametrize("name", VIEWS)
def test_a_trace_lives_on(name):
    """It traces operations that do not read their arguments."""
    assert in_child(_traced, name) >= 1

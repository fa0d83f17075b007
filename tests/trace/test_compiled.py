"""Traces of code that inductor compiled.

Fused operations are not a difference, and faults are found.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

import ipytorchseed as its
from ipytorchseed.render.trace import stretches, write_comparison
from ipytorchseed.trace.comparing import compare
from ipytorchseed.trace.loading import load
from tests.trace import compilings

pytestmark = pytest.mark.torch_release

RTOL = 1e-4

compiles_in_a_trace = pytest.mark.skipif(
    not hasattr(TorchDispatchMode, "ignore_compile_internals"),
    reason="this torch runs compiled code eagerly while a dispatch mode is on, as 2.6 does",
)


@pytest.fixture(scope="module")
def traces(tmp_path_factory):
    """Return traces: eager, compiled, in other threads, and with each fault."""
    folder = tmp_path_factory.mktemp("compiled")
    subprocess.run(
        [sys.executable, "-m", "tests.trace.compilings", str(folder)],
        cwd=Path(__file__).parents[2],
        env={**os.environ, "TORCHINDUCTOR_COMPILE_THREADS": "1"},
        check=True,
    )
    return lambda name: load(folder / name)


@compiles_in_a_trace
def test_compiled_and_eager_runs_agree_within_rounding(traces):
    """Operations of only one run are fused in the other, in both directions."""
    for a, b in (("eager", "compiled"), ("compiled", "eager")):
        found = compare(traces(a), traces(b), RTOL)
        assert found.first is None, write_comparison(found)
        assert found.differing > 20
        assert all(each.accounted and each.fused for each in found.spans)
        assert not stretches(found)
        assert "Fused in compiled code" in write_comparison(found)


@compiles_in_a_trace
def test_compiled_code_is_an_operation_with_what_it_is_given_and_gives(traces):
    """This includes code compiled within the trace, and changes in place."""
    trace = traces("compiled")
    graphs = [at for at in range(len(trace)) if trace.name(at) == "inductor::graph"]
    assert len(graphs) == 2 * 2 + 1
    kinds = [trace.makes.table[each] for each in trace.makes.kinds[trace.makes.of(graphs[0])]]
    assert ("int64", ()) in kinds  # batch norm's count of batches
    assert not trace.notes


@compiles_in_a_trace
def test_bits_that_differ_are_told_where_they_begin(traces):
    """Without a tolerance, the operations fused into the first difference are named."""
    found = compare(traces("eager"), traces("compiled"))
    assert found.first.kind in {"fused", "operation"}
    assert found.first.shown.index < 12


@pytest.mark.torch_release  # which operations are fused depends on its compiler
@compiles_in_a_trace
@pytest.mark.parametrize("fault", compilings.FAULTS)
def test_a_fault_is_found_at_its_first_operation(traces, fault):
    """Its kind and line are found in the compiled run and in an eager one."""
    kind, mark = compilings.FAULTS[fault]
    for a, b in ((fault, "compiled"), ("compiled", fault)):
        first = compare(traces(a), traces(b), RTOL).first
        assert first is not None
        assert first.kind == kind
        assert first.shown.place.code.endswith(mark)
        assert first.shown.compiled == (not mark)
    first = compare(traces("eager"), traces(fault), RTOL).first
    assert first is not None
    assert first.kind in {"argument", "input", "only-a", "operation"}
    assert first.shown.place.code.endswith(f"# {fault}")


def test_threads_make_no_difference(traces):
    """Differences are not larger than rounding."""
    assert compare(traces("eager"), traces("threads"), RTOL).first is None


@pytest.mark.parametrize("view", [torch.t, lambda y: y.t()[1:], lambda y: y.reshape(3, 2)])
def test_what_is_read_through_a_view_is_followed(tmp_path, view):
    """An operation of one run is harmless if the other run got its result."""
    x = torch.arange(6.0).reshape(2, 3)
    done = x * 2
    for name, used in (("a", True), ("b", True), ("unused", False)):
        with its.trace(tmp_path / name):
            y = done if name == "b" else x * 2
            view(y if used else done).sin()
    found = [compare(load(tmp_path / name), load(tmp_path / "b")) for name in ("a", "unused")]
    assert [each.first is None for each in found] == [True, False]
    assert found[1].first.kind == "only-a"

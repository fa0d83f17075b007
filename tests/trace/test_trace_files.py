"""Trace files: their content, appending, and bad files."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import threading
import zlib
from pathlib import Path

import msgspec
import numpy as np
import pytest
import torch
from torch import nn

import ipytorchseed as its
from ipytorchseed.errors import TraceError
from ipytorchseed.trace import file
from ipytorchseed.trace import format as format_
from ipytorchseed.trace.comparing import compare
from ipytorchseed.trace.loading import load

pytestmark = pytest.mark.usefixtures("put_back")


def _train(steps=3):
    model = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Dropout(0.25))
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(steps):
        opt.zero_grad()
        model(torch.ones(2, 4)).sum().backward()
        opt.step()


def _record(path, steps=3, **options):
    torch.manual_seed(0)
    with its.trace(path, **options) as trace:
        _train(steps)
    return trace


def test_a_trace_tells_operation_line_module_pass_shapes_and_arguments(tmp_path):
    """Each operation that returns values is included. Views are left out."""
    made = _record(tmp_path / "a.trace")
    read = load(made.path)
    assert len(read) == made.count > 20
    names = [read.name(each) for each in range(len(read))]
    assert "aten::t" not in names
    at = names.index("aten::addmm")
    place = read.call(at).place
    code = "model(torch.ones(2, 4)).sum().backward()"
    assert (Path(place.file).name, place.code) == (Path(__file__).name, code)
    assert Path(__file__).read_text("utf-8").splitlines()[place.line - 1].strip() == code
    assert (place.module, place.backward) == ("Sequential.0", False)
    kinds = [read.reads.table[each] for each in read.reads.kinds[read.reads.of(at)]]
    assert kinds == [("float32", (4,)), ("float32", (2, 4)), ("float32", (4, 4))]
    back = names.index("aten::threshold_backward")
    assert read.call(back).place.module == "Sequential.1"
    assert read.call(back).place.backward
    assert "0.75" in read.call(names.index("aten::bernoulli_")).text


def test_summaries_are_kept_on_request(tmp_path):
    """They are the largest absolute value, mean and norm."""
    with its.trace(tmp_path / "a", summaries=True):
        torch.tensor([3.0, 4.0]).neg()
        torch.tensor([[True, False]]).logical_not()
    found = load(tmp_path / "a").makes.summaries
    assert np.allclose(found[0], [4, -3.5, 5])
    assert np.allclose(found[1], [1, 0.5, 1])
    _record(tmp_path / "b")
    with pytest.raises(TraceError, match="summaries=True"):
        compare(load(tmp_path / "a"), load(tmp_path / "b"), 1e-6)


def test_rounding_is_told_from_more(tmp_path):
    """Smaller differences are passed over, and the first larger one is found."""
    for name, noise, shift in (("a", 0.0, 0.0), ("b", 1e-5, 0.1)):
        x = torch.linspace(1, 2, 50) + noise
        with its.trace(tmp_path / name, summaries=True):
            y = x.sin()
            y = y.exp() * y.mean().item()
            with torch.no_grad():
                nn.functional.linear(y, torch.eye(50) + shift)
    a, b = load(tmp_path / "a"), load(tmp_path / "b")
    found = compare(a, b, 1e-4)
    assert (found.first.kind, found.first.b.name) == ("argument", "aten::add")
    assert compare(a, b).first.kind == "input"
    assert compare(a, a, 0.0).first is None


def test_what_is_nothing_but_rounding_is_no_difference(tmp_path):
    """For example, the gradient of a bias before a norm, and the steps from it."""
    for name, noise in (("a", 0.0), ("b", 1e-7)):
        x = torch.linspace(-1, 1, 1000).reshape(20, 50) + noise
        with its.trace(tmp_path / name, summaries=True):
            ((x.sum() * 0.5).exp() - 1).sin()
            (x.double().sum() * 2).tanh()
    a, b = load(tmp_path / "a"), load(tmp_path / "b")
    noise = compare(a, b, 1e-3)
    assert noise.first is None
    assert noise.differing > 5
    assert compare(a, b, 1e-9).first.b.name == "aten::sum"


@pytest.mark.parametrize(
    "other",
    [
        lambda x: x.t().contiguous().t(),
        lambda x: x.repeat(1, 2)[:, :4],
        lambda x: torch.zeros(4, 4).index_select(0, torch.arange(4)).copy_(x),
    ],
    ids=["transposed in memory", "with gaps", "copied"],
)
def test_equal_tensors_have_equal_digests_however_they_lie(tmp_path, other):
    """So another layout is not a difference."""
    x = torch.arange(16.0).reshape(4, 4)
    for name, value in (("a", x), ("b", other(x))):
        with its.trace(tmp_path / name):
            value + 1.0
    assert compare(load(tmp_path / "a"), load(tmp_path / "b")).equal


def test_what_lies_where_a_freed_tensor_lay_is_no_part_of_that(tmp_path):
    """New memory often reuses an old address, by chance at different times."""
    path = tmp_path / "a.trace"
    with its.trace(path):
        for step in range(50):
            torch.ones(3).sum()
            torch.empty(4).fill_(step)
    assert not len(load(path).links)


def test_threads_are_recorded_each_by_itself(tmp_path):
    """They are ordered by their start, also in small interleaved chunks."""
    with its.trace(tmp_path / "a") as trace:
        torch.ones(2).exp()
        work = threading.Thread(target=lambda: torch.ones(2).sin())
        work.start()
        work.join()
        torch.ones(2).cos()
    read = load(trace.path)
    found = [(int(read.threads[each]), read.name(each)) for each in range(len(read))]
    assert [name for thread, name in found if thread == 1] == ["aten::ones", "aten::sin"]
    assert [name for thread, name in found if thread == 0][1::2] == ["aten::exp", "aten::cos"]


def test_memory_is_bounded_and_chunks_stand_alone(tmp_path, monkeypatch):
    """The content is the same, however small they are."""
    whole = load(_record(tmp_path / "a").path)
    monkeypatch.setattr(file, "_MOST", 5)
    parts = load(_record(tmp_path / "b").path)
    found = compare(whole, parts)
    assert found.equal
    assert found.aligned == len(whole) == len(parts)


def test_a_script_goes_on_where_the_disk_is_full(tmp_path, monkeypatch):
    """A warning says so once, at the end."""

    def full(*_):
        raise OSError(28, "No space left on device")

    with (  # noqa: PT031 -- the end of the trace warns
        pytest.warns(UserWarning, match="No space left"),
        its.trace(tmp_path / "a") as trace,
    ):
        monkeypatch.setattr(file.TraceFile, "write", full)
        total = torch.ones(2).sum()
    assert total == 2
    assert not trace.count


def test_a_forked_process_writes_nothing(tmp_path):
    """A DataLoader's worker is such a process."""
    data = torch.utils.data.TensorDataset(torch.arange(8.0))
    with its.trace(tmp_path / "a"):
        for (batch,) in torch.utils.data.DataLoader(
            data, 2, num_workers=1, multiprocessing_context="fork"
        ):
            batch + 1
    read = load(tmp_path / "a")
    assert not read.notes
    assert [read.name(each) for each in range(len(read))].count("aten::add") == 4


def test_each_rank_has_a_file_of_its_own(tmp_path, monkeypatch):
    """Ranks are distinguished by torchrun's variables."""
    monkeypatch.setenv("RANK", "3")
    monkeypatch.setenv("WORLD_SIZE", "4")
    made = _record(tmp_path / "a.trace")
    assert made.path == tmp_path / "a.rank3.trace"
    assert load(made.path).header.rank == 3


def test_a_trace_does_not_go_where_a_link_leads(tmp_path):
    """This includes links to missing files."""
    (tmp_path / "link").symlink_to("elsewhere")
    with pytest.raises(TraceError, match="is a link to elsewhere"), its.trace(tmp_path / "link"):
        pass
    assert not (tmp_path / "elsewhere").exists()


def test_nothing_but_a_trace_is_replaced(tmp_path):
    """A path that cannot be written is reported before the block starts."""
    script = tmp_path / "train.py"
    script.write_text("x = 1")
    for path in (script, tmp_path, tmp_path / "none" / "a.trace"):
        with pytest.raises(TraceError), its.trace(path):
            pytest.fail("the block was run")
    assert script.read_text() == "x = 1"
    trace = _record(tmp_path / "a")
    _record(tmp_path / "a", steps=1)
    assert len(load(tmp_path / "a")) < trace.count


def test_a_killed_process_leaves_what_it_did(tmp_path):
    """The trace is read, and the missing end is reported."""
    script = (
        "import sys, time, torch, ipytorchseed as its\n"
        "with its.trace(sys.argv[1]):\n"
        "    x = torch.ones(2)\n"
        "    for turn in range(10**9):\n"
        "        x = x + 1\n"
        "        if turn % 20_000 == 19_999: print(turn, flush=True)\n"
    )
    path = tmp_path / "a.trace"
    with subprocess.Popen([sys.executable, "-c", script, path], stdout=subprocess.PIPE) as child:
        child.stdout.readline()
        child.send_signal(signal.SIGKILL)
    read = load(path)
    assert len(read) >= 8192
    assert "process was stopped" in read.notes[0]


class _Hostile:
    def __reduce__(self):
        return (os.mkdir, ("executed",))


def _frame(content):
    data = zlib.compress(content)
    return format_.FRAME.pack(len(data), zlib.crc32(data)) + data


def _spoiled(whole, chunk, **fields):
    """Return a trace whose header is followed by a chunk with other fields."""
    head = whole[: whole.index(b"\n") + 1]
    size = format_.FRAME.unpack(whole[len(head) :][: format_.FRAME.size])[0]
    begin = whole[: len(head) + format_.FRAME.size + size]
    return begin + _frame(msgspec.msgpack.encode(msgspec.structs.replace(chunk, **fields)))


CHUNK = format_.Chunk(
    0, [format_.Call("aten::add", format_.Place(), 0, "")],
    [format_.Kind("float32", (2,))], bytes(8), bytes(4), b"", bytes(4), b"\1\0\0\0", bytes(4), b"\1\0\0\0", bytes(4), b"",
)  # fmt: skip
ENDLESS = b"\xff\xff\xff\x7f"
BAD = {
    "empty": (lambda _: b"", "not a trace"),
    "foreign": (lambda _: b"PK\3\4 something else\n", "not a trace"),
    "newer": (lambda whole: whole.replace(b"trace 1\n", b"trace 2\n"), "newer"),
    "flipped": (lambda whole: whole[:-9] + bytes([whole[-9] ^ 1]) + whole[-8:], "checksum"),
    "pickled": (lambda whole: whole[:21] + _frame(pickle.dumps(_Hostile())), "damaged"),
    "pickled alone": (lambda _: pickle.dumps(_Hostile()), "not a trace"),
    "bomb": (lambda whole: whole + b"" if not whole else whole[:21] + _frame(bytes(1 << 29)), "damaged"),
    "no header": (lambda whole: whole[:21], "no header"),
    "index of a call": (lambda whole: _spoiled(whole, CHUNK, of=ENDLESS), "contradicts"),
    "index of a tensor": (lambda whole: _spoiled(whole, CHUNK, made=ENDLESS), "contradicts"),
    "counts": (lambda whole: _spoiled(whole, CHUNK, reads=ENDLESS), "contradicts"),
    "half a number": (lambda whole: _spoiled(whole, CHUNK, tensors=bytes(7)), "contradicts"),
    "thread": (lambda whole: _spoiled(whole, CHUNK, thread=-1), "Expected `int` >= 0"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_is_refused_in_one_line(tmp_path, monkeypatch, name):
    """Nothing in it is executed."""
    monkeypatch.chdir(tmp_path)
    spoil, told = BAD[name]
    path = tmp_path / "a.trace"
    whole = _record(path, steps=1).path.read_bytes()
    path.write_bytes(spoil(whole))
    with pytest.raises(TraceError, match=told) as caught:
        load(path)
    assert "\n" not in str(caught.value)
    assert not Path("executed").exists()


def test_the_chunk_that_bad_ones_are_made_of_is_a_good_one(tmp_path):
    """Otherwise those tests would prove nothing."""
    path = tmp_path / "a.trace"
    whole = _record(path, steps=1).path.read_bytes()
    path.write_bytes(_spoiled(whole, CHUNK))
    assert load(path).name(0) == "aten::add"


def test_a_truncated_file_is_read_as_far_as_it_is_whole(tmp_path, monkeypatch):
    """It may end anywhere."""
    monkeypatch.setattr(file, "_MOST", 8)
    whole = _record(tmp_path / "a").path.read_bytes()
    every = load(tmp_path / "a")
    counts = set()
    for end in range(len(whole) // 2, len(whole), 97):
        (tmp_path / "b").write_bytes(whole[:end])
        part = load(tmp_path / "b")
        assert "intact" in part.notes[0]
        assert [part.name(n) for n in range(len(part))] == [every.name(n) for n in range(len(part))]
        counts.add(len(part))
    assert len(counts) > 2

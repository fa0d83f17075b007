"""Files that others wrote.

Whatever is in them, they are read or refused in one line.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

import ipytorchseed as its
from ipytorchseed.checking.notebook import read as read_notebook
from ipytorchseed.errors import (
    LookupFailure,
    RanksError,
    ReceiptError,
    TraceError,
    UncheckableError,
)
from ipytorchseed.foreign import ContentError, Format, refuse_deep
from ipytorchseed.receipts.privacy import Places
from ipytorchseed.receipts.receipt import read as read_receipt
from ipytorchseed.trace.loading import load

READERS = {
    "receipt": (lambda path: read_receipt(path, Places("/", "/", "")), ReceiptError),
    "trace": (load, TraceError),
    "notebook": (read_notebook, UncheckableError),
}

SPECIAL = {
    "pipe": os.mkfifo,
    "device": lambda path: path.symlink_to("/dev/zero"),
    "folder": os.mkdir,
    "endless": lambda path: (path.touch(), os.truncate(path, 1 << 40)),
    "not UTF-8": lambda path: path.write_bytes(b"\xff\xfe{"),
    "nothing": lambda path: path.write_bytes(b""),
    "link to nothing": lambda path: path.symlink_to("gone"),
}


@pytest.mark.timeout(30)
@pytest.mark.parametrize("name", SPECIAL)
@pytest.mark.parametrize("kind", READERS)
def test_what_is_no_such_file_is_refused_in_one_line_at_once(tmp_path, kind, name):
    """Opening a pipe blocks, and reading a device has no end."""
    path = tmp_path / "file"
    SPECIAL[name](path)
    read, error = READERS[kind]
    with pytest.raises(error) as caught:
        read(path)
    assert str(caught.value).isprintable()


@pytest.mark.timeout(30)
@pytest.mark.parametrize("name", SPECIAL)
def test_a_rank_whose_file_is_none_is_left_out(tmp_path, name):
    """With a note that says why."""
    SPECIAL[name](tmp_path / "rank-1.jsonl")
    with pytest.raises(LookupFailure, match="no rank has written"):
        its.ranks.read(tmp_path)
    (tmp_path / "rank-0.jsonl").write_text('{"type":"rank","rank":0}\n{"type":"look","step":0}\n')
    (note,) = its.ranks.read(tmp_path).notes
    assert note.startswith("The file rank-1.jsonl was skipped: ")


def test_a_rank_that_says_there_are_a_billion_is_believed_within_reason(tmp_path):
    """The missing ones are named, up to a limit."""
    line = '{"type":"rank","rank":0,"world":1000000000}\n{"type":"look","step":0}\n'
    (tmp_path / "rank-0.jsonl").write_text(line)
    (note,) = its.ranks.read(tmp_path).notes
    assert note.startswith("There is no file from ranks 1 to 1023")
    assert len(note) < 1_000


def test_values_are_bounded_in_count_and_depth():
    """Before and after they are decoded; the error says what to do."""
    small = Format("list", RanksError, "write it again", size=100, values=10, depth=3)
    assert small.decode(b"[[[1, 2]]]") == [[[1, 2]]]
    for content, said in (
        (b"[[[[1]]]]", "a.json: it is nested too deeply; write it again"),
        (b"[" + b"1," * 11 + b"1]", "a.json: it holds more than 10 values; write it again"),
        (b"[" * 100_000, "a.json: it holds more than 10 values; write it again"),
        (
            b"[1",
            "a.json: not a list, or an incomplete one: Input data was truncated; write it again",
        ),
        (b'"\xff"', "a.json: not a list: it is not UTF-8; write it again"),
    ):
        with pytest.raises(RanksError) as caught, small.errors("a.json"):
            small.decode(content)
        assert str(caught.value) == said
    with pytest.raises(ContentError):
        refuse_deep({"a": [{"b": []}]}, 2)


@pytest.mark.timeout(3_600)
@pytest.mark.skipif(sys.platform != "linux", reason="takes its size from /proc")
def test_damaged_files_are_read_or_refused_in_one_line(request, tmp_path):
    """Within a gigabyte and seconds: ``--damaged N`` reads more than the usual few."""
    count = str(request.config.getoption("--damaged"))
    done = subprocess.run(
        [sys.executable, "-m", "tests.damage", count],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "IPYTORCHSEED_DATA_DIR": str(tmp_path)},
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert len(told) == 5
    for kind, found in told.items():
        assert not found["other"], kind
        assert found["read"], kind
        assert found["refused"], kind

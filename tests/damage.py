"""Damages files of five kinds at random, and reads them with limits.

``python -m tests.damage COUNT [KIND...]`` prints, as JSON, how many damaged files of each kind were
read, how many were refused in one line, and what happened to the others.
"""

from __future__ import annotations

import copy
import json
import random
import re
import resource
import signal
import sys
import tempfile
import time
import traceback
import warnings
import zlib
from pathlib import Path

import msgspec
import numpy as np
import torch

import ipytorchseed as its
from ipytorchseed.checking import report
from ipytorchseed.checking.comparing import compare_receipt
from ipytorchseed.checking.notebook import read as read_notebook
from ipytorchseed.checking.passes import Pass
from ipytorchseed.checking.program import Edit, Splice, diff, edit_file
from ipytorchseed.checking.saved import compare_saved
from ipytorchseed.errors import IPyTorchSeedError
from ipytorchseed.ledger.store import Ledger
from ipytorchseed.receipts.privacy import Places
from ipytorchseed.receipts.receipt import read as read_receipt
from ipytorchseed.receipts.receipt import write
from ipytorchseed.render.trace import comparison_json, write_comparison
from ipytorchseed.render.why import WhyView
from ipytorchseed.session.asking import why_elsewhere
from ipytorchseed.session.states import LedgerStates
from ipytorchseed.trace.comparing import compare
from ipytorchseed.trace.format import FRAME
from ipytorchseed.trace.loading import load
from tests.session.conftest import Notebook

# Bytes that the reading of one file may allocate.
MEMORY = 1 << 30

# Seconds of processor time that the reading may take.
SECONDS = 20

# --------------------------------------------------------------------------------------------------
# Damage


def deep(depth):
    """Return lists in lists."""
    value = []
    for _ in range(depth):
        value = [value]
    return value


# Replacements for values.
ODD = [
    None, True, 0, 3, -1, 10**9, 2**31, 2**53, 2**63, 2**64 - 1, -(2**63), 10**400, 1e308, -0.5, float("nan"),
    float("inf"), "", "x", "é" * 9, "\x1b[2J\n", "\0", "x" * 20_000, "torch.os:0", "torch.cuda:0", "0" * 16, [], {},
    [None], [[]], {"a": 1}, {"": {}}, deep(90), deep(150), deep(900), [0] * 10_000, b"", b"\xff" * 9,
]  # fmt: skip

# Insertions anywhere in a text.
TEXTS = [
    b"\xff\xfe", b"\x80", b"\0" * 9, b"[" * 100_000, b'{"a":' * 50_000, b"9" * 5_000, b"-1", b"1e999", b"\\ud800",
    b'""', b"null", b"\n", b"\r\n", b"\xef\xbb\xbf", b" " * 50_000,
]  # fmt: skip


def flip(chance, content):
    """Change some bytes."""
    damaged = bytearray(content)
    for _ in range(chance.choice((1, 1, 3, 30))):
        damaged[chance.randrange(len(damaged))] = chance.randrange(256)
    return bytes(damaged)


def cut(chance, content):
    """Leave out a piece, or the end."""
    begin, end = sorted(chance.randrange(len(content) + 1) for _ in range(2))
    return content[:begin] + (content[end:] if chance.random() < 0.5 else b"")


def insert(chance, content):
    """Put something into it, or a piece of itself."""
    at = chance.randrange(len(content) + 1)
    begin = chance.randrange(len(content))
    added = chance.choice([*TEXTS, content[begin : begin + 200], chance.randbytes(20)])
    return content[:at] + added + content[at:]


def number(chance, content):
    """Put another number in place of one."""
    found = [*re.finditer(rb"\d+", content)]
    if not found:
        return flip(chance, content)
    at = chance.choice(found)
    new = chance.choice([b"-1", b"1000000000", b"1e999", b"9" * 30, b"9" * 5_000, b"0.5"])
    return content[: at.start()] + new + content[at.end() :]


def places(value, where=()):
    """Yield the keys that lead to each value in another."""
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield (*where, key)
            yield from places(value[key], (*where, key))


def replaced(chance, value):
    """Return a JSON value with an odd or missing part."""
    whole = copy.deepcopy(value)
    where = chance.choice([*places(whole)])
    holder = whole
    for key in where[:-1]:
        holder = holder[key]
    if chance.random() < 0.2:
        del holder[where[-1]]
    else:
        holder[where[-1]] = chance.choice(ODD)
    return whole


def of_json(chance, content):
    """Damage a text of JSON, as bytes or at one of its places."""
    if chance.random() < 0.4:
        return chance.choice((flip, cut, insert, number))(chance, content)
    told = replaced(chance, json.loads(content))
    return json.dumps(told, default=lambda each: each.decode("latin-1")).encode()


def of_msgpack(chance, content):
    """Damage MessagePack, as bytes or at one of its places."""
    if chance.random() < 0.4:
        return chance.choice((flip, cut, insert))(chance, content)
    while True:
        told = replaced(chance, msgspec.msgpack.decode(content))
        try:
            return msgspec.msgpack.encode(told)
        except OverflowError:  # it has no such numbers
            continue


# --------------------------------------------------------------------------------------------------
# Five kinds of files: how one is made and damaged, and what reads it


class Kind:
    """A kind of file.

    Args:
        folder: An empty folder.
    """

    def __init__(self, folder):
        self.folder = folder
        self.path = folder / self.name
        self.make()
        self.content = self.path.read_bytes()

    def damage(self, chance):
        """Write a damaged file."""
        self.path.write_bytes(of_json(chance, self.content))


class Receipts(Kind):
    """Receipts, which ``%why --against`` and ``check --against`` read."""

    name = "receipt.json"

    def make(self):
        """Run two cells here, and write a receipt of them."""
        ledger = self.folder / "ledger.sqlite"
        self.notebook = Notebook(Ledger.open(ledger))
        self.cells = {
            "first": "import random, torch\ntorch.manual_seed(1)\nrates = {'a': 0.1, 'b': [1, 2]}",
            "asked": "x = torch.rand(9)\nfloat(x.sum()) + rates['a']",
        }
        for name, text in self.cells.items():
            self.notebook.run(text, name)
        session = self.notebook.session
        runs = [*session.ledger.runs()][::-1]
        places_ = Places.here("here.ipynb")
        content = write("here.ipynb", runs, lambda: LedgerStates(session.ledger), places_)
        self.path.write_bytes(content)
        self.book = self.folder / "here.ipynb"
        cells = [
            {"cell_type": "code", "id": name, "metadata": {}, "source": text, "outputs": [], "execution_count": 1}
            for name, text in self.cells.items()
        ]  # fmt: skip
        self.book.write_text(
            json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells})
        )
        self.ledger = ledger

    def use(self):
        """Compare with it."""
        receipt = read_receipt(self.path, Places.here("here.ipynb"))
        session = self.notebook.session
        view = WhyView(why_elsewhere(session, receipt), session.kernel)
        view.text(), view.to_json()
        book = read_notebook(self.book)
        verdict = compare_receipt(book, Pass(self.ledger, {0: [], 1: []}), receipt)
        report.text([verdict]), report.as_json([verdict])


class Traces(Kind):
    """Traces, which ``trace diff`` reads."""

    name = "a.trace"

    def make(self):
        """Trace a small training."""
        model = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.Dropout())
        with its.trace(self.path, summaries=True):
            for _ in range(2):
                model(torch.ones(1, 3)).sum().backward()
        self.sound = self.folder / "sound.trace"
        self.sound.write_bytes(self.path.read_bytes())
        self.head, *self.frames = self._split(self.path.read_bytes())

    @staticmethod
    def _split(content):
        at = content.index(b"\n") + 1
        yield content[:at]
        while at < len(content):
            size, _ = FRAME.unpack_from(content, at)
            at += FRAME.size + size
            yield zlib.decompress(content[at - size : at])

    def damage(self, chance):
        """Damage the file, or the content of a frame, with a checksum that fits."""
        if chance.random() < 0.2:
            content = chance.choice((flip, cut, insert))(chance, self.content)
        else:
            frames = [*self.frames]
            at = chance.randrange(len(frames))
            frames[at] = of_msgpack(chance, frames[at])
            packed = [zlib.compress(each) for each in frames]
            content = self.head + b"".join(
                FRAME.pack(len(each), zlib.crc32(each)) + each for each in packed
            )
        self.path.write_bytes(content)

    def use(self):
        """Compare with it."""
        sound, read = load(self.sound), load(self.path)
        for rtol in (None, 1e-3) if read.header.summaries else (None,):
            for pair in ((sound, read), (read, sound)):
                found = compare(*pair, rtol)
                write_comparison(found), comparison_json(found)


class Ranks(Kind):
    """Files of ranks, which ``ranks`` and ``%rng --ranks`` read."""

    name = "rank-1.jsonl"

    def make(self):
        """Watch a small training, twice."""
        for rank in range(2):
            model = torch.nn.Linear(2, 1)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            with its.ranks.watch(model, every=1, folder=self.folder) as watch:
                for step in range(3):
                    torch.rand(1 + rank * step)
                    model(torch.ones(1, 2)).sum().backward()
                    optimizer.step()
            content = watch.path.read_bytes()
            content = re.sub(rb'"rank":\d+', b'"rank":%d' % rank, content, count=1)
            watch.path.unlink()
            (self.folder / f"rank-{rank}.jsonl").write_bytes(content)

    def damage(self, chance):
        """Damage the file, or a line of it."""
        lines = self.content.splitlines()
        at = chance.choice([0, chance.randrange(len(lines))])
        if chance.random() < 0.2:
            damaged = chance.choice((flip, cut, insert, number))(chance, self.content)
        else:
            damaged = (
                b"\n".join([*lines[:at], of_json(chance, lines[at]), *lines[at + 1 :]]) + b"\n"
            )
        self.path.write_bytes(damaged)

    def use(self):
        """Compare the ranks."""
        view = its.ranks.read(self.folder)
        view.text(), view.to_json()


class Notebooks(Kind):
    """Notebooks, which ``check --saved`` and ``check --fix`` read."""

    name = "book.ipynb"

    def make(self):
        """Write a notebook with each kind of output."""
        data = {"text/plain": ["1.5\n", "2"], "text/html": "<table><tr><td>1</td></tr></table>",
                "image/png": "iVBORw0KGgo=", "application/json": {"a": [1, 2.5]}}  # fmt: skip
        outputs = [
            {"output_type": "stream", "name": "stdout", "text": "loss 0.25\n\x1b[1mbold\x1b[0m"},
            {"output_type": "stream", "name": "stderr", "text": ["a.py:1: UserWarning: no\n", "  x\n"]},
            {"output_type": "display_data", "data": data, "metadata": {}},
            {"output_type": "execute_result", "data": data, "metadata": {}, "execution_count": 1},
            {"output_type": "error", "ename": "ValueError", "evalue": "no", "traceback": ["a", "b"]},
        ]  # fmt: skip
        cells = [
            {"cell_type": "code", "id": f"c{at}", "metadata": {"tags": ["x"]}, "source": ["id(1)\n", "x = 1"],
             "execution_count": at, "outputs": some}
            for at, some in enumerate((outputs, outputs[:2], outputs[2:4], outputs[4:]))
        ]  # fmt: skip
        cells.append({"cell_type": "markdown", "id": "m", "metadata": {}, "source": "Words."})
        spec = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
        whole = {"nbformat": 4, "nbformat_minor": 5, "metadata": spec, "cells": cells}
        self.path.write_text(json.dumps(whole, indent=1))
        book = read_notebook(self.path)
        self.fresh = {cell.index: book.node.cells[cell.index].outputs for cell in book.cells}

    def use(self):
        """Compare its outputs with those that it had, both ways, and edit it."""
        book = read_notebook(self.path)
        known = {cell.index for cell in book.runnable}
        fresh = {at: each for at, each in copy.deepcopy(self.fresh).items() if at in known}
        fresh |= {at: book.node.cells[at].outputs for at in known - fresh.keys()}
        for cell in book.cells:
            book.shown_errors(cell)
        for rtol in (None, 1e-3):
            verdict = compare_saved(book, Pass(self.folder / "none", fresh), rtol)
            report.text([verdict]), report.as_json([verdict])
        sound = read_notebook_of(self.content, self.folder)
        here = {cell.index: book.node.cells[cell.index].outputs for cell in book.cells}
        compare_saved(sound, Pass(self.folder / "none", {**self.fresh, **here}), None)
        edits = [Edit(cell, "seed", "why", (Splice(0, 0, "x = 2\n"),)) for cell in book.runnable]
        edit_file(book.text, edits)
        for edit in edits:
            diff(edit.cell.name, edit.cell.source, [edit])


def read_notebook_of(content, folder):
    """Read the sound notebook."""
    path = folder / "sound.ipynb"
    path.write_bytes(content)
    return read_notebook(path)


class Checkpoints(Kind):
    """What ``RandomState.load_state_dict`` takes."""

    name = "random.msgpack"

    def make(self):
        """Write what it saves."""
        self.held = {"g": torch.Generator(), "n": np.random.default_rng(1), "r": random.Random(1)}
        self.state = its.RandomState(**self.held)
        self.path.write_bytes(msgspec.msgpack.encode(self.state.state_dict()))

    def damage(self, chance):
        """Damage the mapping, or the bytes in it."""
        told = msgspec.msgpack.decode(self.content)
        if chance.random() < 0.25:
            told = replaced(chance, told)
            if isinstance(told, dict) and chance.random() < 0.3:
                told |= {chance.choice(("rank1", "", "x")): 1, 3: 4}
        else:
            inner = told["rank0"]
            if chance.random() < 0.5:
                inner = of_msgpack(chance, inner)
            else:  # the bytes of one state
                states = msgspec.msgpack.decode(inner)
                table = states[chance.choice([*states])]
                name = chance.choice([*table])
                table[name] = chance.choice((flip, cut, insert, number))(chance, table[name])
                inner = msgspec.msgpack.encode(states)
            told["rank0"] = inner
        self.told = told

    def use(self):
        """Load it, and draw from all that it set."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.state.load_state_dict(self.told)
        torch.rand(700, generator=self.held["g"])
        self.held["n"].random(700)
        [self.held["r"].gauss(0, 1) for _ in range(700)]
        torch.rand(700), np.random.rand(700), np.random.randn(3)
        [random.gauss(0, 1) for _ in range(700)]


KINDS = {
    "receipts": Receipts,
    "traces": Traces,
    "ranks": Ranks,
    "notebooks": Notebooks,
    "checkpoints": Checkpoints,
}


# --------------------------------------------------------------------------------------------------
# Reading within limits


def size_of_process():
    """Return the bytes of memory that this process may address now."""
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()


def stop(*_):
    """Raise, as the handler of the signal that a time is over."""
    raise TimeoutError


def try_one(kind):
    """Read a damaged file; return ``read``, ``refused``, or what else happened."""
    try:
        kind.use()
    except IPyTorchSeedError as error:
        line = str(error)
        return "refused" if line and line.isprintable() else f"not one line: {line!r}"
    except BaseException:  # noqa: BLE001 -- any error is reported
        return traceback.format_exc(limit=-8)
    return "read"


def main(count, names):
    """Read so many damaged files of each kind; print what happened."""
    found = {}
    signal.signal(signal.SIGPROF, stop)
    for name in names or KINDS:
        with tempfile.TemporaryDirectory() as folder:
            kind = KINDS[name](Path(folder))
            kind.damage(random.Random(0))  # what is imported for it, is
            kind.path.write_bytes(kind.content)
            said = try_one(kind) if name != "checkpoints" else "read"
            assert said == "read", said
            resource.setrlimit(resource.RLIMIT_AS, (size_of_process() + MEMORY, -1))
            told = found[name] = {"read": 0, "refused": 0, "other": {}, "slowest": 0.0}
            for seed in range(count):
                kind.damage(random.Random(seed))
                begin = time.process_time()
                signal.setitimer(signal.ITIMER_PROF, SECONDS)
                said = try_one(kind)
                signal.setitimer(signal.ITIMER_PROF, 0)
                told["slowest"] = max(told["slowest"], round(time.process_time() - begin, 2))
                if said in ("read", "refused"):
                    told[said] += 1
                else:
                    told["other"][seed] = said
            resource.setrlimit(resource.RLIMIT_AS, (-1, -1))
            told["peak MB"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    print(json.dumps(found))  # noqa: T201 -- the answer


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])

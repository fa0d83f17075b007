"""What other libraries keep in their own memory.

Told by its content, or as not seen into.
"""

from __future__ import annotations

import ctypes
import functools
import importlib
import io
import json
import os
import subprocess
import sys
import unicodedata

import numpy as np
import pyarrow as pa
import pytest
import shapely
import torch
from PIL import Image
from scipy.spatial import cKDTree
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.linear_model import SGDClassifier
from sklearn.neighbors import KNeighborsRegressor

from ipytorchseed.fingerprint import fingerprint, memory, same
from ipytorchseed.introspection.anatomy import anatomy
from tests.fingerprint.child import in_child
from tests.fingerprint.values import spent
from tests.kernel import ROOT


def pl():
    """Import Polars where it is used.

    Its threads would be missed in a process forked later.
    """
    return importlib.import_module("polars")


def _image(shade=7, mode="RGB", size=(40, 30), **info):
    made = Image.new(mode, size, shade if mode == "L" else (shade, 0, 0))
    made.info.update(info)
    return made


POINTS = np.arange(40.0).reshape(20, 2) ** 1.5


def _fitted(estimator, scale=1.0):
    return estimator.fit(scale * POINTS, np.arange(20) % 3)


def _frame(last=3, name="s", value="c"):
    return pl().DataFrame({"i": [1, None, last], name: ["a", "b", value], "l": [[1], [], [2, 3]]})


CASES = {
    "image": [_image, lambda: _image(8), lambda: _image(size=(30, 40)), lambda: _image(dpi=72),
              lambda: _image(mode="L")],
    "polars frame": [_frame, lambda: _frame(4), lambda: _frame(name="t"),
                     lambda: _frame(value="d"), lambda: _frame().head(2)],
    "polars series": [lambda: pl().Series("a", [1, 2]), lambda: pl().Series("b", [1, 2]),
                      lambda: pl().Series("a", [1, 3]), lambda: pl().Series("a", [1.0, 2.0])],
    "arrow table": [lambda: pa.table({"a": [1, 2]}), lambda: pa.table({"a": [1, 3]}),
                    lambda: pa.table({"b": [1, 2]})],
    "forest": [lambda: _fitted(RandomForestRegressor(3, random_state=0)),
               lambda: _fitted(RandomForestRegressor(3, random_state=0), 2.0)],
    "boosting": [lambda: _fitted(HistGradientBoostingRegressor(max_iter=3, random_state=0)),
                 lambda: _fitted(HistGradientBoostingRegressor(max_iter=3, random_state=0), 2.0)],
    "linear": [lambda: _fitted(SGDClassifier(random_state=0)),
               lambda: _fitted(SGDClassifier(random_state=0), 2.0)],
    "neighbours": [lambda: _fitted(KNeighborsRegressor(2, algorithm="kd_tree")),
                   lambda: _fitted(KNeighborsRegressor(2, algorithm="kd_tree"), 2.0)],
    "points": [lambda: cKDTree(POINTS), lambda: cKDTree(2 * POINTS)],
    "aggregates": [lambda: {"a": np.mean}, lambda: {"a": np.median}],
    "geometry": [lambda: shapely.Point(0, 1), lambda: shapely.Point(0, 2),
                 lambda: shapely.set_srid(shapely.Point(0, 1), 4326)],
}  # fmt: skip


def _told(name):
    make, *others = CASES[name]
    first, again = fingerprint(make()), fingerprint(make())
    told = {fingerprint(each()).digest for each in (make, *others)}
    return {
        "seen": first.exact and not first.opaque and "unseen" not in first.parts,
        "equal": same(first, again),
        "apart": len(told) == len(CASES[name]),
        "equal inside": same(fingerprint([make(), 1]), fingerprint([make(), 1])),
        "apart inside": same(fingerprint([make()]), fingerprint([others[0]()])) is False,
    }


@pytest.mark.parametrize("name", CASES)
def test_content_is_told(name):
    """Equal content has one digest, wherever it is; other content has another."""
    told = in_child(_told, name)
    assert all(told.values()), told


def _pieces():
    whole = _frame()
    pieces = pl().concat([whole.head(1), whole.tail(2)], rechunk=False)
    return pieces.n_chunks(), same(fingerprint(whole), fingerprint(pieces))


def test_how_a_table_lies_in_memory_is_no_content():
    """Pieces of one table, put together, are that table."""
    assert in_child(_pieces) == [2, True]


def _moved():
    before, after = fingerprint(_frame()).parts, fingerprint(_frame(4)).parts
    return [part for part in before if before[part] != after[part]]


def test_the_columns_of_a_frame_are_told_apart():
    """So that a change of one is no change for a cell that reads another."""
    assert in_child(_moved) == ["k:i"]


def _sampled(kind):
    tables = []
    for place in (None, 0, 123_456):
        column = pl().Series(map(kind, range(500_000)))
        if place is not None:
            column[place] = kind(-1)
        tables.append(fingerprint(pl().DataFrame([column]), budget=spent()))
    return [tables[0].sampled, same(tables[0], tables[1]), same(tables[0], tables[2])]


@pytest.mark.parametrize("kind", [int, str])
def test_a_large_table_is_sampled(kind):
    """What is changed between the places that are looked at is not known."""
    assert in_child(_sampled, kind) == [True, False, None]


@pytest.fixture(autouse=True)
def _no_mapped_files(monkeypatch):
    """Ignore the files that earlier tests in this process may have mapped."""
    monkeypatch.setattr(memory, "maps_files", lambda: False)


_BESIDE = """
import sqlite3, sys
import numpy as np, polars as pl
from ipytorchseed.fingerprint import fingerprint
if sys.argv[2] == "mapped":
    held = np.memmap(f"{sys.argv[1]}/numbers", np.uint8, "w+", shape=9)
else:
    held = sqlite3.connect(f"{sys.argv[1]}/ledger")
    held.execute("pragma journal_mode = wal")
    held.execute("create table run (id)")
print(fingerprint(pl.Series(["a"])).parts.get("unseen"))
"""


@pytest.mark.parametrize(("what", "unseen"), [("mapped", "polars.String"), ("ledger", "None")])
def test_texts_may_lie_in_a_file_that_is_mapped(tmp_path, what, unseen):
    """They are not read while the user has mapped any, except for SQLite's."""
    done = subprocess.run(
        [sys.executable, "-c", _BESIDE, tmp_path, what], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == unseen


def test_what_a_tree_counts_of_queries_is_no_content():
    """To ask it for neighbours leaves it as it was."""
    tree = _fitted(KNeighborsRegressor(2, algorithm="kd_tree"))
    before = fingerprint(tree)
    tree.predict(POINTS)
    assert same(before, fingerprint(tree))


def test_a_large_image_is_sampled():
    """By some of its rows."""
    pictures = [_image(size=(2000, 1500)) for _ in range(3)]
    pictures[1].putpixel((5, 0), (1, 1, 1))
    pictures[2].putpixel((5, 701), (1, 1, 1))
    first, changed, unknown = (fingerprint(each, budget=spent()) for each in pictures)
    assert first.sampled
    assert same(first, changed) is False
    assert same(first, unknown) is None


class Loud:
    """An object whose hash is user code."""

    def __hash__(self):
        raise AssertionError


def test_no_code_of_objects_in_a_table_runs():
    """They are not seen into, which is said."""
    unseen = in_child(lambda: fingerprint(pl().DataFrame({"o": [Loud()]})).parts["unseen"])
    assert unseen == "polars.Object"


class Photo(Image.Image):
    """An image of the user's own class."""

    def load(self):
        """Read the file."""
        raise AssertionError


def _framed():
    class Frame(pl().DataFrame):
        @property
        def height(self):
            raise AssertionError

        get_columns = height

    return fingerprint(Frame({"a": [1]})).parts["unseen"]


def test_no_code_of_a_subclass_runs():
    """What it holds in memory of the library is not seen into then."""
    photo = Photo()
    photo.__dict__ |= vars(_image())
    told = fingerprint(photo)
    assert told.exact
    assert "unseen" in told.parts
    assert in_child(_framed) == "builtins.PyDataFrame"


def test_a_file_of_an_image_is_not_read():
    """Nor is a new palette installed."""
    file = io.BytesIO()
    _image().save(file, "PNG")
    waiting, place = Image.open(file), file.tell()
    fingerprint(waiting)
    assert (waiting._im, file.tell()) == (None, place)
    shared = Image.fromarray(np.zeros((4, 4), np.uint8))  # in the array's memory
    assert "unseen" in fingerprint(shared).parts
    palette = _image().convert("P")
    assert palette.palette.dirty
    fingerprint(palette)
    assert palette.palette.dirty


@pytest.mark.parametrize("kind", [ctypes.c_void_p, ctypes.c_char_p, ctypes.py_object])
def test_a_pointer_is_no_content(kind):
    """What it points to lies elsewhere each time, and cannot be seen.

    Gradient boosting, say.
    """
    texts = [b"text of one", b"text of another"]
    addresses = [ctypes.addressof(ctypes.create_string_buffer(each)) for each in texts]
    made = [kind(each) for each in (addresses if kind is ctypes.c_void_p else texts)]
    found = [fingerprint(each) for each in made]
    assert found[0].opaque
    assert found[0].digest == found[1].digest
    held = fingerprint({"handle": made[0], "rounds": 3})
    assert "ctypes" in held.parts["unseen"]
    assert not same(held, fingerprint({"handle": made[1], "rounds": 4}))


def test_numbers_of_ctypes_are_content():
    """Which are no pointers."""
    assert same(fingerprint(ctypes.c_int(3)), fingerprint(ctypes.c_int(3)))
    assert not same(fingerprint(ctypes.c_int(3)), fingerprint(ctypes.c_int(4)))


@pytest.mark.parametrize(
    "make",
    [
        lambda: functools.cmp_to_key(min)(1),
        lambda: json.scanner.c_make_scanner(json.JSONDecoder()),
        lambda: unicodedata.ucd_3_2_0,
    ],
)
def test_what_a_small_class_of_c_keeps_cannot_be_seen(make):
    """Also if it is only a pointer or two, the size of attributes."""
    assert fingerprint(make()).opaque


def test_classes_of_python_hide_nothing():
    """With slots, with a dictionary and weak references, their own or a base's."""

    class Slots:
        __slots__ = ("a", "b")

    class Dict(Slots):
        __slots__ = ("__dict__",)

    class Both(Dict):
        __slots__ = ("__weakref__", "c")

    class Plain(Both):
        pass

    kinds = Slots, Dict, Both, Plain, type("Empty", (), {"__slots__": ()})
    assert not any(anatomy(kind).hidden for kind in kinds)


def _trained(folder, rate=0.1):
    import lightning

    class Net(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(2, 1)

        def training_step(self, batch, _):
            loss = self.layer(batch).mean()
            self.log("loss", loss, prog_bar=True)
            return loss

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), rate)

    torch.manual_seed(0)
    net, data = Net(), torch.utils.data.DataLoader(torch.ones(4, 2), batch_size=2)
    trainer = lightning.Trainer(
        max_epochs=1, accelerator="cpu", default_root_dir=folder, enable_model_summary=False
    )
    trainer.fit(net, data)
    return net, trainer


def _compared(folder):
    pairs = zip(_trained(folder), _trained(folder), _trained(folder, 0.2), strict=True)
    looks = [[fingerprint(each) for each in pair] for pair in pairs]
    kept = ["unseen" in look.parts for pair in looks for look in pair]
    net, trainer = looks
    return same(net[0], net[1]), same(net[0], net[2]), same(trainer[0], trainer[1]), any(kept)


@pytest.mark.filterwarnings("ignore")
def test_a_module_that_is_trained_again_is_the_same(tmp_path):
    """Times, run folders and progress bars of Lightning's trainer do not count."""
    # A forked child cannot train if this process has.
    code = f"import json; from {__name__} import _compared; print(json.dumps(_compared('.')))"
    command = [sys.executable, "-c", code]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == [True, False, True, False]


def test_a_seed_sequence_counts_the_children_that_it_spawned():
    """The next child differs; equal sequences are equal."""
    seeds, same = np.random.SeedSequence(1), np.random.SeedSequence(1)
    before = fingerprint(seeds)
    assert (before.kind, before.opaque) == ("seed sequence", False)
    assert fingerprint(same).digest == before.digest
    seeds.spawn(1)
    assert fingerprint(seeds).digest != before.digest

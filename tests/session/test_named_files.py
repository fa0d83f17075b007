"""Files that a cell names, for libraries that open them in native code."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import pytest

from ipytorchseed.session import named_files
from ipytorchseed.session.named_files import (
    find_files,
    mark_of,
    texts_in,
    texts_of,
    with_scripts,
)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return a working folder with a file, and another file in a subfolder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    (tmp_path / "a table.parquet").write_text("1")
    (tmp_path / "data" / "b.h5").write_text("2")
    return tmp_path


@dataclass
class Options:
    """Holds paths, as options of a notebook do."""

    path: str
    rate: float = 0.1


def test_a_name_alone_and_a_name_in_a_folder(folder):
    """Strings that name nothing are skipped."""
    names = ["a table.parquet", "data", "b.h5", "0.1", "c.csv", "a\nb.txt", "data/b.h5/c.x"]
    found = find_files(names, ())
    there = {path for path, mark in found.items() if mark}
    assert there == {str(folder / "a table.parquet"), str(folder / "data" / "b.h5")}


def test_pieces_of_a_path(folder):
    """They are joined, as in ``f"{root}/b.h5"``."""
    found = find_files([str(folder / "data"), "/b.h5"], ())
    assert {path for path, mark in found.items() if mark} == {str(folder / "data" / "b.h5")}


def test_a_folder_is_no_file(folder):
    """This holds even if its name looks like one."""
    (folder / "parts.parquet").mkdir()
    os.mkfifo(folder / "pipe.csv")
    assert not any(find_files(["parts.parquet", "pipe.csv"], ()).values())


@pytest.mark.parametrize(
    ("texts", "names"),
    [
        (["lake"], "a.parquet b.orc c.parquet"),
        (["data", "inner"], "d.arrow"),
        (["data"], "d.arrow"),
        (["lake/*.parquet"], "a.parquet"),
        (["lake/**/*.parquet"], "a.parquet c.parquet"),
        (["**/*.csv"], "x.csv"),
        (["lake/*/*.parquet"], "c.parquet"),
        (["nothing/*.csv", "nothing", "a*b", "select * from a.b"], ""),
    ],
)
def test_tables_of_folders_and_of_patterns(folder, texts, names):
    """Libraries list both in native code."""
    for name in ("lake/a.parquet", "lake/b.orc", "lake/day=1/c.parquet", "lake/x.csv",
                 "data/inner/d.arrow"):  # fmt: skip
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    found = find_files(texts, {"polars", "math"})
    assert sorted(Path(path).name for path, mark in found.items() if mark) == sorted(names.split())
    assert not any(find_files(texts, {"math"}).values())


def test_a_folder_of_too_many_files_is_left_early(folder, monkeypatch):
    """Only a few of a million images are inspected."""
    monkeypatch.setattr(named_files, "_ENTRIES", 10)
    for number in range(30):
        (folder / "data" / f"{number:02}.parquet").touch()
        (folder / "data" / f"{number:02}").mkdir()
    assert len(find_files(["data"], {"pandas"})) <= 10


def test_a_script_names_files_in_quotes(folder):
    """The files that its own process opens are not reported."""
    script = folder / "sum.py"
    script.write_text(
        """open('data/b.h5')\nx = "a table.parquet"\nprint("done.", 'a', 'no end.h5)"""
    )
    assert texts_in(str(script)) == ["data/b.h5", "a table.parquet"]
    assert texts_in(str(folder / "gone.py")) == texts_in("\0") == []


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes in folders")
def test_a_pipe_is_not_waited_for(folder):
    """It may never be written to."""
    os.mkfifo(folder / "pipe.py")
    assert texts_in(str(folder / "pipe.py")) == []
    assert with_scripts("%run -i pipe.py").strip() == "%run -i pipe.py"


def test_a_script_that_runs_among_the_variables_of_the_notebook(folder):
    """Its text counts like the cell's."""
    (folder / "walk.py").write_text("end = start + 1\n")
    assert with_scripts("x = 1\n%run -i walk.py 3\ny = 2") == (
        "x = 1\n%run -i walk.py 3\nend = start + 1\n\ny = 2"
    )
    (folder / "broken.py").write_text("end =")
    for source in ("%run walk.py", "%run -i gone.py", "%run -i broken.py", "f('%run -i walk.py')"):
        assert with_scripts(source).strip() == source


def test_a_mark_tells_that_a_file_was_written(folder):
    """The size may be the same as before."""
    path = str(folder / "data" / "b.h5")
    before = mark_of(path)
    os.utime(path, ns=(0, 1))
    assert mark_of(path) != before
    assert mark_of(str(folder / "gone.h5")) == ()


@pytest.mark.parametrize(
    ("value", "texts"),
    [
        ("a.csv", ["a.csv"]),
        (Path("data/a.csv"), ["data/a.csv"]),
        (["a.csv", Path("b.csv"), 3], ["a.csv", "b.csv"]),
        ({"path": "a.csv", "rate": 1}, ["a.csv"]),
        (Options("a.csv"), ["a.csv"]),
        (3, []),
        (["a.csv"] * 100, []),
    ],
)
def test_texts_of_values(value, texts):
    """They are paths in variables that have few items each."""
    assert [*texts_of(value)] == texts


def test_the_texts_in_a_dictionary_or_an_object_count():
    """This does not depend on which of them the cell reads."""
    held = type("Held", (), {})()
    held.train, held.test, held.rate = "a.csv", "b.csv", 1
    for each in (vars(held), held):
        assert [*texts_of(each)] == ["a.csv", "b.csv"]


def test_a_large_value_names_no_file():
    """Its items are not hashed, and long strings are not searched."""

    class Counted(str):
        __slots__ = ()
        hashed = 0

        def __hash__(self):
            Counted.hashed += 1
            return super().__hash__()

    large = {Counted(number): "a.csv" for number in range(100)}
    before = Counted.hashed
    assert [*texts_of(large)] == []
    assert Counted.hashed == before
    assert [*texts_of("x" * 10**6)] == [*texts_of(["x" * 10**6])] == []


def test_a_path_of_a_class_of_the_users_is_not_asked():
    """Converting it to a string would run user code."""

    class Mine(type(Path())):
        def __str__(self):
            raise AssertionError

        __fspath__ = __str__

    assert [*texts_of(Mine("a.csv"))] == [*texts_of([Mine("a.csv")])] == []

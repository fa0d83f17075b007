"""Installed packages add sources through entry points of one group."""

from __future__ import annotations

import inspect
import sys
from importlib.metadata import EntryPoint, EntryPoints

import pytest

import ipytorchseed as its
from ipytorchseed.errors import SourceError
from ipytorchseed.rng import table
from ipytorchseed.rng.source import Source
from tests.rng.known import find_source, forget_source

pytestmark = pytest.mark.usefixtures("put_back")

# The module of an installed package with valid and broken sources.
PACKAGE = """
from ipytorchseed.rng.source import Source

seeded = []

def _source(name):
    return Source(name, seed=seeded.append, read=lambda: bytes(seeded), write=print)

wheel = _source("wheel")

def coin():
    return _source("coin")

def broken():
    raise RuntimeError("no coin")

def hat():
    import ipytorchseed
    ipytorchseed.register_source("hat", seed=seeded.append, read=lambda: b"h", write=print)

python = _source("python")
number = 5
"""


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Return a function that installs a package with entry points for some sources."""
    (tmp_path / "casino.py").write_text(PACKAGE, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)

    def install(*names):
        points = EntryPoints(
            EntryPoint(name, f"{module}:{name}", table.ENTRY_POINTS)
            for module, name in (name.split(":") for name in names)
        )
        monkeypatch.setattr(table, "entry_points", lambda group: points.select(group=group))
        _forget()

    yield install
    _forget()
    sys.modules.pop("casino", None)


def _forget():
    table._load_plugins.cache_clear()


def _unpack(folder, name, group, value, version="1.0"):
    """Put an installed package's metadata into a folder."""
    made = folder / f"{name}-{version}.dist-info"
    made.mkdir(parents=True)
    (made / "METADATA").write_text(f"Name: {name}\nVersion: {version}\n", encoding="utf-8")
    points = f"[console_scripts]\nroll = dice:roll\n\n[{group}]\nsource = {value}\n"
    (made / "entry_points.txt").write_text(points, encoding="utf-8")


def test_the_packages_that_count_are_those_that_python_would_import(tmp_path, monkeypatch):
    """The first of two equal entry points counts, even if it registers nothing."""
    first, second = tmp_path / "first", tmp_path / "second"
    _unpack(first, "dice", table.ENTRY_POINTS, "dice:new")
    _unpack(second, "dice", table.ENTRY_POINTS, "dice:old", version="0.9")
    _unpack(first, "cards", "another.group", "cards:new")
    _unpack(second, "cards", table.ENTRY_POINTS, "cards:old", version="0.9")
    _unpack(second, "its_group_in_a_value", "another.group", table.ENTRY_POINTS)
    monkeypatch.syspath_prepend(second)
    monkeypatch.syspath_prepend(first)
    found = [*table.entry_points(table.ENTRY_POINTS)]
    assert [(point.name, point.value) for point in found] == [("source", "dice:new")]


def test_a_source_or_a_function_that_makes_one_is_added(install):
    """Both are seeded and read like the built-in ones."""
    install("casino:wheel", "casino:coin")
    its.seed(42)
    assert sys.modules["casino"].seeded == [42, 42]
    assert [*its.snapshot().digests][-2:] == ["wheel", "coin"]


def test_plugins_are_loaded_once(install, monkeypatch):
    """Later calls do not load them again."""
    install("casino:coin")
    its.snapshot()
    monkeypatch.setattr(table, "entry_points", None)
    assert "coin" in its.snapshot().digests


@pytest.mark.parametrize(
    ("broken", "why"),
    [
        ("casino:broken", "RuntimeError: no coin"),
        ("casino:missing", "AttributeError: "),
        ("no_such_module:source", "ModuleNotFoundError: "),
        ("casino:number", "TypeError: "),
        ("casino:python", "SourceError: a source needs a unique name, and 'python' is not"),
    ],
)
def test_a_broken_plugin_is_named_in_a_warning_and_the_others_load(install, broken, why):
    """The broken plugin is skipped; nothing is raised."""
    install("casino:wheel", broken, "casino:coin")
    name = broken.partition(":")[2]
    message = rf"the source '{name}' \({broken}\) could not be loaded, and is left unseeded: {why}"
    with pytest.warns(UserWarning, match=message) as caught:
        names = [source.name for source in table.sources()]
    assert sum("could not be loaded" in str(each.message) for each in caught) == 1
    assert names[-2:] == ["wheel", "coin"]


def test_a_plugin_whose_name_was_registered_first_is_left_out(install):
    """The user's source stays."""
    install("casino:coin")
    its.register_source("coin", seed=int, read=bytes, write=print)
    with pytest.warns(UserWarning, match="'coin' is not"):
        its.seed(42)
    assert "casino" in sys.modules
    assert sys.modules["casino"].seeded == []


def test_a_plugin_takes_its_name(install):
    """Once loaded, the name is taken."""
    install("casino:coin")
    its.snapshot()
    with pytest.raises(SourceError, match="'coin' is not"):
        its.register_source("coin", seed=int, read=bytes, write=print)


def test_an_entry_point_may_name_a_function_that_registers_its_source(install, recwarn):
    """The function registers it as a script would, without other imports."""
    install("casino:hat", "casino:coin")
    its.seed(42)
    assert not recwarn
    assert sys.modules["casino"].seeded == [42, 42]
    forget_source("hat")


def test_an_entry_point_may_name_any_source_object(install):
    """The table keeps the package's ``Source``."""
    install("casino:wheel")
    assert isinstance(find_source("wheel"), Source)
    assert find_source("wheel") is sys.modules["casino"].wheel


def test_who_writes_a_plugin_is_told_what_a_source_takes():
    """``help(Source)`` reads the types of its arguments."""
    taken = inspect.signature(Source).parameters
    assert [*taken] == ["name", "seed", "read", "write", "locate"]

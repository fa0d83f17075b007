"""Where the ledger lies, and who may read it."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from platformdirs import user_data_path

from ipytorchseed.ledger import place
from ipytorchseed.ledger.store import Ledger
from tests.ledger import samples

posix = pytest.mark.skipif(os.name != "posix", reason="rights work differently there")


def rights(path):
    """Return who may do what with a file."""
    return stat.S_IMODE(path.stat().st_mode)


def test_the_variable_names_the_folder(monkeypatch, tmp_path):
    """Also one that begins at home; asking makes nothing."""
    monkeypatch.setenv("IPYTORCHSEED_DATA_DIR", str(tmp_path / "not" / "there"))
    assert place.ledger_path() == tmp_path / "not" / "there" / "ledger.sqlite"
    assert list(tmp_path.iterdir()) == []
    monkeypatch.setenv("IPYTORCHSEED_DATA_DIR", "~/seeds")
    assert place.ledger_path() == Path.home() / "seeds" / "ledger.sqlite"


@pytest.mark.parametrize("value", [None, ""])
def test_without_it_the_users_data_folder_is_taken(monkeypatch, value):
    """As the platform has it."""
    monkeypatch.delenv("IPYTORCHSEED_DATA_DIR", raising=False)
    if value is not None:
        monkeypatch.setenv("IPYTORCHSEED_DATA_DIR", value)
    folder = user_data_path("ipytorchseed", appauthor=False)
    assert place.ledger_path() == folder / "ledger.sqlite"


def test_open_takes_that_place(monkeypatch, tmp_path):
    """And makes the folder."""
    monkeypatch.setenv("IPYTORCHSEED_DATA_DIR", str(tmp_path / "a" / "b"))
    with Ledger.open() as ledger:
        assert ledger.path == tmp_path / "a" / "b" / "ledger.sqlite"
        assert samples.add(ledger, 1) == [1]
        assert ledger.notices == []


@posix
def test_only_the_user_can_read_it(tmp_path):
    """The folder, the file, and what SQLite keeps beside it."""
    umask = os.umask(0)
    try:
        with Ledger.open(tmp_path / "folder" / "ledger.sqlite") as ledger:
            samples.add(ledger, 1)
            assert rights(tmp_path / "folder") == 0o700
            found = {each.name: rights(each) for each in (tmp_path / "folder").iterdir()}
    finally:
        os.umask(umask)
    assert found == {
        "ledger.sqlite": 0o600,
        "ledger.sqlite-shm": 0o600,
        "ledger.sqlite-wal": 0o600,
    }


@posix
def test_a_file_that_others_can_read_is_closed_to_them(tmp_path):
    """The folder is left alone: it was there for something else."""
    path = tmp_path / "ledger.sqlite"
    path.touch()
    path.chmod(0o644)
    tmp_path.chmod(0o755)
    with Ledger.open(path):
        pass
    assert rights(path) == 0o600
    assert rights(tmp_path) == 0o755


def test_a_path_with_odd_characters(tmp_path):
    """What means something in a URI means nothing here."""
    path = tmp_path / "50% of #1 ? mode=ro&é" / "ledger.sqlite"
    with Ledger.open(path) as ledger:
        assert samples.add(ledger, 1) == [1]
    assert path.stat().st_size > 0

"""Settings of a run: the current values, in the same object if none changed."""

from __future__ import annotations

import os
from functools import partial

import pytest
from hypothesis import given

from ipytorchseed.determinism.flag import plain
from ipytorchseed.determinism.libraries import read_libraries
from ipytorchseed.determinism.machine import FACTS
from ipytorchseed.determinism.table import FLAGS
from ipytorchseed.session import settings as session_settings
from ipytorchseed.session.settings import Settings
from tests.determinism.settings import CHANGES, change, lines, scratch


def told():
    """Return all settings, each read now."""
    flags = {flag.name: plain(flag.read()) for flag in FLAGS}
    return {fact.name: fact.read() for fact in FACTS} | flags | read_libraries(())


@given(changes=lines(at_most=12))
def test_settings_are_told_as_they_are(changes):
    """After any change, in any order, even if torch then refuses to return one."""
    settings = Settings()
    with scratch():
        for line in changes:
            change(line)
            assert settings.read("") == told()
    assert settings.read("") == told()


@pytest.mark.parametrize("line", CHANGES)
def test_each_change_is_seen(line):
    """A line that changes a flag changes the record, if the value changes."""
    settings = Settings()
    with scratch():
        before = settings.read("")
        change(line)
        assert settings.read("") == told()
        if settings.read("") == before:
            assert settings.read("") is before


def test_a_variable_that_a_shell_is_told_by_name(monkeypatch):
    """It is written ``$NAME`` or ``${NAME}``, and recorded if it is set."""
    monkeypatch.setenv("WHO", "Ann")
    settings = Settings()
    for line in ("!echo $WHO", "%%bash\necho ${WHO}s", "!echo $WHO $NOBODY_KNOWS"):
        assert settings.read(line).get("WHO") == "Ann"
    for line in ("who = 1", "!echo $WHOSE", "WHO = '$'"):
        assert "WHO" not in settings.read(line)


def test_a_value_that_cannot_be_hashed_is_read_each_time():
    """Settings of inductor may have any value."""
    from torch._inductor import config

    settings = Settings()
    with scratch():
        config.fallback_random = [1]
        assert settings.read("")["torch._inductor.config.fallback_random"] == "[1]"
        config.fallback_random.append(2)
        assert settings.read("")["torch._inductor.config.fallback_random"] == "[1, 2]"
    assert settings.read("") == told()


def test_an_environment_of_another_kind_is_read_by_name(monkeypatch):
    """A program may replace ``os.environ`` by a plain dictionary."""
    settings = Settings()
    settings.read("")
    monkeypatch.setattr(os, "environ", {**os.environ, "MKL_CBWR": "AVX2"})
    assert settings.read("")["MKL_CBWR"] == "AVX2"


def test_a_variable_that_a_cell_changes_is_recorded_from_then_on(notebook, monkeypatch):
    """Its first record has the earlier value. A library's first value is ignored."""
    monkeypatch.setattr(session_settings, "CHANGED", {})
    for name, value in (("DEPTH", "1"), ("API_TOKEN", "1")):
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("OF_LIBRARY", raising=False)
    notebook.names["os"] = os
    texts = ("y = sum([1])", "os.environ['DEPTH'] = os.environ['API_TOKEN'] = '2'", "y = sum([1])")
    runs = [notebook.run(text) for text in (*texts, "del os.environ['DEPTH']", "y = sum([2])")]
    assert [run.settings.get("DEPTH", "?") for run in runs] == ["?", "1", "2", "2", None]
    assert not any("API_TOKEN" in run.settings for run in (runs[0], *runs[2:]))
    found = []
    for value in "12":
        notebook.names["configure"] = partial(os.environ.update, OF_LIBRARY=value)
        notebook.run("configure()")
        found.append(notebook.run("y = sum([1])").settings.get("OF_LIBRARY"))
    del os.environ["OF_LIBRARY"]
    assert found == [None, "2"]

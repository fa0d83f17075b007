"""Settings of a run: read again only where one may have changed, and then told as they are."""

from __future__ import annotations

import os

import pytest
from hypothesis import given

from ipytorchseed.determinism import environment
from ipytorchseed.determinism.flag import plain
from ipytorchseed.determinism.machine import FACTS
from ipytorchseed.determinism.table import FLAGS, _Reader, read_flags
from ipytorchseed.session.settings import Settings
from tests.determinism.settings import CHANGES, change, lines, scratch


def told():
    """Return all settings, each row asked now."""
    flags = {flag.name: plain(flag.read()) for flag in FLAGS}
    return {fact.name: fact.read() for fact in FACTS} | flags


@given(changes=lines(at_most=12))
def test_settings_are_told_as_they_are(changes):
    """After every change, in any order, also of what torch then refuses to tell."""
    settings = Settings()
    with scratch():
        for line in changes:
            change(line)
            assert settings.read("") == told()
    assert settings.read("") == told()


@pytest.mark.parametrize("line", CHANGES)
def test_each_change_is_seen(line):
    """One line that changes a flag changes what is told, where the row's value changes."""
    settings = Settings()
    with scratch():
        before = settings.read("")
        change(line)
        assert settings.read("") == told()
        if settings.read("") == before:
            assert settings.read("") is before


def test_what_did_not_change_is_not_read_again(monkeypatch):
    """The rows are asked once; then their stamps, which all come from torch's own functions."""
    settings = Settings()
    first, flags = settings.read(""), read_flags()
    monkeypatch.setattr(_Reader, "_read_rows", lambda _: pytest.fail("read again"))
    assert settings.read("x = 1") is first
    assert read_flags() is flags


def test_rows_of_torch_but_three_have_a_stamp_here():
    """The default device lies in Python, inductor's settings in a module of its own."""
    asked = [flag.name for flag in FLAGS if not flag.stamp and flag not in environment.FLAGS]
    assert sorted(asked) == [
        "torch._inductor.config.deterministic",
        "torch._inductor.config.fallback_random",
        "torch.default_device",
    ]
    getters = {flag.get for flag in FLAGS}
    assert sum(stamp in getters for stamp in _Reader(FLAGS)._stamps) == len(asked)


def test_a_value_that_cannot_be_hashed_is_read_each_time(monkeypatch):
    """Somebody may give a setting of inductor's any value."""
    from torch._inductor import config

    settings = Settings()
    with scratch():
        monkeypatch.setattr(config, "fallback_random", [1])
        assert settings.read("")["torch._inductor.config.fallback_random"] == "[1]"
        config.fallback_random.append(2)
        assert settings.read("")["torch._inductor.config.fallback_random"] == "[1, 2]"
        monkeypatch.undo()
    assert settings.read("") == told()


def test_an_environment_of_another_kind_is_read_by_name(monkeypatch):
    """As where a program put a plain dictionary in the place of ``os.environ``."""
    settings = Settings()
    settings.read("")
    monkeypatch.setattr(os, "environ", {**os.environ, "MKL_CBWR": "AVX2"})
    assert settings.read("")["MKL_CBWR"] == "AVX2"

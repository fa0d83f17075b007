"""What is put into the ledger comes out as it was."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

import ipytorchseed as its
from ipytorchseed.fingerprint.value import Fingerprint
from ipytorchseed.ledger import codec, packing
from ipytorchseed.ledger.prune import Limits
from ipytorchseed.ledger.records import Run
from ipytorchseed.ledger.store import Ledger
from ipytorchseed.rng.source import digest
from tests.ledger import samples

large = settings(suppress_health_check=[HealthCheck.data_too_large, HealthCheck.too_slow])
"""A run has many fields."""


@pytest.fixture(scope="module")
def shared():
    """Return a ledger that holds the runs of all examples."""
    with Ledger.in_memory() as ledger:
        ledger.limits = Limits(states_days=1e9, runs_days=1e9, megabytes=1e9)
        yield ledger


@large
@given(samples.runs)
def test_any_run_comes_back_as_it_was(shared, run):
    """Every field, also with texts that UTF-8 forbids, nan, huge numbers and long series."""
    number = shared.add(run, {})
    found = shared.run(number)
    assert samples.same(found, run)
    assert found.id == number


@large
@given(samples.runs)
def test_a_run_comes_back_after_the_ledger_was_closed(tmp_path_factory, run):
    """From the file, by another connection."""
    path = tmp_path_factory.mktemp("ledger") / "ledger.sqlite"
    with Ledger.open(path) as ledger:
        ledger.clock = lambda: run.started  # or it would be pruned
        number = ledger.add(run, {})
    with Ledger.open(path, read_only=True) as ledger:
        assert samples.same(ledger.run(number), run)


def test_every_field_of_a_run_is_kept():
    """A field added to the record and forgotten here would come back empty."""
    value = Fingerprint("0" * 16, "list", "three", False, True, {"length": "3"}, (1.0, 2.0, 3.0))
    full = Run(
        "n", "k", "c", "s", 1, 2.0, 3.0, "ok",
        before={"python": "a"}, after={"python": "b"},
        generators_before={"g": samples.GeneratorState("t", "a")},
        generators_after={"g": samples.GeneratorState("t", "b")},
        settings={"flag": True}, reads={"x": value}, writes={"y": value}, result=value,
        stdout=value, displays=(value,), error="no",
        files=(samples.FileRead("/a", 1, "d", exact=False),),
        between={"python": ("a", "b")}, seeds=((1, "now"),), asks=("time.time",), uses=("torch",),
        code="e", notes=("note",),
    )  # fmt: skip
    with Ledger.in_memory() as ledger:
        assert ledger.run(ledger.add(full, {})) == replace(full, id=1)


def test_halves_of_a_character_stay_apart():
    """As text cut in the middle by a library that counts in UTF-16 has them."""
    halves = "\ud800\udc00"
    run, _ = samples.moved(source=halves, error=halves, settings={halves: halves})
    with Ledger.in_memory() as ledger:
        assert samples.same(ledger.run(ledger.add(run, {})), run)


@given(st.binary(max_size=6000) | st.binary(min_size=1000, max_size=3000).map(lambda b: b * 3))
def test_packed_bytes_come_back(data):
    """Whatever they are."""
    assert packing.unpack(packing.pack(data)) == data


@given(st.binary(max_size=700), st.binary(max_size=9))
def test_half_empty_bytes_come_back(words, rest):
    """Words of 32 bits kept in 64, as in torch's states, with anything after them."""
    words = words * 4
    words = words[: len(words) // 4 * 4]
    spread = b"".join(words[at : at + 4] + bytes(4) for at in range(0, len(words), 4)) + rest
    assert packing.unpack(packing.pack(spread)) == spread


@pytest.mark.usefixtures("put_back")
def test_real_states_come_back_and_torchs_shrinks_to_half():
    """Every source's state; torch's Mersenne Twister is half empty."""
    its.seed(3)
    torch.rand(1000)
    snapshot = its.snapshot()
    for state in snapshot.states.values():
        assert packing.unpack(packing.pack(state)) == state
    assert len(packing.pack(snapshot.states["torch.cpu"])) < 2600


@pytest.mark.parametrize("data", [b"", b"\7abc", b"\1abc", b"\2\0\0\0\3abcdef", b"\2"])
def test_bytes_that_were_not_packed_are_refused(data):
    """With one kind of error, whatever is wrong with them."""
    with pytest.raises(ValueError, match="packed bytes"):
        packing.unpack(data)


@given(samples.values)
def test_any_value_comes_back(value):
    """Its series too, number by number and of the same types."""
    found = codec.decode_thing(codec.encode_value(value))
    assert repr(found) == repr(value)


def test_a_long_series_is_kept_in_single_precision_only_where_that_loses_nothing():
    """Losses are float32 in float64; others are kept whole, nan as well."""
    single = tuple(float(x) for x in torch.arange(100) / 7)
    double = tuple(x / 7 for x in range(100))
    assert packing.pack_numbers(single)[0] == "f"
    assert packing.pack_numbers(double)[0] == "d"
    assert packing.pack_numbers((*double, math.nan))[0] == "d"
    assert packing.pack_numbers((*double, 1)) is None
    assert packing.pack_numbers((True, *double)) is None


def test_states_come_back_by_digest_and_unknown_ones_are_absent():
    """Each is kept once."""
    with Ledger.in_memory() as ledger:
        run, states = samples.moved()
        ledger.add(run, states)
        ledger.add(run, states)
        assert ledger.states([*states, "f" * 16]) == states
        assert ledger.states([]) == {}
        assert ledger.counts().states == 2


def test_more_digests_than_sqlite_takes_in_one_statement():
    """They are asked for in batches."""
    states = {digest(each): each for each in (samples.state(16) for _ in range(1000))}
    run = replace(samples.moved()[0], before=dict(zip(states, states, strict=True)), after={})
    with Ledger.in_memory() as ledger:
        number = ledger.add(run, states)
        assert ledger.states(states) == states
        assert ledger.states_of_run(ledger.run(number)) == states


def test_the_states_of_a_run_are_named_by_source():
    """When it began, and when it ended; a state that was not given is absent."""
    run, states = samples.moved()
    with Ledger.in_memory() as ledger:
        found = ledger.run(ledger.add(run, states))
        assert ledger.states_of_run(found) == {"python": states[run.before["python"]]}
        assert ledger.states_of_run(found, after=True) == {"python": states[run.after["python"]]}
        assert ledger.states_of_run(replace(found, before={"numpy": "f" * 16})) == {}


def test_a_state_given_once_needs_not_be_given_again():
    """A later run refers to it by digest alone."""
    run, states = samples.moved()
    with Ledger.in_memory() as ledger:
        ledger.add(run, states)
        found = ledger.run(ledger.add(replace(run, started=run.started + 1), {}))
        assert ledger.states_of_run(found) == {"python": states[run.before["python"]]}
        assert ledger.verify() == []


def test_equal_texts_and_settings_are_kept_once():
    """A cell run a hundred times keeps its text once, and what looks alike stays apart."""
    with Ledger.in_memory() as ledger:
        samples.add(ledger, 100, cell="c", source="{}", settings={})
        assert ledger.counts().things == 5  # notebook, kernel, cell, text, settings
        assert ledger.run(100).source == "{}"
        assert ledger.run(100).settings == {}

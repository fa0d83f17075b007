"""What is put into the ledger comes out as it was."""

from __future__ import annotations

from contextlib import suppress
from functools import partial

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

import ipytorchseed as its
from ipytorchseed.errors import LedgerError
from ipytorchseed.fingerprint.value import Fingerprint
from ipytorchseed.ledger import blobs, encoding
from ipytorchseed.ledger.maintenance import Limits
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
    """Every field, also invalid UTF-8, nan, huge numbers and long series."""
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
        generators={"g": "t"},
        settings={"flag": True}, reads={"x": value}, writes={"y": value},
        outputs=samples.Outputs(value, value, value, (value,), "no"),
        files=(samples.FileRead("/a", 1, "d", exact=False),),
        between={"python": ("a", "b")}, seeds=((1, "now"),), nondeterministic_calls={"time.time": True}, packages=("torch",),
        code="e", notes=("note",),
    )  # fmt: skip
    with Ledger.in_memory() as ledger:
        assert ledger.run(ledger.add(full, {})) == replace(full, id=1)


def test_halves_of_a_character_stay_apart():
    """As text cut in the middle by a library that counts in UTF-16 has them."""
    halves = "\ud800\udc00"
    run, _ = samples.moved(
        source=halves, outputs=samples.Outputs(error=halves), settings={halves: halves}
    )
    with Ledger.in_memory() as ledger:
        assert samples.same(ledger.run(ledger.add(run, {})), run)


@given(st.binary(max_size=6000) | st.binary(min_size=1000, max_size=3000).map(lambda b: b * 3))
def test_compressed_bytes_come_back(data):
    """Whatever they are."""
    assert blobs.decompress(blobs.compress(data)) == data


@given(st.binary(max_size=2000), st.binary(max_size=9))
def test_half_empty_bytes_come_back(words, rest):
    """Words of 32 bits kept in 64, as in torch's states, with anything after them."""
    spread = b"".join(words[at : at + 4] + bytes(4) for at in range(0, len(words), 4)) + rest
    assert blobs.decompress(blobs.compress(spread)) == spread


@pytest.mark.usefixtures("put_back")
def test_real_states_come_back_and_torchs_shrinks():
    """Every source's state; torch's Mersenne Twister is half empty."""
    its.seed(3)
    torch.rand(1000)
    snapshot = its.snapshot()
    for state in snapshot.states.values():
        assert blobs.decompress(blobs.compress(state)) == state
    assert len(blobs.compress(snapshot.states["torch.cpu"])) < 2700


@pytest.mark.parametrize("data", [b"", b"\7abc", b"\1abc", b"\2abc"])
def test_bytes_that_were_not_compressed_are_refused(data):
    """With one kind of error, whatever is wrong with them."""
    with pytest.raises(ValueError, match="bytes"):
        blobs.decompress(data)


@given(samples.values)
def test_any_value_comes_back(value):
    """Its series too, number by number."""
    assert repr(encoding.decode(encoding.encode(value), Fingerprint)) == repr(value)


@given(st.binary(max_size=200))
def test_bytes_that_are_no_record_are_refused(data):
    """With one kind of error, and never with another."""
    for read in (partial(encoding.decode, kind=Run), encoding.split_run):
        with suppress(ValueError):
            read(data)


def test_a_field_that_is_not_known_here_is_passed_over():
    """As from a later version, whose tables are the same.

    One that is missing is as usual.
    """
    value = {"digest": "0" * 16, "kind": "list", "mood": [1, {"a": 2}]}
    assert encoding.decode(encoding.encode(value), Fingerprint) == Fingerprint("0" * 16, "list")


def test_what_cannot_be_written_is_told_in_one_line():
    """The cell that it comes from goes on: it is an error like those of the file."""
    for odd in (2**70, object()):
        run, states = samples.moved(settings={"odd": odd})
        with Ledger.in_memory() as ledger, pytest.raises(LedgerError, match="cannot be kept"):
            ledger.add(run, states)


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
        assert samples.states_of_run(ledger, ledger.run(number)) == states


def test_the_states_of_a_run_are_named_by_source():
    """When it began, and when it ended; a state that was not given is absent."""
    run, states = samples.moved()
    with Ledger.in_memory() as ledger:
        found = ledger.run(ledger.add(run, states))
        assert samples.states_of_run(ledger, found) == {"python": states[run.before["python"]]}
        assert samples.states_of_run(ledger, found, after=True) == {
            "python": states[run.after["python"]]
        }
        assert samples.states_of_run(ledger, replace(found, before={"numpy": "f" * 16})) == {}


def test_a_state_given_once_needs_not_be_given_again():
    """A later run refers to it by digest alone."""
    run, states = samples.moved()
    with Ledger.in_memory() as ledger:
        ledger.add(run, states)
        found = ledger.run(ledger.add(replace(run, started=run.started + 1), {}))
        assert samples.states_of_run(ledger, found) == {"python": states[run.before["python"]]}
        assert ledger.verify() == []


def test_equal_texts_and_settings_are_kept_once():
    """A cell run a hundred times stores its text once; similar texts stay separate."""
    with Ledger.in_memory() as ledger:
        text, settings = "{}" * 200, {"flag": "{}" * 200}
        samples.add(ledger, 100, cell="c", source=text, settings=settings)
        assert ledger.counts().values == 2
        assert ledger.run(100).source == text
        assert ledger.run(100).settings == settings


def test_a_run_has_few_fields():
    """They are observations; verdicts are not stored."""
    assert len(Run.__struct_fields__) <= 30

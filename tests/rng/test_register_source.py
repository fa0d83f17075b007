"""A registered source is seeded, read, restored and located like the others."""

from __future__ import annotations

import random
import sys

import pytest
from msgspec.structs import replace

import ipytorchseed as its
from ipytorchseed.errors import SeedError, SourceError, StateError
from ipytorchseed.render.seeding import read_rows
from ipytorchseed.rng import table
from ipytorchseed.rng.position import UNKNOWN, Position
from ipytorchseed.rng.source import digest
from ipytorchseed.rng.table import BUILT_IN, locate, sources
from tests.rng.known import find_source

pytestmark = pytest.mark.usefixtures("put_back")


class Dice:
    """A toy generator: a seed and a counter."""

    def __init__(self):
        """Begin unseeded."""
        self.seeded, self.count = 0, 0

    def seed(self, value):
        """Begin again."""
        self.seeded, self.count = value, 0

    def read(self):
        """Return both as bytes."""
        return self.seeded.to_bytes(4, "big") + self.count.to_bytes(4, "big")

    def write(self, state):
        """Put both back."""
        self.seeded, self.count = (int.from_bytes(part, "big") for part in (state[:4], state[4:]))

    def roll(self):
        """Draw."""
        self.count += 1
        return random.Random(f"{self.seeded} {self.count}").randint(1, 6)

    @staticmethod
    def draws(begin, now):
        """Count what was drawn between two states of one seed."""
        if begin[:4] != now[:4]:
            return None
        return int.from_bytes(now[4:], "big") - int.from_bytes(begin[4:], "big")


@pytest.fixture
def dice():
    """A toy generator, registered as ``dice``."""
    made = Dice()
    its.register_source("dice", seed=made.seed, read=made.read, write=made.write, draws=made.draws)
    return made


def test_a_registered_source_is_listed_last(dice):
    """It has its name, after the built-in sources."""
    assert [source.name for source in sources()][-1] == "dice"
    assert "dice" in its.snapshot().digests


def test_it_is_seeded_with_the_others(dice):
    """``its.seed`` seeds it, with the seed as a plain int."""
    its.seed(42)
    assert (dice.seeded, dice.count) == (42, 0)
    first = its.snapshot().digests["dice"]
    dice.roll()
    its.seed(42)
    assert its.snapshot().digests["dice"] == first
    its.seed(43)
    assert its.snapshot().digests["dice"] != first


def test_a_bad_seed_does_not_reach_it(dice):
    """The seed is checked first."""
    with pytest.raises(SeedError):
        its.seed(-1)
    assert dice.seeded == 0


def test_it_is_restored_with_the_others(dice):
    """A snapshot contains its state, and the same rolls repeat."""
    its.seed(42)
    dice.roll()
    snapshot = its.snapshot()
    expected = [dice.roll() for _ in range(5)]
    its.restore(snapshot)
    assert [dice.roll() for _ in range(5)] == expected


def test_its_draws_are_counted_from_its_last_seeding(dice):
    """They are counted by its ``draws``.

    Before any seeding by us, and on another stream, they are unknown.
    """
    source = find_source("dice")
    assert locate(source, source.read()) == UNKNOWN
    its.seed(42)
    assert locate(source, source.read()) == Position(42, 0)
    dice.roll()
    dice.roll()
    assert locate(source, source.read()) == Position(42, 2)
    dice.seed(5)
    assert locate(source, source.read()) == UNKNOWN


def test_without_draws_only_the_beginning_is_known():
    """The seed can be reported as long as nothing was drawn."""
    made = Dice()
    its.register_source("dice", seed=made.seed, read=made.read, write=made.write)
    its.seed(42)
    source = find_source("dice")
    assert locate(source, source.read()) == Position(42, 0)
    made.roll()
    assert locate(source, source.read()) == UNKNOWN


def test_a_source_that_cannot_tell_its_state_is_seeded_all_the_same():
    """Its ``read`` returns None: it is in no snapshot, and restoring skips it."""
    made = Dice()
    its.register_source("dice", seed=made.seed, read=lambda: None, write=made.write)
    its.seed(42)
    assert made.seeded == 42
    snapshot = its.snapshot()
    assert "dice" not in snapshot.states
    its.restore(snapshot)
    assert made.seeded == 42


def test_a_source_that_fails_is_named_in_a_line_and_the_others_are_seeded_and_shown():
    """A GPU fails like this after an error in a kernel."""
    made = Dice()

    def fail(*_):
        raise RuntimeError("CUDA error: device-side assert triggered\nCUDA kernel errors might be")

    its.register_source("dice", seed=fail, read=fail, write=fail)
    its.register_source("more dice", seed=made.seed, read=made.read, write=made.write)
    said = "RuntimeError: CUDA error: device-side assert triggered"
    with pytest.raises(SourceError) as seeding:
        its.seed(42)
    assert str(seeding.value) == f"could not seed 'dice' ({said}); every other source was seeded"
    assert made.seeded == 42
    with pytest.raises(StateError) as reading:
        its.snapshot()
    assert str(reading.value) == f"dice cannot be read: {said}"
    digests = {row.name: row.digest for row in read_rows([])}
    assert digests["dice"] is None
    assert digests["more dice"] == digest(made.read())


def test_a_built_in_source_that_fails_leaves_the_others_seeded(monkeypatch):
    """This is true for each of them."""

    def fail(_):
        raise RuntimeError("no device")

    rows = [replace(row, seeder=lambda: fail) if row.name == "torch" else row for row in BUILT_IN]
    monkeypatch.setattr("ipytorchseed.rng.table.BUILT_IN", rows)
    with pytest.raises(SourceError, match="could not seed 'torch'"):
        its.seed(42)
    assert random.random() == random.Random(42).random()


def test_a_source_exists_once_its_module_is_imported(monkeypatch):
    """Before, it is neither seeded nor read."""
    made = Dice()
    its.register_source(
        "dice", seed=made.seed, read=made.read, write=made.write, module="dice_of_chance"
    )
    its.seed(42)
    assert made.seeded == 0
    assert "dice" not in its.snapshot().states
    monkeypatch.setitem(sys.modules, "dice_of_chance", sys)
    its.seed(42)
    assert made.seeded == 42
    assert "dice" in its.snapshot().states


@pytest.mark.parametrize("name", ["python", "numpy", "torch", "torch.cpu", "cupy", "dice", "", 5])
def test_a_name_that_is_taken_or_none_is_refused(dice, name):
    """Names of libraries and of sources; the error lists what is taken."""
    before = [library.name for library in table.libraries()]
    with pytest.raises(SourceError, match=r"a source needs a unique name.*cupy, .*dice, .*numpy"):
        its.register_source(name, seed=dice.seed, read=dice.read, write=dice.write)
    assert [library.name for library in table.libraries()] == before


@pytest.mark.parametrize("argument", ["seed", "read", "write", "draws"])
@pytest.mark.parametrize("value", [5, "text", b""])
def test_what_is_not_callable_is_refused(argument, value):
    """The error names the argument, the source and the value; nothing is added."""
    made = Dice()
    arguments = {"seed": made.seed, "read": made.read, "write": made.write, argument: value}
    with pytest.raises(SourceError) as caught:
        its.register_source("dice", **arguments)
    assert str(caught.value) == f"{argument} of the source 'dice' must be callable, not {value!r}"
    assert "dice" not in [library.name for library in table.libraries()]

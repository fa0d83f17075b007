"""Shows applied seeds, current and restored states, and the stamp of a session."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress

from msgspec import Struct
from msgspec.structs import replace

from ipytorchseed.errors import StateError
from ipytorchseed.experiment.rewind import Restored
from ipytorchseed.ledger.records import Run, SeedEntry
from ipytorchseed.render.labels import label_of
from ipytorchseed.render.text import visible, wrap
from ipytorchseed.render.values import pick, write_value
from ipytorchseed.render.view import TableView
from ipytorchseed.rng.distance import draws_between
from ipytorchseed.rng.generators import FoundGenerator
from ipytorchseed.rng.position import UNKNOWN, Position
from ipytorchseed.rng.snapshot import snapshot
from ipytorchseed.rng.source import Source, digest
from ipytorchseed.rng.table import locate, recent_seeds, sources
from ipytorchseed.session.settings import Settings
from ipytorchseed.why.evidence import run_name


def seeded_text(
    seed: int,
    reseeded: Sequence[tuple[FoundGenerator, int]],
    left: Sequence[FoundGenerator],
    typed: str = "",
) -> str:
    """Describe what was seeded.

    Args:
        seed: The seed.
        reseeded: The namespace's generators that were reseeded, each with its derived seed.
        left: The namespace's generators that were not reseeded.
        typed: The user's words for the seed, if they are not the seed itself: ``42 --by-rank``.
    """
    lines = [f"Seeded {', '.join(source.name for source in sources())} with {seed}."]
    lines += [f"  {found.name} ({found.described}): {derived}" for found, derived in reseeded]
    if left:
        names = ", ".join(found.name for found in left)
        lines.append(f"Left alone: {names}. To reseed them too: %seed {typed or seed} --generators")
    return "\n".join(map(visible, lines))


class Row(Struct, frozen=True):
    """The current state of a source or generator.

    Attributes:
        name: The source's name, or the expression that gives the generator.
        type: The generator's type; empty for a source.
        digest: The digest of the state; None if the state cannot be read.
        position: The seed, and the draws since then.
    """

    name: str
    type: str
    digest: str | None
    position: Position

    def to_json(self) -> dict[str, object]:
        """Return the row as JSON values."""
        names = ("name", "type", "digest") if self.type else ("name", "digest")
        return {**pick(self, *names), **pick(self.position, "seed", "draws")}


def read_rows(found: Sequence[FoundGenerator]) -> list[Row]:
    """Return a row for every source and given generator, without advancing any."""
    return Present().look(found)


class Present:
    """The states of sources and generators, with a cache of their positions.

    Attributes:
        rows: The rows from the last reading: sources, then generators.
    """

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self._known: dict[str, tuple[bytes, Row]] = {}

    def look(self, found: Sequence[FoundGenerator]) -> list[Row]:
        """Read the state of every source and the given generators, without advancing any.

        Args:
            found: The generators of the namespace.
        """
        every: list[Source | FoundGenerator] = [*sources(), *found]
        self.rows = [*map(self._row, every)]
        return self.rows

    def _row(self, each: Source | FoundGenerator) -> Row:
        state = None
        with suppress(StateError):
            state = each.read() if isinstance(each, FoundGenerator) else each.state()
        if state is None:
            return Row(each.name, each.type, None, UNKNOWN)
        named, kind = digest(state), each.described if isinstance(each, FoundGenerator) else ""
        before, row = self._known.get(each.name, (b"", None))
        if row is None or row.type != kind:
            row = Row(each.name, kind, named, _position(each, state))
        elif row.digest != named:
            # A search for a seed takes a tenth of a second if there is none. If draws lead here
            # from a state whose seed is unknown, a search would not find one either.
            is_lost = row.position.draws is None and draws_between(before, state) is not None
            place = row.position if is_lost else _position(each, state)
            row = replace(row, digest=named, position=place)
        self._known[each.name] = bytes(state), row
        return row


def _position(each: Source | FoundGenerator, state: bytes) -> Position:
    return each.position if isinstance(each, FoundGenerator) else locate(each, state)


class SeedStatus(TableView):
    """The current seed, rule and states.

    Args:
        title: The last seed and the rule for every cell, in words.
        states: The states of sources, then of generators.
    """

    columns = (("Source", "code"), ("State", "state"), ("Position", ""))

    def __init__(self, title: str, states: Sequence[Row]) -> None:
        self.title = title
        self.states = states
        self.rows = [
            (f"{it.name} ({it.type})" if it.type else it.name, it.digest or "", str(it.position))
            for it in states
        ]

    @classmethod
    def read(cls, rule: str, found: Sequence[FoundGenerator]) -> SeedStatus:
        """Read the state of every source and generator, without advancing any.

        Args:
            rule: The rule for every cell, in words; empty if there is none.
            found: The generators of the namespace.
        """
        last, rows = next(iter(recent_seeds()), None), read_rows(found)
        chosen = ", ".join(it.name for it in rows if it.position.is_chosen and not it.type)
        title = f"No %seed yet. Seeded by code: {chosen}." if chosen else "No seed set yet."
        if last is not None:
            lost = {it.position.seed for it in rows if not it.type}.isdisjoint({last, None})
            title = f"Last seed: {last}{', but no source continues from it' if lost else ''}."
        return cls(f"{title} {rule}." if rule else title, rows)


_HOW = {
    "now": "%seed",
    "each": "%seed each",
    "new": "%seed new",
    "scope": "%%deterministic",
    "call": "its.seed",
    "block": "its.deterministic",
}
_LABEL = 22

# Runs by kernel and number.
RunsOf = Mapping[tuple[str, int | None], Run]


class SeedLog(TableView):
    """The log of seeds.

    Args:
        entries: The entries, oldest first.
        runs: The runs that applied the seeds, by kernel and number, if the ledger still has them.
        kernel: The id of the current kernel.
        note: A further remark; or empty.
    """

    columns = (
        *(("When", "whole"), ("Seed", "whole"), ("By", "whole code"), ("Run", "whole code")),
        ("Cell", "dim"),
    )

    def __init__(self, entries: list[SeedEntry], runs: RunsOf, kernel: str, note: str = "") -> None:
        self.rows = []
        for entry in entries:
            run = runs.get((entry.kernel, entry.execution_count))
            here, name = entry.kernel == kernel, f"In[{entry.execution_count}]"
            cell = name if here and entry.execution_count else "", "" if here else "earlier kernel"
            if run is not None:
                cell = run_name(run, kernel), label_of(run.source, _LABEL)
            when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(entry.when))
            self.rows.append((when, str(entry.seed), _HOW.get(entry.how, entry.how), *cell))
        nothing = "" if self.rows else "No seed set in this notebook yet. "
        self.title = f"{nothing}{note}".strip()


def restored_text(done: Restored, where: str) -> str:
    """Describe what was restored, and what was not.

    Args:
        done: The result of restoring.
        where: The words for the restored state: ``to the start of In[5]``.
    """
    told = {
        f"Put back {where}": done.names,
        "Not here now": done.missing,
        "Left alone, as they were not recorded": done.left,
        "No longer in the ledger": done.dropped,
    }
    lines = [f"{why}: {', '.join(names)}." for why, names in told.items() if names]
    lines[:0] = [] if done.names else ["None of them exists here."]
    return "\n".join(wrap(line, first="") for line in lines)


_SETTINGS = (
    "torch.use_deterministic_algorithms",
    "torch.float32_matmul_precision",
    "torch.default_dtype",
    "torch.num_threads",
    "PYTHONHASHSEED",
)
_ON_GPU = ("torch.backends.cudnn.benchmark", "torch.backends.cudnn.allow_tf32")
_VERSIONS = ("torch", "numpy", "python")
_OF_GPU = ("cuda", "cudnn")


def stamp() -> str:
    """Return one line for a paper or a log: seed, states, versions, hardware.

    This draws no number, starts no device and imports no library.

    Returns:
        The seed of the sources, the digest of every source's state, the settings that matter, the
        versions of the libraries, and the processors, separated by semicolons.
    """
    # Not the last seed: %replay, %seed rewind, %seed restore or --isolate may restore older states.
    known = {row.position.seed for row in read_rows(())} - {None} if recent_seeds() else set()
    return stamp_text(f"seed {known.pop()}" if len(known) == 1 else "no common seed")


def stamp_text(seed: str) -> str:
    """Return the stamp, with the caller's words for the seed."""
    now = Settings().read("")
    has_gpu = now.get("gpu") not in (None, "none")
    settings = (*_SETTINGS, *(_ON_GPU if has_gpu else ()))
    versions = (*_VERSIONS, *(_OF_GPU if has_gpu else ()))
    hardware = ("cpu", "gpu") if has_gpu else ("cpu",)
    parts = [
        [seed],
        [f"{name} {digest}" for name, digest in snapshot().digests.items()],
        _told(now, settings),
        [*_told(now, versions), f"ipytorchseed {sys.modules['ipytorchseed'].__version__}"],
        [str(now[name]) for name in hardware if now.get(name)],
    ]
    return visible("; ".join(", ".join(part) for part in parts if part))


def _told(values: Mapping[str, object], names: Iterable[str]) -> list[str]:
    return [
        f"{name.removeprefix('torch.')} {write_value(values[name]).removeprefix('torch.')}"
        for name in names
        if values.get(name) is not None
    ]

"""Where every source and generator stands, looked at again and again at little cost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from ipytorchseed.render.seeding import Row
from ipytorchseed.rng.distance import draws_between
from ipytorchseed.rng.generators import Found
from ipytorchseed.rng.position import UNKNOWN, Position
from ipytorchseed.rng.source import digest
from ipytorchseed.rng.table import locate, sources


class Present:
    """Remembers the last look: what did not move since is not counted again.

    Attributes:
        rows: Sources, then generators, as they stood at the last look.
    """

    def __init__(self) -> None:
        self.rows: dict[str, Row] = {}
        self._states: dict[str, bytes] = {}

    @property
    def sources(self) -> list[str]:
        """Names of the sources."""
        return [name for name, row in self.rows.items() if not row.type]

    def look(self, found: Sequence[Found]) -> None:
        """Look at every source, and at the given generators of the namespace; none of them moves.

        Args:
            found: The generators.
        """
        rows: dict[str, Row] = {}
        states: dict[str, bytes] = {}
        for source in sources():
            state = source.read()
            if state is None:
                rows[source.name] = Row(source.name, "", None, UNKNOWN)
                continue
            states[source.name] = bytes(state)
            find = partial(locate, source, states[source.name])
            rows[source.name] = self._row(source.name, "", states[source.name], find)
        for each in found:
            states[each.name] = each.kind.read(each.object)
            find = partial(getattr, each, "position")
            rows[each.name] = self._row(each.name, each.kind.type, states[each.name], find)
        self.rows, self._states = rows, states

    def _row(self, name: str, kind: str, state: bytes, find: Callable[[], Position]) -> Row:
        known, named = self.rows.get(name), digest(state)
        if known is not None and known.type == kind:
            if known.digest == named:
                return known
            # To search for a seed where there is none takes a tenth of a second. A state that draws
            # lead to from one of unknown seed is of unknown seed.
            lost = known.position.draws is None and name in self._states
            if lost and draws_between(self._states[name], state) is not None:
                return Row(name, kind, named, known.position)
        return Row(name, kind, named, find())

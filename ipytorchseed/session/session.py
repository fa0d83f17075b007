"""``begin_cell`` and ``end_cell``: what a run began with, drew, read and made, put on record."""

from __future__ import annotations

import os
import time
import uuid
from contextlib import suppress
from types import ModuleType
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from ipytorchseed.errors import LedgerError
from ipytorchseed.fingerprint import Budget, Memo, fingerprint, same
from ipytorchseed.introspection.values import is_scalar
from ipytorchseed.ledger.place import ledger_path
from ipytorchseed.ledger.records import GeneratorState, Run
from ipytorchseed.reads.cell import code_digest, effects_of_cell
from ipytorchseed.reads.dependencies import Dependencies, find_dependencies, is_result, look_up
from ipytorchseed.reads.entropy import reads_clock
from ipytorchseed.reads.shell import only_fetches
from ipytorchseed.session.config import Config
from ipytorchseed.session.files import FileWatch
from ipytorchseed.session.identity import Identity
from ipytorchseed.session.importing import ImportWatch
from ipytorchseed.session.noise import MOST_ERROR, without_noise
from ipytorchseed.session.outputs import Outputs
from ipytorchseed.session.settings import Settings
from ipytorchseed.session.sources import States, StateWatch
from ipytorchseed.session.watch import Look, NamespaceWatch, shell_name

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    from ipytorchseed.fingerprint.value import Fingerprint
    from ipytorchseed.ledger.store import Ledger
    from ipytorchseed.reads.effects import Effects

_UNCHANGING = frozenset({"none", "bool", "int", "float", "complex", "str", "bytes", "function"})
"""Kinds of values that are the same as long as their name is bound to the same object."""

_LEAST_SWEEP, _MOST_SWEEP = 0.001, 0.02
"""Seconds to look for changes of variables that the cell does not name: a tenth of its time."""

_PUTS = frozenset({"a:append", "a:extend", "a:add"})
_FILLED = frozenset({"list", "deque", "set"})
"""Methods that look at nothing of what is there, and kinds of values that have them."""

_SHARE, _REST = 0.1, 0.25
"""Of a cell's own time, and of the budget, what looking at it may take."""

_MOST_NAMES = 12_000
"""Variables on record of one run, those that its text names first."""

_TOO_MUCH = "not all of your code could be followed: there is too much, or its source is gone"
_TOO_MANY = "too many variables to look at them all"
_CUT_SHORT = "the run was interrupted while it was looked at: not all values are known"


class Pending(Struct):
    """A run under way: what it began with. No object of the user's is held.

    Attributes:
        cell: What the cell is known by.
        source: Its text.
        execution_count: The number in ``In[...]``.
        started: When, in seconds since 1970.
        clock: When, on a clock that only goes forward.
        states: Every source's state.
        generators: The namespace's generators.
        settings: Flags, environment, versions and hardware.
        reached: Where the values lie that it reads.
        writes: Names that its code may set.
        calls: Whether it may run code that sets names of which its text does not tell.
        budget: Time to look at values.
        between: Sources that moved since the last run's end.
        outputs: What it showed so far.
        reads: What the values were.
        seeds: Seeds that commands of ours applied, and how.
    """

    cell: str
    source: str
    execution_count: int | None
    started: float
    clock: float
    states: States
    generators: Mapping[str, Look]
    settings: Mapping[str, Any]
    reached: Dependencies
    writes: set[str]
    calls: bool
    budget: Budget
    between: Mapping[str, tuple[str, str]]
    outputs: Outputs
    reads: dict[str, Fingerprint] = {}
    seeds: list[tuple[int, str]] = []


class Seen(Struct, frozen=True):
    """A variable as it was left by the cells so far.

    Attributes:
        value: What it was, read whole.
        round: The round of looking in which that was seen last.
        seconds: What looking at it cost.
    """

    value: Fingerprint
    round: int
    seconds: float


class Session:
    """Looks at each run of a kernel and records it.

    Args:
        notebook: What the notebook is known by.
        ledger: Where runs are kept.
        transform: Turns a cell's text into Python, as the shell does.
        hidden: Names of the shell's own, which are nobody's variables.
        config: The user's choices.
        later: Calls a function once the cell's reply is out; None where nobody waits for one.
        find_rank: Tells which of several processes that run the same notebook this is; asked
            until it knows, as a process may learn it late.

    Attributes:
        kernel: A name of this kernel's process.
        identity: Which cell a run is of, across kernels.
        too_large: The variable that the last run read or made and that was not read whole, for
            want of time; empty where there was none.
    """

    def __init__(  # noqa: PLR0913 -- each by name
        self,
        notebook: str,
        ledger: Ledger,
        transform: Callable[[str], str],
        *,
        hidden: Iterable[str] = (),
        config: Config | None = None,
        later: Callable[[Callable[[], object]], None] | None = None,
        find_rank: Callable[[], int | None] = lambda: None,
    ) -> None:
        self.notebook = notebook
        self.kernel = uuid.uuid4().hex[:12]
        self.identity = Identity(notebook, self.kernel)
        self.ledger = ledger
        self.config = config or Config()
        self.too_large = ""
        self._last: Run | None = None
        self._rank: int | None = None
        self._find_rank = find_rank
        self._later = later
        self._transform = transform
        self._hidden = frozenset(hidden)
        self._pid = os.getpid()
        self._memo = Memo()
        self._states = StateWatch()
        self._settings = Settings()
        self._imports = ImportWatch()
        self._files = FileWatch(self._imports)
        self._watch = NamespaceWatch()
        self._ended: Mapping[str, str] = {}
        self._known: dict[str, Seen] = {}
        self._took: dict[str, float] = {}
        self._timed: set[str] = set()
        self._round = 0
        self._pending: Pending | None = None
        self._budget = Budget()
        self._cut_short = False

    @property
    def last(self) -> Run | None:
        """The last run recorded, or None."""
        return self._last

    @property
    def rank(self) -> int | None:
        """Which of several processes that run the same notebook this is; None for the only one."""
        if self._rank is None:
            self._rank = self._find_rank()
        return self._rank

    @property
    def pending(self) -> Pending | None:
        """The run under way, or None."""
        return self._pending

    def code_of(self, source: str) -> str:
        """Name a cell's text: comments and layout do not count."""
        return code_digest(source, self._transform)

    def effects_of(self, source: str) -> Effects:
        """Follow the code of a cell."""
        return effects_of_cell(source, self._transform)

    def set_aside(self) -> Pending | None:
        """Take the run under way off the record, so that others are recorded inside it."""
        pending, self._pending = self._pending, None
        return pending

    def take_up(self, pending: Pending | None) -> None:
        """Go on with a run that was set aside."""
        self._pending = pending

    def cell_of(self, ident: str | None, source: str, saved: Collection[str]) -> str:
        """Return what a cell that is about to run is known by.

        Args:
            ident: The front end's id; None where it names none, or a new one for each run.
            source: The cell's text.
            saved: Ids that stand in the notebook's file, where the front end's are such.
        """
        if ident is None:
            return source.strip()
        return self.identity.find(ident, self.code_of(source), saved, self.ledger, self.rank)

    def choose(self, config: Config, ledger: Ledger | None = None) -> None:
        """Take the user's choices.

        Args:
            config: What is in force from now on.
            ledger: Where runs are kept from now on; None for where they are.
        """
        self.config = config
        if ledger is not None:
            self.ledger.close()
            self.ledger = ledger

    def begin_cell(
        self,
        cell: str,
        source: str,
        execution_count: int | None,
        namespace: Mapping[str, Any],
        prepare: Callable[[], object] | None = None,
    ) -> None:
        """Look at everything before a cell runs.

        Args:
            cell: What the cell is known by.
            source: Its text.
            execution_count: The number it will have in ``In[...]``.
            namespace: The user's names.
            prepare: What we do before the cell, such as seeding: done after the look at what
                moved since the last run, and before the look at what this one begins with.
        """
        self._pending = None
        self._cut_short = False
        self._budget = Budget(self._allowance(self._took.get(cell, 0.0)))
        recording = self.config.tracking and os.getpid() == self._pid  # a forked child does not
        states = self._states.read() if recording else None
        digests = states.digests if states is not None else {}
        if prepare is not None:
            prepare()
            states = self._states.read() if recording else None
        if states is None:
            return
        began = time.thread_time()
        flow = self.effects_of(source)
        reached = find_dependencies(
            flow, namespace, self._hidden, self._timed, seconds=self._budget.seconds / 2
        )
        rebound = self._watch.rebound(namespace)  # since the last run, by no cell of ours
        pending = Pending(
            cell=cell,
            source=source,
            execution_count=execution_count,
            started=time.time(),
            clock=time.perf_counter(),
            states=states,
            generators=self._watch.generators(
                namespace, self._users({*flow.reads, *reached.names, *rebound})
            ),
            settings=self._settings.read(source, reached.packages, reached.variables),
            reached=reached,
            writes=self._users(flow.writes),
            calls=bool(flow.paths or flow.items),
            budget=self._budget,
            outputs=Outputs(timed=reads_clock(reached.nondeterministic_calls)),
            between={
                name: (before, digests[name])
                for name, before in self._ended.items()
                if digests.get(name, before) != before
            },
        )
        pending.budget.charge(began)
        for name, place in sorted(reached.names.items()):
            if self._is_users(name) or is_result(name):
                pending.reads[name] = self.look(look_up(place, namespace), pending.budget)
        self._pending = pending
        self._files.start()
        self._files.runs(reached.files)
        self._imports.start()
        pending.started, pending.clock = time.time(), time.perf_counter()

    def stop_look(self) -> None:
        """End the look under way soon: what it has not come to is not looked at."""
        self._cut_short = True
        self._budget.stop()

    def end_cell(
        self,
        namespace: Mapping[str, Any],
        *,
        status: str = "ok",
        error: str | None = None,
        result: object = None,
        execution_count: int | None = None,
    ) -> Run | None:
        """Look at everything after a cell ran, and record the run.

        Args:
            namespace: The user's names.
            status: ``ok``, ``error`` or ``interrupted``.
            error: The error that ended it, as one line.
            result: The value of its last expression, or None.
            execution_count: The number that it has in ``In[...]`` after all, if it has one.

        Returns:
            The run as recorded; None where tracking is off.
        """
        self._files.stop()
        self._imports.stop()
        pending, self._pending = self._pending, None
        if pending is None or os.getpid() != self._pid:
            return None
        seconds = time.perf_counter() - pending.clock
        if pending.execution_count is not None and execution_count is not None:
            pending.execution_count = execution_count
        if len(self._took) >= _MOST_NAMES:
            self._took.clear()
        self._took[pending.cell] = seconds
        if not self._cut_short:
            pending.budget.seconds = self._allowance(seconds)
        states = self._states.read()
        rebound = self._users(self._watch.rebound(namespace))
        written = pending.writes | rebound
        generators = self._watch.generators(namespace, written | pending.reads.keys())
        if status != "ok":  # it may have ended before it came to set all that it sets
            written = {n for n in written if n in rebound or is_scalar(namespace.get(n))}
        reached = pending.reached
        self._timed = self._timed - written | reached.timed
        writes = self._changes(pending, namespace, written, seconds)
        bound = written | reached.writes | reached.sets.keys()
        run = Run(
            notebook=self.notebook,
            kernel=self.kernel,
            cell=pending.cell,
            source=pending.source,
            execution_count=pending.execution_count,
            started=pending.started,
            seconds=seconds,
            status=status,
            before=pending.states.digests,
            after=states.digests,
            generators_before=_records(pending.generators),
            generators_after=_records(generators),
            settings=pending.settings,
            reads=pending.reads,
            replaced=tuple(sorted(reached.replaced)),
            missing=tuple(sorted(self._users(reached.missing))),
            parts=_parts_read(reached.parts, pending.reads),
            writes=writes,
            in_place=tuple(sorted(writes.keys() - bound)),
            result=None if result is None else self.look(result, pending.budget),
            stdout=None if only_fetches(pending.source) else pending.outputs.stdout(),
            displays=pending.outputs.displays,
            error=None if error is None else without_noise(error[:MOST_ERROR]),
            files=self._files.read(
                pending.budget.seconds - pending.budget.used, str(self.ledger.path or ledger_path())
            ),
            loaded={name: self._files.look(path, 0.0) for name, path in self._imports.own.items()},
            wrote=self._files.written(str(self.ledger.path or ledger_path())),
            between=pending.between,
            imported=self._imports.only(pending.states.digests, states.digests),
            seeds=tuple(pending.seeds),
            timed=tuple(sorted(reached.timed)),
            nondeterministic_calls=(
                *sorted(reached.nondeterministic_calls),
                *(("hash",) if reached.hashes else ()),
            ),
            timing=tuple(sorted(reached.timing)),
            mixed=tuple(sorted(reached.mixed)),
            packages=tuple(sorted(reached.packages)),
            only_loader_seed_draws=reached.only_loader_seed_draws,
            loaders=reached.passive_loaders,
            counted=tuple(sorted(reached.counted)),
            heeds=tuple(sorted(reached.heeded)),
            code=self.code_of(pending.source),
            rank=self.rank,
            notes=(
                *states.notes,
                *(() if reached.complete else (_TOO_MUCH,)),
                *(() if len(written) <= _MOST_NAMES else (_TOO_MANY,)),
                *((_CUT_SHORT,) if self._cut_short else ()),
            ),
        )
        self._ended = run.after
        kept = pending.states.kept | states.kept
        for looks in (pending.generators, generators):
            kept |= {look.digest: look.state for look in looks.values()}
        self._last = run = replace(run, id=self.ledger.add(run, kept))
        if self._later is None:
            self._maintain()
        else:
            self._later(self._maintain)
        return run

    def _maintain(self) -> None:
        with suppress(LedgerError):  # the runs are kept; the next one meets the same fault
            self.ledger.maintain()  # the one in use by then

    def log_seed(self, seed: int, how: str) -> None:
        """Keep a seed that a command of ours applied, and which run asked for it.

        Args:
            seed: From 0 to 2**32-1.
            how: ``now``, ``each``, ``new`` or ``scope``.
        """
        pending = self._pending
        if pending is not None:
            pending.seeds.append((seed, how))
        self.ledger.log_seed(
            notebook=self.notebook,
            kernel=self.kernel,
            seed=seed,
            how=how,
            execution_count=None if pending is None else pending.execution_count,
            cell=None if pending is None else pending.cell,
        )

    def close(self) -> None:
        """Look at nothing any more, and give the ledger's file back."""
        self._pending = None
        self._files.stop()
        self._imports.stop()
        self.ledger.close()

    def _users(self, names: Iterable[str]) -> set[str]:
        return set(filter(self._is_users, names))

    def _is_users(self, name: str) -> bool:
        return not (name in self._hidden or name in self.config.ignore or shell_name(name))

    def look(self, value: object, budget: Budget) -> Fingerprint:
        """Name a value's content, as far as the time goes."""
        return fingerprint(value, memo=self._memo, budget=budget)

    def _changes(
        self, pending: Pending, namespace: Mapping[str, Any], written: set[str], seconds: float
    ) -> dict[str, Fingerprint]:
        """Name what the run made or changed, also through other names of the same objects."""
        named = [name for name in sorted(written) if type(namespace.get(name)) is not ModuleType]
        if len(named) > _MOST_NAMES:
            named.sort(key=pending.writes.__contains__, reverse=True)
            del named[_MOST_NAMES:]
        places = {name: ("", name) for name in named} | pending.reached.sets
        looks = {name: self._at(at, namespace, pending.budget) for name, at in places.items()}
        made = {name: value for name, value in looks.items() if value is not None}
        for name, before in pending.reads.items():
            place = pending.reached.names[name]
            if name not in made and before.kind not in _UNCHANGING and self._is_users(name):
                value = self._at(place, namespace, pending.budget)
                if value is not None and same(before, value) is False:
                    made[name] = value
        if pending.calls:  # else it touched nothing but the names that it set
            self._round += 1
        seen = pending.reads | made
        self.too_large = next((name for name, value in seen.items() if _is_too_large(value)), "")
        for name, value in seen.items():
            self._known.pop(name, None)
            if value.kind not in _UNCHANGING and value.exact:
                self._known[name] = Seen(value, self._round, 0.0)
        if pending.calls:
            limit = min(max(seconds * _SHARE, _LEAST_SWEEP), _MOST_SWEEP, pending.budget.left)
            made |= self._sweep(namespace, Budget(limit, reread=0, foreign=False))
        return made

    def _allowance(self, seconds: float) -> float:
        """Return how long a cell that takes ``seconds`` may be looked at: a hard limit."""
        return min(self.config.budget, self.config.budget * _REST + seconds * _SHARE)

    def _sweep(self, namespace: Mapping[str, Any], budget: Budget) -> dict[str, Fingerprint]:
        """Find variables that the run changed without naming them, as ``opt.step()`` does.

        Those looked at longest ago come first, but for those that take longer than there is time.
        A change is this run's only if the variable was looked at when the run before it ended;
        otherwise nobody knows whose it is.
        """
        changed = {}
        for name, known in list(self._known.items()):
            if known.round == self._round or budget.spent:
                break
            if known.seconds > budget.left:
                continue
            used = budget.used
            value = self._at(("", name), namespace, budget)
            del self._known[name]
            if value is None:
                continue
            seconds = budget.used - used
            if not value.exact:  # tried again where there is much more time
                self._known[name] = Seen(known.value, known.round, 2 * seconds)
                continue
            self._known[name] = Seen(value, self._round, seconds)
            if known.round == self._round - 1 and same(known.value, value) is False:
                changed[name] = value
        return changed

    def _at(
        self, place: tuple[str, str], namespace: Mapping[str, Any], budget: Budget
    ) -> Fingerprint | None:
        try:
            return self.look(look_up(place, namespace), budget)
        except KeyError:
            return None


def _records(looks: Mapping[str, Look]) -> dict[str, GeneratorState]:
    return {name: GeneratorState(look.type, look.digest) for name, look in looks.items()}


def _parts_read(
    parts: Mapping[str, set[str]], values: Mapping[str, Fingerprint]
) -> dict[str, tuple[str, ...]]:
    """Name the parts of values as fingerprints do, where these tell them all apart.

    A column of a data frame may be read as an attribute; any other name that is no part is that of
    a method or property, which may look at everything, but for those that only put something in.
    """
    found = {}
    for name, wanted in parts.items():
        known = values[name].parts if name in values else {}
        if known and values[name].kind in _FILLED:
            wanted = wanted - _PUTS  # noqa: PLW2901 -- the rest of it
        columns = {f"k:{part[2:]}" if part not in known else part for part in wanted}
        if known and columns <= known.keys():
            found[name] = tuple(sorted(columns))
    return found


def _is_too_large(value: Fingerprint) -> bool:
    return bool(value.sample) and not value.exact and not value.opaque

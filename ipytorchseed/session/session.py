"""Records runs, by inspecting the kernel before and after each cell."""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from functools import partial
from types import ModuleType
from typing import Any

from msgspec.structs import replace

from ipytorchseed.errors import LedgerError
from ipytorchseed.fingerprint import Budget
from ipytorchseed.introspection.ownership import is_of_library
from ipytorchseed.introspection.quiet import uncollected
from ipytorchseed.introspection.values import is_scalar, module_of, qualified_name, shell_name
from ipytorchseed.ledger.place import ledger_path
from ipytorchseed.ledger.records import READING, REPLACED, Outside, Run, SeedEntry, marked
from ipytorchseed.ledger.store import Ledger
from ipytorchseed.observe.asked import not_asked
from ipytorchseed.observe.observed import observed
from ipytorchseed.observe.watch import Seen, watch
from ipytorchseed.reads.cell import code_digest, effects_of_cell
from ipytorchseed.reads.effects import Effects
from ipytorchseed.reads.entropy import is_program
from ipytorchseed.reads.following import find_dependencies
from ipytorchseed.reads.patches import find_at
from ipytorchseed.reads.seeding import made_in_a_state
from ipytorchseed.reads.shell import prints_no_result
from ipytorchseed.rng.table import import_lazy
from ipytorchseed.session import hearing
from ipytorchseed.session.config import Config
from ipytorchseed.session.files import FileWatch
from ipytorchseed.session.identity import Identity
from ipytorchseed.session.importing import ImportWatch, follow_again, members_read
from ipytorchseed.session.kept import KeptInputs
from ipytorchseed.session.leftovers import leftovers, running
from ipytorchseed.session.named_files import find_files, texts_in, with_scripts
from ipytorchseed.session.noise import MOST_ERROR, without_noise
from ipytorchseed.session.outputs import outputs_of
from ipytorchseed.session.settings import Settings
from ipytorchseed.session.sources import NamespaceWatch, StateWatch, with_origins
from ipytorchseed.session.variables import Pending, Variables, digests_of, foremost, is_confined

# The time limit for inspecting a cell is the sum of these shares of the cell's duration and of the
# budget, but at most the budget.
_SHARE, _REST = 0.1, 0.25

# The maximum number of seeds to log for one run: a loop may apply any number.
_MOST_SEEDS = 100

_TOO_MUCH = "not all of your code could be followed: there is too much, or its source is gone"
_TOO_MANY = "too many variables to look at them all"
_CUT_SHORT = "the inspection was interrupted, so not all values are known"
_OVERLAPPED = "another cell ran at the same time, so its effects may be reported for this one"


class Session:
    """The recorder of the runs of a kernel.

    Args:
        notebook: The key of the notebook.
        ledger: The ledger in which runs are stored.
        transform: Converts a cell's text to Python, as the shell does.
        hidden: Names of the shell, which are not variables of the user.
        config: The configuration.
        later: Calls a function after the reply for the cell was sent.
        find_rank: Returns the rank of this process if several processes run the same notebook, else
            None. It is called until it returns a rank, which may be unknown at first.
        identity: The identity of an earlier session of this kernel, if there was one.

    Attributes:
        kernel: A unique name of this kernel's process.
        identity: Identifies cells across kernels.
        kept: Small inputs of runs in this kernel.
        variables: The fingerprints of the user's variables.
        originals: The original values of attributes that cells have set in packages, by name.
        pending: The run in progress, or None.
        last: The last recorded run, or None.
    """

    def __init__(  # noqa: PLR0913 -- each by name
        self,
        notebook: str,
        ledger: Ledger,
        transform: Callable[[str], str],
        *,
        hidden: Iterable[str] = (),
        config: Config | None = None,
        later: Callable[[Callable[[], object]], object] = lambda maintain: maintain(),
        find_rank: Callable[[], int | None] = lambda: None,
        identity: Identity | None = None,
    ) -> None:
        self.notebook = notebook
        if identity is None or identity.notebook != notebook:
            identity = Identity(notebook, uuid.uuid4().hex[:12])
        self.identity = identity
        self.kernel = identity.kernel
        self.ledger = ledger
        self.config = config or Config()
        self.kept = KeptInputs(lambda: self.config.keep_inputs)
        self.variables = Variables(self.kept)
        self.last: Run | None = None
        self._rank: int | None = None
        self._find_rank = find_rank
        self._later = later
        self._transform = transform
        self._hidden = frozenset(hidden)
        self._pid = os.getpid()
        self._states = StateWatch()
        self._settings = Settings()
        self._imports = ImportWatch()
        self._files = FileWatch(self._imports, self.kept)
        self._running: set[tuple[str, object]] = set()
        self._watch = NamespaceWatch()
        self._ended: Mapping[str, str] = {}
        self._took: dict[str, float] = {}
        self._timed: set[str] = set()
        self._patched: dict[str, tuple[str, str]] = {}
        self.originals: dict[str, Any] = {}
        self.pending: Pending | None = None
        self._budget = Budget()
        self._cut_short = False
        self._watching = False

    @property
    def history_key(self) -> str:
        """The key of runs and saved states in the ledger: the notebook, and any rank."""
        if self._rank is None:
            self._rank = self._find_rank()
        return self.notebook if self._rank is None else f"{self.notebook}, rank {self._rank}"

    def code_of(self, source: str) -> str:
        """Return the digest of a cell's code, without comments and layout."""
        return code_digest(source, self._transform)

    def effects_of(self, source: str) -> Effects:
        """Return the effects of a cell's code."""
        return effects_of_cell(source, self._transform)

    def cell_of(
        self, ident: str | None, source: str, saved: Callable[[str], Collection[str]]
    ) -> str:
        """Return the key of a cell that is about to run.

        Args:
            ident: The front end's id of the cell. None if it sends no id, or another id at each
                run.
            source: The cell's text.
            saved: Returns the ids in the notebook's file, given this id; nothing if the id is
                certainly not in the file. It is called if the cell has not run in this kernel.
        """
        if ident is None:
            return source.strip()
        if ident not in self.identity.keys:
            told = self.code_of(source), saved(ident), self.ledger, self.history_key
            self.identity.begin(ident, *told)
        return self.identity.keys[ident]

    def configure(self, config: Config, ledger: Ledger | None = None) -> None:
        """Apply a configuration.

        Args:
            config: The new configuration.
            ledger: The new ledger; None to keep the current ledger.
        """
        self.config = config
        if ledger is not None:
            self.ledger.close()
            self.ledger = ledger

    def outside(self) -> Outside:
        """Return the side effects of the running cell so far: files and connections."""
        return Outside(self._files.written(self._ours), tuple(self._files.connections.opened))

    @property
    def _ours(self) -> str:
        """The path of the ledger, whose files are not the user's."""
        return str(self.ledger.path or ledger_path())

    @uncollected
    def begin_cell(
        self,
        cell: str,
        source: str,
        execution_count: int | None,
        namespace: Mapping[str, Any],
        prepare: Callable[[], object] | None = None,
    ) -> None:
        """Inspect the kernel before a cell runs.

        Args:
            cell: The key of the cell.
            source: The text of the cell.
            execution_count: The number that the run will have in ``In[...]``.
            namespace: The user's namespace.
            prepare: Prepares the kernel for the cell, for example by seeding. It is called after
                the sources are compared with the end of the last run, and before the states at the
                start of this run are read.
        """
        self.pending = None
        self._cut_short = False
        self._budget = Budget(self._allowance(self._took.get(cell, 0.0)))
        if not self.config.tracking or os.getpid() != self._pid:  # a forked child
            if prepare is not None:
                prepare()
            return
        text = with_scripts(source)
        if self.last is None or "random" in text:
            import_lazy()  # so that the state before the first draw is known
        states = earlier = self._states.read()
        if prepare is not None:
            prepare()
            states = self._states.read()
        began = time.thread_time()
        effects = effects_of_cell(text, self._transform)
        half = self._budget.seconds / 2
        dependencies = find_dependencies(
            effects, namespace, self._hidden, self._timed, patched=self._patched, seconds=half
        )
        for name, place in dependencies.sets.items() - self._patched.items():
            if self.config.keep_inputs and is_of_library(place[0]):
                with suppress(KeyError):  # the cell creates the attribute
                    self.originals.setdefault(name, find_at(place))
        rebound = self._watch.rebound(namespace)  # since the last run, not by a recorded cell
        pending = Pending(
            cell=cell,
            source=source,
            execution_count=execution_count,
            states=states,
            generators=self._watch.generators(
                namespace, self._users({*effects.reads, *dependencies.names, *rebound})
            ),
            settings=self._settings.facts()
            if effects.inert
            else self._settings.read(source, dependencies.packages, dependencies.variables),
            effects=effects,
            dependencies=dependencies,
            confined=is_confined(dependencies, self._patched)
            or (effects.complete and not effects.paths),  # the cell uses no names
            budget=self._budget,
            outputs=outputs_of(effects, dependencies.nondeterministic_calls),
            between={
                name: (before, earlier.digests[name])
                for name, before in self._ended.items()
                if earlier.digests.get(name, before) != before
            },
        )
        pending.budget.charge(began)
        self.variables.read(pending, namespace, self.is_users)
        self.pending = pending
        self._files.clear()
        self._imports.clear()
        if not effects.inert:
            dependencies.texts.update(*map(texts_in, dependencies.files))
            programs = any(map(is_program, dependencies.nondeterministic_calls))
            self._files.start(pending.outputs.passed_by if programs else None)
            hearing.start(self._files)
            self._files.runs(dependencies.files)
            self._files.names(partial(find_files, dependencies.texts, dependencies.packages))
            self._imports.start()
            self._running = {*running()}
            first_read = partial(self._read_first, pending, namespace)
            self._watching = watch is not None and watch.start(namespace, first_read)
        pending.started, pending.clock = time.time(), time.perf_counter()

    def _read_first(self, pending: Pending, namespace: Mapping[str, Any], name: str) -> None:
        """Fingerprint a variable before its first read, if static analysis missed it."""
        known = name in pending.reads or name.startswith("__") or not self.is_users(name)
        value = namespace.get(name)
        # A library's function or class under its own name is not an input.
        constant = qualified_name(value) == name and is_of_library(module_of(value))
        if not known and not constant and not isinstance(value, ModuleType | None):
            pending.dependencies.names[name] = "", name
            pending.reads[name] = self.variables.look(value, pending.budget)

    def stop_look(self) -> None:
        """Stop the inspection in progress; values that were not inspected are skipped."""
        self._cut_short = True
        self._budget.stop()

    @uncollected
    def end_cell(
        self,
        namespace: Mapping[str, Any],
        *,
        status: str = "ok",
        error: str | None = None,
        result: object = None,
        execution_count: int | None = None,
    ) -> Run | None:
        """Inspect the kernel after a cell has run, and record the run.

        Args:
            namespace: The user's namespace.
            status: ``ok``, ``error`` or ``interrupted``.
            error: The error that ended the run, as one line.
            result: The value of the last expression, or None.
            execution_count: The final number in ``In[...]``, if there is one.

        Returns:
            The recorded run, or None if tracking is off.
        """
        pending, seen = self.pending, self.abandon()
        if pending is None or os.getpid() != self._pid:
            return None
        seconds = time.perf_counter() - pending.clock
        if pending.execution_count is not None and execution_count is not None:
            pending.execution_count = execution_count
        self._took[pending.cell] = seconds
        if not self._cut_short:
            pending.budget.seconds = self._allowance(seconds)
        states = pending.states
        if not pending.effects.inert:
            if self._imports.may_draw:
                import_lazy()
            states = self._states.read()
        rebound = self._users(self._watch.rebound(namespace))
        named = self._users(pending.effects.writes)
        all_bound = named | rebound
        written = foremost(all_bound, named)
        too_many = len(written) < len(all_bound)
        generators = self._watch.generators(namespace, written | pending.reads.keys())
        if status != "ok":  # the cell may have ended before it set all of its names
            written = {n for n in written if n in rebound or is_scalar(namespace.get(n))}
        dependencies, budget, own = pending.dependencies, pending.budget, self._imports.own
        began = time.thread_time()
        half = budget.left / 2
        found, sets = follow_again(own, pending.effects, namespace, self._hidden, half)
        budget.charge(began)
        dependencies.sets |= sets
        dependencies.nondeterministic_calls |= found.nondeterministic_calls if own else set()
        dependencies.hashes |= bool(own) and found.hashes
        self._patched |= dependencies.sets
        self._timed = self._timed - written | dependencies.timed
        writes = self.variables.changes(pending, namespace, written, seconds)
        for name, value in members_read(found, own, namespace):
            pending.reads.setdefault(name, self.variables.look(value, budget))
        pending.reads = marked(pending.reads, dependencies.timed, READING)
        writes = marked(writes, dependencies.timed, READING)
        bound = written | dependencies.writes | dependencies.sets.keys()
        result = pending.outputs.content(result)
        started = pending.states.digests
        pending.states = with_origins(pending.states, states, pending.may_seed)
        asked = sorted(self._asked(pending, namespace, seen))
        if dependencies.hashes:
            asked.append("hash")
        told = {
            _TOO_MUCH: not dependencies.complete,
            _TOO_MANY: too_many,
            _CUT_SHORT: self._cut_short,
            _OVERLAPPED: pending.overlapped,
        }
        run = Run(
            notebook=self.history_key,
            kernel=self.kernel,
            cell=pending.cell,
            source=pending.source,
            execution_count=pending.execution_count,
            started=pending.started,
            seconds=seconds,
            before=digests_of(pending.states, pending.generators),
            reads=marked(pending.reads, dependencies.replaced, REPLACED),
            actions=tuple(dependencies.actions),
            between=pending.between,
            seeds=tuple(pending.seeds),
            nondeterministic_calls={name: name not in dependencies.timing for name in asked},
            packages=tuple(sorted(dependencies.packages)),
            observed=None if seen is None else observed(seen, namespace, pending.reads.keys()),
            status=status,
            after=digests_of(states, generators),
            generators={
                name: look.type for name, look in {**pending.generators, **generators}.items()
            },
            settings=self._settings.learned(pending.settings, dependencies.actions),
            missing=tuple(sorted(self._users(dependencies.missing))),
            writes=writes,
            in_place=tuple(sorted(writes.keys() - bound)),
            outputs=pending.outputs.record(
                None if result is None else self.variables.result(result, pending.budget),
                None if error is None else without_noise(error[:MOST_ERROR]),
                printed=not prints_no_result(pending.source),
            ),
            files=self._files.read(pending.budget.seconds - pending.budget.used, self._ours),
            loaded={name: self._files.look(path, 0.0) for name, path in own.items()},
            outside=replace(
                self.outside(),
                left=() if pending.effects.inert else leftovers(self._running),
                importing=self._imports.seconds,
            ),
            imported=self._imports.only(started, states.digests),
            code=self.code_of(pending.source),
            notes=(*states.notes, *(note for note, applies in told.items() if applies)),
        )
        self._ended = states.digests
        kept = pending.states.kept | states.kept
        for look in (*pending.generators.values(), *generators.values()):
            kept[look.digest] = look.state
        self.last = run = replace(run, id=self.ledger.add(run, kept))
        self._later(self._maintain)
        return run

    def _asked(self, pending: Pending, namespace: Mapping[str, Any], seen: Seen | None) -> set[str]:
        """Return the nondeterministic functions that the cell called or may have called."""
        may = pending.dependencies.nondeterministic_calls
        asked = self._files.asked(may)
        if seen is not None and not (pending.dependencies.files or self._imports.own):
            asked -= not_asked(seen, namespace, may)
        heard = asked - may
        return asked - (heard & made_in_a_state(pending.source) if heard else set())

    def _maintain(self) -> None:
        hearing.search()
        with suppress(LedgerError):  # the runs are stored; the next one reports the same fault
            self.ledger.maintain()  # the ledger may have changed since the cell ended

    def log_seed(self, seed: int, how: str) -> None:
        """Log a seed that we applied, with the run in progress.

        For each run, a seed is logged only once, and at most 100 seeds are logged.

        Args:
            seed: The seed, from 0 to 2**32-1.
            how: See ``SeedEntry``.
        """
        pending, count, cell = self.pending, None, None
        if pending is not None:
            count, cell = pending.execution_count, pending.cell
            if (seed, how) in pending.seeds or len(pending.seeds) >= _MOST_SEEDS:
                return
            pending.seeds.append((seed, how))
        entry = SeedEntry(seed, how, self.ledger.clock(), self.notebook, self.kernel, count, cell)
        self.ledger.log_seed(entry)

    def abandon(self) -> Seen | None:
        """Stop recording the running cell, if there is one; return what was observed."""
        self.pending = None
        hearing.stop(self._files)
        self._imports.stop()
        watching, self._watching = self._watching, False
        return watch.stop() if watch is not None and watching else None

    def close(self) -> None:
        """Stop recording, and close the ledger."""
        self.abandon()
        hearing.restore()
        self.ledger.close()

    def _users(self, names: Iterable[str]) -> set[str]:
        return set(filter(self.is_users, names))

    def is_users(self, name: str) -> bool:
        """Return whether a name in the namespace is a variable of the user."""
        return not (name in self._hidden or name in self.config.ignore or shell_name(name))

    def _allowance(self, seconds: float) -> float:
        """Return the time limit for inspecting a cell that runs for ``seconds``."""
        return min(self.config.budget, self.config.budget * _REST + seconds * _SHARE)

"""Prepares experiments: recreates the states that two runs of a cell found."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, MutableMapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from msgspec.structs import replace
from xxhash import xxh3_64_hexdigest

from ipytorchseed.determinism.flag import plain
from ipytorchseed.experiment.captured import CapturedState
from ipytorchseed.experiment.engine import Engine, named
from ipytorchseed.experiment.imports import IN_DEPENDENCIES
from ipytorchseed.experiment.mixture import Mixture
from ipytorchseed.experiment.process import Process
from ipytorchseed.experiment.rewind import begin_as
from ipytorchseed.experiment.trials import UNREPEATED, Trial, find_trials, merged, mixed_run
from ipytorchseed.fingerprint.value import same
from ipytorchseed.introspection.values import shell_name
from ipytorchseed.ledger.records import Run
from ipytorchseed.ledger.store import Ledger
from ipytorchseed.patterns import lazy_pattern
from ipytorchseed.reads.following import find_dependencies
from ipytorchseed.reads.patches import place_of
from ipytorchseed.session.hearing import open_instead, redirected
from ipytorchseed.session.present import LiveKernel
from ipytorchseed.why.evidence import FOLDER, run_name
from ipytorchseed.why.explanation import Cause
from ipytorchseed.why.plan import Plan, Step, outside_of
from ipytorchseed.why.planner import make_plan
from ipytorchseed.why.unknown import may_alter, unseen

# Commands of this extension that affect later cells, so their cells are not run again.
_COMMANDS = lazy_pattern(r"(?m)^[ \t]*%(?:config|deterministic|replay|rng|seed +[a-z]+|why)\b")


# Calls the given function, then runs the cell of a run again.
Play = Callable[[Run, Callable[[], None]], object]


class Experiments(Mixture):
    """The states that two runs of a cell found, and the mixed states of experiments.

    ``build`` creates copies of both states, ``prepare`` binds names to a mixture of them, and
    ``leave`` restores the original state. The user's own objects are never changed.

    Attributes:
        namespace: The user's namespace.
        ledger: The ledger with the states of sources.
        run: The later run.
        against: The earlier run.
        causes: The suspects to test.
        present: The current kernel.
        hidden: Names in the namespace that belong to the shell.
        trials: The differences that can be restored.
        extra: Variables that differ but are no suspects, and sources that the earlier run drew
            from. They are restored only if the earlier result does not come back without them.
        stays: The reasons why causes cannot be restored, by the index of the cause.
        blocked: A clause that says why no experiment is possible; or empty.
    """

    namespace: MutableMapping[str, Any]
    ledger: Ledger
    run: Run
    against: Run
    causes: Sequence[Cause]
    present: LiveKernel
    hidden: frozenset[str]

    def __post_init__(self) -> None:
        super().__post_init__()
        run, against, present = self.run, self.against, self.present
        before = against.before
        moved = {name for name, each in before.items() if each != run.before.get(name, each)}
        drawn = {name for name in moved if before[name] != against.after.get(name)}
        digests = {before[name] for name in drawn | {cause.name for cause in self.causes} & moved}
        kept = digests - present.pruned(digests)
        self._moved = frozenset(name for name in drawn if before[name] in kept)
        self._files = present.kept_files(against)
        originals = present.originals_of(against, run)
        self._values = [present.kept_values(run), present.kept_values(against) | originals]
        known = kept | self._files.keys() | originals.keys()
        self.trials, self.stays = find_trials(run, against, self.causes, known)
        self.extra = Trial(states=self._moved - merged(self.trials).states)
        self._later = self._plan(run, self._values[0])
        self._earlier = self._plan_earlier() if merged(self.trials).values else Plan(against)
        self.blocked = self._find_obstacle()
        self._folder: TemporaryDirectory[str] | None = None

    @property
    def plan(self) -> Plan:
        """All cells that run again. The cells of the experiments come last."""
        own = [Step(self.run, outside=outside_of(self.run, self.present))]
        if merged(self.trials).text:
            own.append(Step(self.against, outside=outside_of(self.against, self.present)))
        makers = [*self._earlier.steps[:-1], *self._later.steps[:-1]]
        return Plan(self.run, tuple({step.run.id: step for step in [*makers, *own]}.values()))

    def _plan(self, run: Run, kept: Collection[str] = ()) -> Plan:
        """Plan the cells that recreate the values that a run found.

        Args:
            run: The run.
            kept: Variables that the run read and whose values are still in memory.
        """
        reads = {name: value for name, value in run.reads.items() if name not in kept}
        bare = replace(run, status="ok", files=(), reads=reads, missing=(*run.missing, *kept))
        return make_plan(bare, self.present, writes=False)

    def _plan_earlier(self) -> Plan:
        """Plan the cells that recreate the values that the earlier run found.

        Trials whose variables no cell recreates are removed.
        """
        reads, later = self.against.reads, self.run.reads
        wanted = {*merged(self.trials).values}
        alike = {name for name in unseen(reads, later) if same(reads[name], later[name])}
        kept = self._values[1].keys() | alike - wanted
        plan = self._plan(self.against, kept)
        if plan.blocked:
            only = {name: {name: reads[name]} for name in wanted - kept}
            runs = {name: replace(self.against, reads=own) for name, own in only.items()}
            open_ = {name for name, run in runs.items() if not self._plan(run).blocked}
            wanted &= {*open_, *kept}
            plan = self._plan(replace(self.against, reads={name: reads[name] for name in open_}))
        made = {name for step in self._later.steps[:-1] for name in step.run.writes}
        wanted -= {name for name in alike - made if self._is_altered_since(name)}
        wanted -= alike - made.union(*(step.run.writes for step in plan.steps[:-1]))
        for trial in [each for each in self.trials if not each.values <= wanted]:
            self.trials.remove(trial)
            self.stays |= dict.fromkeys(trial.causes, "no recorded cell restores it")
        return plan

    def _is_altered_since(self, name: str) -> bool:
        """Return whether a run may have altered an opaque variable since the later run."""
        users, run = self.present.users(name, None), self.run
        since = [each for each in users if (each.id or 0) >= (run.id or 0)]
        return any(may_alter(each, self.present.written(each), name, run.cell) for each in since)

    def _find_obstacle(self) -> str:
        unrepeated = any(cause.kind in UNREPEATED for cause in self.causes)
        if self.causes and not (self.trials or unrepeated):
            return "none of these differences can be restored"
        blocked = self._later.blocked or self._earlier.blocked
        if blocked:
            return blocked.rpartition(": ")[0] or blocked  # without the advice for a replay
        commands = [step.run for step in self.plan.steps if _COMMANDS.search(step.run.source)]
        if commands:
            return f"{run_name(commands[0], self.present.kernel)} uses commands of this extension"
        return ""

    def build(self, play: Play, limit: int | None = None) -> None:
        """Create copies of the values that both runs found.

        Args:
            play: Calls the given function, then runs the cell of a run again.
            limit: The maximum number of bytes of tensors and arrays in one copy; None for no limit.

        Raises:
            ReplayError: A value cannot be copied.
        """
        names = self._reachable()
        places = filter(None, map(place_of, names))
        engine = Engine(self.namespace, names, places, hidden=self.hidden, limit=limit)
        self.engine = engine
        if self._earlier.steps:
            self._make(self._earlier, play)
            engine.bind(self._values[1])
            self._found_earlier = replace(engine.captured(), names=named(self.namespace))
        self._make(self._later, play)
        engine.bind(self._values[0])
        engine.found = engine.captured()
        if self._earlier.steps:
            self._join(engine)
        for trial in [each for each in self.trials if not self._is_set(each)]:
            self.trials.remove(trial)
            self.stays |= dict.fromkeys(trial.causes, "a running kernel cannot change it any more")

    def _make(self, plan: Plan, play: Play) -> None:
        """Run the cells that recreate the values that a run found."""
        redirected.clear()
        self._begin(CapturedState())
        for step in plan.steps[:-1]:
            play(step.run, partial(self._begin_as, step))

    def prepare(self, trial: Trial) -> tuple[Run, Callable[[], None]]:
        """Bind names to copies, mixed as a trial requires.

        Returns:
            The record of the run to make, and a function to call before its cell.

        Raises:
            ReplayError: A value cannot be copied.
        """
        self._put_back(trial)
        open_instead({path: self._copy_of(path) for path in trial.files})
        for name in {*self.run.missing, *trial.unbound} - trial.values:
            self.namespace.pop(name, None)
        record = mixed_run(self.run, self.against, trial)
        return record, partial(self._begin_as, Step(record))

    @staticmethod
    def unreached(trial: Trial) -> frozenset[str]:
        """Return the files of a trial that no experiment restored."""
        return trial.files - redirected

    @property
    def lost(self) -> str:
        """Return why running on copies may change the result; "" if no reason is known."""
        cut = [name for name in self.engine.cut if name in self.run.reads]
        left_out = [name for name in self._left_out if name in self.run.reads]
        if left_out:
            return f"`{left_out[0]}` cannot be copied"
        return f"the autograd graph behind {cut[0]} cannot be copied" if cut else ""

    def _copy_of(self, path: str) -> str:
        """Return the path of a copy of a file, with the content that the earlier run read.

        If that run found no file, there is no file at this path.
        """
        self._folder = self._folder or TemporaryDirectory(prefix="its-")
        copy = Path(self._folder.name, xxh3_64_hexdigest(path.encode()), Path(path).name)
        content = self._files[path]
        if content is not None and not copy.exists():
            copy.parent.mkdir(exist_ok=True)
            copy.write_bytes(content)
        return str(copy)

    def leave(self) -> list[str]:
        """Restore the state before ``build``; return the names of what was not restored."""
        open_instead({})
        if self._folder is not None:
            self._folder.cleanup()
        return self.engine.leave() if hasattr(self, "engine") else []

    def _begin_as(self, step: Step) -> None:
        """Restore the process to the start of a run.

        Raises:
            OSError: The working folder of the run was removed.
        """
        if step.run.settings.get(FOLDER):
            os.chdir(step.run.settings[FOLDER])
        name = run_name(step.run, self.present.kernel)
        begin_as(step, name, self.ledger, self.engine.generators())

    def _is_set(self, trial: Trial) -> bool:
        """Return whether the settings of a trial have the right values after restoring."""
        if not trial.settings:
            return True
        try:
            record, begin = self.prepare(trial)
            begin()
        except OSError:  # the folder was removed
            return False
        process = Process.now()
        flags = {name: plain(value) for name, value in process.flags.items()}
        now = {**record.settings, **flags, **process.libraries}
        wanted = trial.settings & record.settings.keys()
        return all(now[name] == record.settings[name] for name in wanted)

    def _reachable(self) -> list[str]:
        """Return the variables and the attributes of modules that the cells may reach."""
        names, scope = {*chain(*self._values)}, (self.namespace, self.hidden)
        for step in self.plan.steps:
            run, effects = step.run, self.present.effects(step.run)
            found = find_dependencies(effects, *scope, seconds=IN_DEPENDENCIES)
            if not found.complete:
                names |= named(self.namespace).keys()
            names |= {*run.reads, *run.writes, *effects.reads, *effects.writes, *found.writes}
            names |= {".".join(filter(None, place)) for place in found.names.values()}
        return [name for name in sorted(names) if not (shell_name(name) or name in self.hidden)]

    def _join(self, engine: Engine) -> None:
        """Merge the trials of variables that share objects and cannot be separated."""
        shared = set[frozenset[str]]()
        for held in (engine.captured().names, self._found_earlier.names):
            made = {name: value for name, value in held.items() if engine.replaces(name, value)}
            shared |= {frozenset(pair) for pair in CapturedState(made).copy()[1].joined}
        then, now = self.against.reads, self.run.reads
        both = [name for name in then if name in now]
        differ = frozenset(name for name in both if same(then[name], now[name]) is False)
        joined: dict[frozenset[str], list[Trial]] = {}
        for trial in self.trials:
            values, before = trial.values, frozenset[str]()
            while values != before:
                before = values
                values = values.union(*(pair for pair in shared if pair & values))
            joined.setdefault(values, []).append(trial)
        self.trials = []
        for values, trials in joined.items():
            names = values & (merged(trials).values | differ)
            groups, can = [*self._groups], not values
            if len(values) > 1:
                with suppress(Exception):  # copying may run user code
                    can = self._separate(names)
            self._groups = self._groups if can else groups
            self.trials += trials if can else [merged([*trials, Trial(values=values)])]
        whole = merged(self.trials)
        others = differ - whole.values - whole.states
        self.extra = Trial(values=others, states=self._moved - whole.states)

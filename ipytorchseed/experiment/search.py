"""Searches for the causes of a changed result by experiments."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import PurePath

from msgspec import Struct

from ipytorchseed.experiment.parts import Path
from ipytorchseed.experiment.proving import Experiments
from ipytorchseed.experiment.trials import UNREPEATED, Key, Trial, compare, merged
from ipytorchseed.ledger.records import Finding, Part, Run
from ipytorchseed.patterns import lazy_pattern
from ipytorchseed.why import experiments as judging
from ipytorchseed.why.changes import find_changes
from ipytorchseed.why.experiments import NO_EFFECT, PROVED, Result, Verdict
from ipytorchseed.why.explanation import Cause, Change, Explanation, suspect
from ipytorchseed.why.unknown import unseen
from ipytorchseed.why.words import listed

# The maximum number of trials. If there are more suspects, the least likely ones are restored
# together.
_MOST = 6

# After this many runs of the cell, the search for smaller parts ends.
_RUNS = 12

# The maximum numbers of differing parts to search, and of parts that an answer names.
_PARTS, _NAMED = 64, 3

# The variable that holds a generator, in the generator's name: ``model`` in ``model.dropout.rng``.
_VARIABLE = lazy_pattern(r"\w*")

# The maximum number of characters of a change that is written in a sentence.
_SHORT = 32


class Search(Struct, eq=False, dict=True):
    """The search for the causes of a changed result.

    Attributes:
        said: The explanation whose suspects are tested.
        experiments: The experiments, after ``build``.
        run: Calls the given function, then runs the cell of a record. Returns the new run.
        tell: Called before each run with its number, the maximum number of runs, and its purpose.
        until: The deadline for the search for smaller parts, by ``time.monotonic``.
    """

    said: Explanation
    experiments: Experiments
    run: Callable[[Run, Callable[[], None]], Run]
    tell: Callable[[int, int, str], None]
    until: float = float("inf")

    def __post_init__(self) -> None:
        self._longest = 0.0
        extra = self.experiments.extra
        self._extra = ", ".join(sorted(extra.values | extra.states))
        self._trials = _labelled(self.said.suspects, self.experiments.trials)
        self._most = judging.count_most(len(self._trials) + bool(self._extra))
        self._runs: dict[Trial, Run] = {}

    def find(self) -> dict[int, Finding]:
        """Run the experiments; return the finding about each suspect, by its index.

        If there is no suspect, the finding about the cell is at index 0.

        Raises:
            IPyTorchSeedError: The experiments are not possible, for example because a value cannot
                be copied.
            OSError: The working folder of one of the runs was removed.
        """
        first = self._made(Trial())
        volatile, self._compared = _find_compared(self.said, first)
        changed = {*map(_key, self.said.changed)}
        self._passed_over = (changed | _inputs(self.said)) - {*map(_key, self._compared)}
        result = judging.RESULT
        if volatile:
            result = f"{judging.EARLIER}'s {listed(sorted(map(_name, self._compared)))}"
        found: dict[str, Verdict] = {}
        if self._trials:
            lost = self.experiments.lost
            found = judging.judge([*self._trials], self._result_with, lost, self._extra, result)
        found = {label: self._doubted(label, verdict) for label, verdict in found.items()}
        parts = dict.fromkeys(found, tuple[Part, ...]())
        self._most = max(self._most, _RUNS)
        with suppress(Exception, KeyboardInterrupt):  # findings so far are kept
            for label in found:
                parts[label] = self._narrowed(label, found)
        said, causes = self.said, self.said.suspects
        if not causes:
            hidden = unseen(said.against.reads, said.run.reads) if said.against else []
            return {0: judging.judge_repeat(self._result_with(frozenset()), hidden)}
        findings = self._unrepeated(volatile, found)
        for label, verdict in found.items():
            places = self._trials[label].causes
            for place in places:
                others = [suspect(causes[each]) for each in sorted(places - {place})]
                it = listed(map(_say_part, parts[label])) if parts[label] else "it"
                findings[place] = verdict.find(it, others, parts[label])
        return findings

    def _together(self, labels: Iterable[str]) -> Trial:
        trials = {**self._trials, self._extra: self.experiments.extra}
        return merged(trials[label] for label in labels)

    def _result_with(self, labels: frozenset[str]) -> Result:
        """Return which run's result the cell gives with some suspects restored."""
        return self._result(self._together(labels), ", ".join(sorted(labels)))

    def _result(self, trial: Trial, restored: str) -> Result:
        said, made = self.said, self._made(trial, f"with {restored} restored …")
        earlier = said.against or said.run
        return compare(said.run, earlier, made, self._compared, self._passed_over)

    def _made(self, trial: Trial, what: str = "as it was …") -> Run:
        """Return the run of an experiment. Each experiment runs once."""
        if trial not in self._runs:
            self.tell(len(self._runs) + 1, self._most, what)
            began = time.monotonic()
            self._runs[trial] = self.run(*self.experiments.prepare(trial))
            self._longest = max(self._longest, time.monotonic() - began)
        return self._runs[trial]

    def _doubted(self, label: str, verdict: Verdict) -> Verdict:
        """Return the verdict, or another one if the experiments do not support it.

        A file that native code opens was not restored, so it was not tested. If restoring a suspect
        changed another recorded result, the suspect is not cleared.
        """
        trial = self._trials[label]
        tried = frozenset(path for each in self._runs for path in each.files)
        if unreached := self.experiments.unreached(trial) & tried:
            names = listed(sorted(f"`{PurePath(each).name}`" for each in unreached))
            return Verdict(
                f"{judging.UNTESTED}: the cell does not open {names} with Python's `open`"
            )
        if verdict.level != NO_EFFECT or trial not in self._runs:
            return verdict
        touched = {*map(_key, find_changes(self.said.run, self._runs[trial]))}
        held = {_VARIABLE.match(name)[0] for name in trial.states}  # type: ignore[index] # a name
        own = {("variable", name) for name in trial.values | held}
        also = touched & {*map(_key, self.said.changed)} - own
        if not also:
            return verdict
        what = listed(sorted(name or what for what, name in also))
        return Verdict(f"{judging.UNPROVED}: restoring {judging.IT} changes {what}")

    def _narrowed(self, label: str, found: Mapping[str, Verdict]) -> tuple[Part, ...]:
        """Return the parts of a proved suspect that suffice, if any."""
        trial = self._trials[label]
        name = next(iter(trial.values), "")
        is_one = len(trial.causes) == 1 and trial == Trial(trial.causes, values=frozenset({name}))
        if found[label].level != PROVED or not is_one:
            return ()
        needed = {each for each in found if found[each].level == PROVED}
        for whole in ({label}, needed, {*needed, self._extra}):
            known = self._together(whole) in self._runs
            if known and self._result_with(frozenset(whole)) is Result.EARLIER:
                paths = self._find_parts(name, self._together(whole - {label}))
                return tuple(self.experiments.describe(name, path) for path in paths)
        return ()

    def _find_parts(self, name: str, rest: Trial) -> Sequence[Path]:
        """Find parts of a variable that suffice for the earlier result.

        Args:
            name: The variable.
            rest: What else is restored.

        Returns:
            The paths of the parts; empty if naming parts says no more than naming the variable.
        """

        def gives(paths: Sequence[Path]) -> bool:
            trial = rest | Trial(parts=frozenset((name, path) for path in paths))
            is_late = time.monotonic() + 2 * self._longest >= self.until
            if trial not in self._runs and (is_late or len(self._runs) >= _RUNS):
                return False
            return self._result(trial, f"parts of {name}") is Result.EARLIER

        found: Sequence[Path] = ()
        path: Path = ()
        while 0 < len(parts := self.experiments.parts(name, path)) <= _PARTS:
            fewer = judging.minimize(parts, gives)
            if len(fewer) > _NAMED or len(fewer) == len(parts) > 1:
                break
            known = len(parts) > 1 or self.experiments.are_all(name, path, parts)
            if not (known or gives(parts)):
                break
            found, path = fewer, fewer[0]
            if len(found) > 1:
                break
        return found

    def _unrepeated(self, volatile: set[Key], found: Mapping[str, Verdict]) -> dict[int, Finding]:
        """Return the findings about clocks, entropy and nondeterministic operations."""
        suspects, again = self.said.suspects, self._result_with(frozenset())
        places = [place for place, each in enumerate(suspects) if each.kind in UNREPEATED]
        names = sorted(name or what for what, name in volatile)
        settled = any(each.level == PROVED for each in found.values())
        alone = len(places) == 1 and not self.experiments.lost
        finding = judging.judge_unrepeated(again, names, settled=settled, alone=alone)
        return {} if finding is None else dict.fromkeys(places, finding)


def _find_compared(said: Explanation, first: Run) -> tuple[set[Key], list[Change]]:
    """Return the changes that every run shows, and those that experiments compare.

    A change of a suspect, such as a counter, is compared only if nothing else changed.

    Args:
        said: The explanation.
        first: The outcome of a rerun with nothing restored.
    """
    volatile = {*map(_key, find_changes(said.run, first))}
    changed, suspects = {*map(_key, said.changed)}, _inputs(said)
    # Without a stable result, a restored counter would only prove itself.
    if volatile and (not volatile <= changed or not changed - volatile - suspects):
        volatile = set()
    stable = [each for each in said.changed if _key(each) not in volatile]
    return volatile, [each for each in stable if _key(each) not in suspects] or stable


def _inputs(said: Explanation) -> set[Key]:
    """Return the keys of changes of variables that are suspects."""
    return {("variable", each.name) for each in said.suspects if each.kind == "input"}


def _key(change: Change) -> Key:
    return change.what, change.name


def _say_part(part: Part) -> str:
    """Return a part of a variable as code, with its change if it shows short values."""
    is_short = " → " in part.detail and len(part.detail) <= _SHORT
    return f"`{part.path}` ({part.detail})" if is_short else f"`{part.path}`"


def _name(change: Change) -> str:
    return f"`{change.name}`" if change.name else change.what


def _labelled(causes: Sequence[Cause], trials: Sequence[Trial]) -> dict[str, Trial]:
    """Return trials by a label that names their causes, at most ``_MOST`` of them."""
    if len(trials) > _MOST:
        trials = [*trials[: _MOST - 1], merged(trials[_MOST - 1 :])]
    labelled: dict[str, Trial] = {}
    for trial in trials:
        chosen = [causes[place] for place in sorted(trial.causes)]
        label = " and ".join(map(suspect, chosen))
        labelled[f"{chosen[0].kind} {label}" if label in labelled else label] = trial
    return labelled

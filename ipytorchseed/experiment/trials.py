"""Trials: what an experiment restores for each cause, and how its result compares."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from ipytorchseed.determinism.libraries import BY_NAME
from ipytorchseed.determinism.table import FLAGS
from ipytorchseed.experiment.parts import Path
from ipytorchseed.fingerprint.value import same
from ipytorchseed.ledger.records import Run
from ipytorchseed.session.settings import CHANGED
from ipytorchseed.why.changes import find_changes, not_compared
from ipytorchseed.why.evidence import FOLDER
from ipytorchseed.why.experiments import Result
from ipytorchseed.why.explanation import Cause, Change

# What a change is about: its ``what`` and ``name``.
Key = tuple[str, str]


class Trial(Struct, frozen=True):
    """A set of differences that an experiment restores together.

    Attributes:
        causes: The indices of the causes.
        text: Whether the cell's text is restored.
        states: The sources and generators to restore.
        settings: The flags, environment variables and library settings to restore; also the working
            folder.
        values: The variables to restore.
        unbound: The variables to unbind, since the earlier run did not find them.
        files: The files to restore.
        parts: The parts of variables to restore, each as the variable's name and the part's path.
    """

    causes: frozenset[int] = frozenset()
    text: bool = False
    states: frozenset[str] = frozenset()
    settings: frozenset[str] = frozenset()
    values: frozenset[str] = frozenset()
    unbound: frozenset[str] = frozenset()
    files: frozenset[str] = frozenset()
    parts: frozenset[tuple[str, Path]] = frozenset()

    def __or__(self, other: Trial) -> Trial:
        """Return the trial that restores both."""
        fields = self.__struct_fields__
        return Trial(*(getattr(self, name) | getattr(other, name) for name in fields))


def merged(trials: Iterable[Trial]) -> Trial:
    """Return one trial that restores what any of the given trials restores."""
    whole = Trial()
    for trial in trials:
        whole |= trial
    return whole


def find_trials(
    run: Run, against: Run, causes: Sequence[Cause], kept: Collection[str]
) -> tuple[list[Trial], dict[int, str]]:
    """Return the trials that restore each cause.

    Args:
        run: The later run.
        against: The earlier run.
        causes: The causes.
        kept: What is still stored: digests of states, paths of files, and names of attributes of
            packages.

    Returns:
        The trials, and the reasons why causes cannot be restored, by the index of the cause.
    """
    trials: dict[Trial, Trial] = {}
    stays: dict[int, str] = {}
    for place, cause in enumerate(causes):
        found = _trial(run, against, cause, kept)
        if isinstance(found, str):
            stays[place] = found
        else:
            trials[found] = trials.get(found, found) | Trial(causes=frozenset({place}))
    return [*trials.values()], stays


# Kinds of causes that cannot be restored, since they act in every run.
UNREPEATED = {"entropy": "it is different every time", "operation": "it does not repeat"}


def _trial(run: Run, against: Run, cause: Cause, kept: Collection[str]) -> Trial | str:
    """Return the trial for a cause, or why the cause cannot be restored."""
    if cause.kind == "code":
        loaded = sorted({**run.loaded, **against.loaded})
        return f"importing `{loaded[0]}` runs its code only once" if loaded else Trial(text=True)
    if cause.kind in _BY_KIND:
        return _BY_KIND[cause.kind](run, against, cause.name, kept)
    return UNREPEATED.get(cause.kind) or _trial_of_setting(against, cause.name)


def _trial_of_source(run: Run, against: Run, name: str, kept: Collection[str]) -> Trial | str:
    if name not in against.before or name not in run.before:
        seen = name in {**against.after, **run.before}
        return "its earlier state was not recorded" if seen else "its state cannot be read"
    known = against.before[name] in kept
    return Trial(states=frozenset({name})) if known else "its earlier state is no longer kept"


def _trial_of_file(run: Run, against: Run, path: str, kept: Collection[str]) -> Trial | str:
    moved = run.settings.get(FOLDER) != against.settings.get(FOLDER)
    if moved and path not in {file.path for file in against.files}:
        return Trial(settings=frozenset({FOLDER}))
    return Trial(files=frozenset({path})) if path in kept else "its earlier content is not kept"


def _trial_of_setting(against: Run, name: str) -> Trial | str:
    if name in BY_NAME and not BY_NAME[name].can_be(against.settings.get(name)):
        digests = BY_NAME[name].digests
        return "its earlier content is not kept" if digests else "no function restores it"
    if name not in against.settings and not name.isupper():
        return "its effect is not recorded"
    read_at_start = name in {flag.name for flag in FLAGS}
    settable = name in BY_NAME or name[:6] == "torch." or (name.isupper() and not read_at_start)
    followers = {flag.name for flag in FLAGS if flag.changes_with == name}
    whole = frozenset({name, *followers})
    return Trial(settings=whole) if settable else "a running kernel cannot change it"


def _trial_of_input(run: Run, against: Run, name: str, kept: Collection[str]) -> Trial | str:
    if name not in against.reads and name not in kept:
        known = name in against.missing and "." not in name
        return Trial(unbound=frozenset({name})) if known else "its earlier value was not recorded"
    if any(name in each.reads and each.reads[name].opaque for each in (against, run)):
        return "it cannot be inspected"
    return Trial(values=frozenset({name}))


_BY_KIND = {"rng": _trial_of_source, "input": _trial_of_input, "file": _trial_of_file}


def mixed_run(run: Run, against: Run, trial: Trial) -> Run:
    """Return a record of the later run with a trial's differences restored.

    Args:
        run: The later run.
        against: The earlier run, whose values are restored.
        trial: What to restore.
    """
    known = {name for name in trial.settings if name in against.settings or name.isupper()}
    then = {name: against.settings.get(name, CHANGED.get(name)) for name in known}
    states = {n: digest for n, digest in against.before.items() if n in trial.states}
    return replace(
        run,
        source=against.source if trial.text else run.source,
        before={**run.before, **states},
        settings={**run.settings, **then},
    )


def compare(
    run: Run, against: Run, made: Run, changed: Sequence[Change], volatile: Collection[Key] = ()
) -> Result:
    """Return which of two runs a rerun agrees with.

    Args:
        run: The later run.
        against: The earlier run.
        made: The outcome of the rerun.
        changed: The differences between the two runs. The rerun agrees with a run only if all of
            these are known to be equal. Aliases of objects that the cell changes are excluded,
            since they do not refer to the copies.
        volatile: The changes that are not compared.
    """
    other_names = {*run.in_place} - run.reads.keys() - {*made.in_place}
    ignored = {*volatile, *(("variable", name) for name in other_names)}

    def compared(changes: Iterable[Change]) -> list[Change]:
        return [each for each in changes if (each.what, each.name) not in ignored]

    wanted = compared(changed)
    for known, result in ((against, Result.EARLIER), (run, Result.LATER)):
        alike = wanted and all(_is_alike(each, known, made) for each in wanted)
        if alike and not compared(find_changes(known, made)):
            return result
    return Result.OTHER


def _is_alike(change: Change, known: Run, made: Run) -> bool:
    """Return whether two runs are known to be equal in the result that a change names."""
    if change.what == "variable":
        one, other = ({**run.reads, **run.writes}.get(change.name) for run in (known, made))
        return one is not None and other is not None and same(one, other) is True
    word = {"result": "result", "stdout": "printed", "display": "displayed"}.get(change.what)
    return word is None or word not in " ".join(not_compared(known.outputs, made.outputs))

"""Explanations without a run, one for each kind of answer of ``%why``."""

from __future__ import annotations

import itertools

import numpy as np
import torch
from IPython.core.inputtransformer2 import TransformerManager
from msgspec.structs import replace

from ipytorchseed.fingerprint.value import Fingerprint
from ipytorchseed.ledger.records import FileRead
from ipytorchseed.reads.cell import effects_of_cell
from ipytorchseed.reads.following import find_dependencies
from ipytorchseed.reads.writers import written_to
from ipytorchseed.reads.written import written
from ipytorchseed.rng.position import Position
from ipytorchseed.why.explain import explain as _explain
from tests.records import changed, make_run

transform = TransformerManager().transform_cell

START, TRAINED, SHUFFLED, AGAIN = (
    "91ce0" * 3 + "1",
    "4d70a" * 3 + "2",
    "b6a8f" * 3 + "3",
    "e84b1" * 3 + "4",
)
POSITIONS = {
    START: Position(42, 0),
    TRAINED: Position(42, 660),
    SHUFFLED: Position(42, 662),
    AGAIN: Position(42, 1324),
}
CURVES = (
    tuple(2.3 / (1 + step / 3) for step in range(40)),
    tuple(1.9 / (1 + step / 4) for step in range(40)),
)


class States:
    """Evidence with four states and the runs below; the last run is the current state."""

    def __init__(self, runs=(), kernel="k"):
        self.runs = runs
        self.kernel = kernel
        self.found = {}

    def leads(self, _before, _after, _most=0):
        """Return that draws may lead from one state to the other."""
        return True

    def written(self, run):
        """Return the values that the code writes as literals."""
        return written(run.source)

    def findings(self, run, against):
        """Return the findings of experiments on two runs."""
        return self.found.get((run.id, against.id))

    def settings_now(self, _):
        """Return the settings of the last run."""
        return self.runs[-1].settings

    def makers(self, name, digest):
        """Return the runs that made a variable, the newest first."""
        return [
            run for run in self.runs[::-1] if getattr(run.writes.get(name), "digest", "") == digest
        ]

    def setters(self, name, reader):
        """Return the earlier runs that may have set a variable, the newest first."""
        return [
            run
            for run in self.runs[::-1]
            if (reader is None or run.id < reader.id) and name in run.writes
        ]

    def users(self, name, reader):
        """Return the earlier runs that read a variable since it was set, the newest first."""
        earlier = [run for run in self.runs[::-1] if reader is None or run.id < reader.id]
        since = itertools.takewhile(lambda run: name not in run.writes, earlier)
        return [run for run in since if name in run.reads]

    def writers(self, path, reader):
        """Return the earlier runs that wrote a file, the newest first."""
        return [run for run in self.runs[::-1] if run.id < reader.id and path in run.outside.wrote]

    def effects(self, run):
        """Return the effects of the code."""
        return effects_of_cell(run.source, transform)

    def sends_to(self, run, opened):
        """Return the targets that the code writes to."""
        return written_to(run.source, self.effects(run), opened)

    def latest(self, run):  # noqa: ARG002 -- as ``States``
        """Return the runs, the newest first."""
        return self.runs[::-1]

    def last(self, name):
        """Return the last run."""
        for run in self.runs[::-1]:
            value = run.writes.get(name) or run.reads.get(name)
            if value is not None:
                return value
        return None

    def is_bound(self, _name):
        """Return True."""
        return True

    def met_before(self, run):
        """Return the packages of earlier runs."""
        return {met for each in self.runs if each.id < run.id for met in each.packages}

    def is_file(self, _path):
        """Return that there is no file."""
        return False

    def pruned(self, _digests):
        """Return that nothing was pruned."""
        return set()

    def changed_files(self, run):
        """Return the files that changed before the last run."""
        now = {file.path: file for file in self.runs[-1].files}
        return [file.path for file in run.files if file.same(now.get(file.path, file)) is False]

    def position(self, _name, digest):
        """Return the position of a state."""
        return POSITIONS.get(digest)

    def is_fresh(self, _digest):
        """Return that it is unknown."""

    def draws(self, before, after):
        """Return the draws between two states."""
        first, last = POSITIONS.get(before), POSITIONS.get(after)
        ahead = last.draws - first.draws if first and last else -1
        return ahead if ahead >= 0 else None


def explain(later, earlier, history, states):
    """Explain as the kernel of the given runs does."""
    return _explain(later, earlier, history, states, present=states)


def actions_of(source):
    """Return the actions of a text as recorded in a notebook with usual imports."""
    found = find_dependencies(
        effects_of_cell(source, transform), {"np": np, "torch": torch}
    ).actions
    return tuple(found)


def run(number, source="loss = train(model)", **more):
    """Make a record of a run."""
    given = {
        "notebook": "n", "kernel": "k", "cell": source[:5], "source": source, "code": source,
        "execution_count": number, "started": 0.0, "seconds": 0.1, "status": "ok", "id": number,
        "settings": {"torch.num_threads": 2, "python": "3.11.7", "PYTHONHASHSEED": "random"},
        "packages": ("torch",), "actions": actions_of(source),
    }  # fmt: skip
    return make_run(**{**given, **more})


def value(digest, kind="float", summary="", **more):
    """Make the fingerprint of a value."""
    return Fingerprint(digest * 4, kind, summary, **more)


def number(it):
    """Make the fingerprint of a number."""
    return value(f"{abs(hash(it)) % 9999:04d}", "float", f"{it}", series=(it,))


def states(before, after):
    """Return the states of torch's source at the start and the end."""
    return {
        "before": {"python": "a3f0" * 4, "torch.cpu": before},
        "after": {"python": "a3f0" * 4, "torch.cpu": after},
    }


UNTRAINED = value(
    "aa01",
    "module",
    "Net of 4 parameters",
    parts={"mode": "train", "p:a": "1", "p:b": "1", "p:c": "1", "p:d": "1"},
)
DONE = value(
    "bb02",
    "module",
    "Net of 4 parameters",
    parts={"mode": "train", "p:a": "2", "p:b": "2", "p:c": "2", "p:d": "2"},
)
MORE = value(
    "cc03",
    "module",
    "Net of 4 parameters",
    parts={"mode": "train", "p:a": "3", "p:b": "3", "p:c": "3", "p:d": "3"},
)

MAKE = run(3, "model = Net()", **states(START, START), writes={"model": UNTRAINED})
FIRST = run(
    5,
    **states(START, TRAINED),
    reads={"model": UNTRAINED},
    writes={"model": DONE, "loss": number(2.3021)},
)
PEEK = run(7, "next(iter(loader))", **states(TRAINED, SHUFFLED))
AGAINST = run(
    9,
    **states(SHUFFLED, AGAIN),
    reads={"model": DONE},
    writes={"model": MORE, "loss": number(1.9817)},
)

_PLAIN = run(2, "total = sum(values)", writes={"total": number(10.0)})
_EDITED = "def mean(values):\n    return sum(values) / (len(values) - 1)"


def _trained():
    runs = [MAKE, FIRST, PEEK, AGAINST]
    return explain(AGAINST, FIRST, runs[1:3], States(runs))


def _between():
    moved = replace(AGAINST, between={"torch.cpu": (TRAINED, SHUFFLED)}, reads={"model": UNTRAINED})
    first = replace(FIRST, writes={"losses": value("01", "list", "list of 40", series=CURVES[0])})
    moved = replace(moved, writes={"losses": value("02", "list", "list of 40", series=CURVES[1])})
    return explain(moved, first, [first], States([MAKE, first, moved]))


def _edited():
    before = run(
        2,
        _EDITED.replace(" - 1", ""),
        cell="mean",
        writes={"mean": value("01", "function", "mean")},
    )
    after = run(4, _EDITED, cell="mean", writes={"mean": value("02", "function", "mean")})
    return explain(after, before, [before], States([before, after]))


def _outside():
    later = changed(
        _PLAIN,
        id=6, execution_count=6, writes={"total": number(11.5)}, nondeterministic_calls=("numpy.random.default_rng",),
        files=(FileRead("/home/ada/experiments/2026/measurements with a long name/people.csv", 1204, "77" * 8),),
    )  # fmt: skip
    earlier = changed(
        _PLAIN,
        nondeterministic_calls=later.nondeterministic_calls,
        files=(
            FileRead(
                "/home/ada/experiments/2026/measurements with a long name/people.csv",
                1201,
                "66" * 8,
            ),
        ),
    )
    return explain(later, earlier, [earlier], States([earlier, later]))


def _restarted():
    settings = {
        **_PLAIN.settings,
        "PYTHONHASHSEED": "1",
        "python": "3.12.1",
        "torch.num_threads": 8,
    }
    later = changed(
        _PLAIN,
        id=6,
        kernel="j",
        execution_count=1,
        writes={"total": number(11.5)},
        settings=settings,
    )
    return explain(later, _PLAIN, [_PLAIN], States([_PLAIN, later], "j"))


def _unlike(**more):
    later = changed(_PLAIN, id=6, execution_count=6, **more)
    return explain(later, _PLAIN, [_PLAIN], States([_PLAIN, later]))


def _not_whole():
    earlier, later = (
        changed(
            _PLAIN,
            id=number,
            execution_count=number,
            stdout=value(rest, "text", "5,000,000 characters", exact=False, sample="a"),
        )
        for number, rest in ((2, "01"), (6, "02"))
    )
    return explain(later, earlier, [earlier], States([earlier, later]))


EXPLANATIONS = {
    "trained": _trained(),
    "between": _between(),
    "edited": _edited(),
    "outside": _outside(),
    "restarted": _restarted(),
    "same": _unlike(source="total = sum(values)  # checked"),
    "not-whole": _not_whole(),
    "unexplained": _unlike(writes={"total": number(11.5)}, error="ValueError: no"),
    "first": explain(_PLAIN, None, [], States([_PLAIN])),
}


def evil_explanation(evil):
    """Explain a change where every text of the user's is ``evil``."""
    before = run(
        2, evil, cell=evil, code="a", error=evil, nondeterministic_calls=(evil,), files=(FileRead(evil, 1, "1" * 16),),
        reads={evil: value("01", evil, evil)}, writes={evil: value("01", evil, evil)},
    )  # fmt: skip
    after = changed(
        before, id=4, execution_count=4, code="b", error=None, files=(FileRead(evil, 1, "2" * 16),),
        reads={evil: value("02", evil, evil)}, writes={evil: value("02", evil, evil)},
        source=f"{evil}!", settings={**before.settings, f"torch.{evil}": 1},
    )  # fmt: skip
    before = changed(before, settings={**before.settings, f"torch.{evil}": evil})
    return explain(after, before, [before], States([before, after]))

"""What an experiment restores for a cause, and whose result it gave."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from ipytorchseed.experiment.proving import Experiments
from ipytorchseed.experiment.trials import Trial, compare, find_trials
from ipytorchseed.ledger.records import FileRead
from ipytorchseed.why.evidence import FOLDER
from ipytorchseed.why.experiments import Result
from ipytorchseed.why.explanation import Cause, Change
from tests.records import changed
from tests.render.explanations import SHUFFLED, START, TRAINED, States, run, states, value


def begins(state):
    """Return what a run records of where torch's source began."""
    return states(state, state)


def states_of(name):
    """Return the trial in which a source goes back."""
    return Trial(states=frozenset({name}))


def settings_of(name):
    """Return the trial in which a setting goes back."""
    return Trial(settings=frozenset({name}))


def values_of(name):
    """Return the trial in which a variable goes back."""
    return Trial(values=frozenset({name}))


def test_a_flag_is_restored_with_the_flags_that_follow_it():
    """One call sets them all."""
    flag = "torch.use_deterministic_algorithms"
    before = replace(run(1), settings={flag: False})
    trials, stays = find_trials(run(2), before, [Cause("flag", flag, "")], ())
    settings = frozenset({flag, "torch._inductor.config.deterministic"})
    assert (trials, stays) == ([Trial(frozenset({0}), settings=settings)], {})


def test_the_text_of_a_run_that_loaded_a_module_is_not_tested():
    """The module is there when the cell runs again, so its code does not run."""
    loaded = {"tuned": FileRead("/tuned.py", 9, "0" * 16)}
    for pair in (
        (replace(run(2), loaded=loaded), run(1)),
        (run(2), replace(run(1), loaded=loaded)),
    ):
        trials, stays = find_trials(*pair, [Cause("code", "use", "")], ())
        assert (trials, stays) == ([], {0: "importing `tuned` runs its code only once"})


X, Y = value("01"), value("02")
HERE, THERE = {FOLDER: "/here"}, {FOLDER: "/there"}

RESTORED = {
    "edited text": ("code", "", {}, {}, Trial(text=True)),
    "moved source": ("rng", "torch.cpu", begins(START), begins(TRAINED), states_of("torch.cpu")),
    "replaced input": ("input", "x", {"reads": {"x": X}}, {"reads": {"x": Y}}, values_of("x")),
    "absent input": (
        "input", "x", {"missing": ("x",)}, {"reads": {"x": Y}}, Trial(unbound=frozenset({"x"})),
    ),
    "other folder": (
        "file", "/there/a.csv", {"settings": HERE}, {"settings": THERE}, settings_of(FOLDER),
    ),
    "environment variable": ("environment", "SCALE", {}, {}, settings_of("SCALE")),
}  # fmt: skip
"""Causes with what the earlier and the later run record, and what goes back."""


@pytest.mark.parametrize(("kind", "name", "then", "now", "trial"), RESTORED.values(), ids=RESTORED)
def test_what_goes_back(kind, name, then, now, trial):
    """Exactly the cause; two causes with the same cure are one experiment."""
    causes = [Cause(kind, name, ""), Cause(kind, name, "")]
    found = find_trials(run(2, **now), run(1, **then), causes, {START})
    assert found == ([trial | Trial(causes=frozenset({0, 1}))], {})


KEPT = {
    "source that was not there": (
        "rng", "torch.cpu", {}, begins(TRAINED), "its earlier state was not recorded",
    ),
    "pruned state": (
        "rng", "torch.cpu", begins(SHUFFLED), begins(TRAINED), "its earlier state is no longer kept",
    ),
    "file in the same folder": (
        "file", "/there/a.csv", {"settings": HERE}, {"settings": HERE}, "its earlier content is not kept",
    ),
    "file that both runs read": (
        "file", "/there/a.csv", {"settings": HERE, "files": (FileRead("/there/a.csv", 1, 1, "d"),)},
        {"settings": THERE}, "its earlier content is not kept",
    ),
    "source that cannot be read": ("rng", "cv2", {}, {}, "its state cannot be read"),
    "input that was not recorded": (
        "input", "x", {}, {"reads": {"x": Y}}, "its earlier value was not recorded",
    ),
    "absent attribute": (
        "input", "conf.x", {"missing": ("conf.x",)}, {"reads": {"conf.x": Y}},
        "its earlier value was not recorded",
    ),
    "opaque input": (
        "input", "x", {"reads": {"x": value("03", opaque=True)}}, {"reads": {"x": Y}},
        "it cannot be inspected",
    ),
    "flag read at start": ("environment", "MKL_CBWR", {}, {}, "a running kernel cannot change it"),
    "version": ("environment", "python", {}, {}, "a running kernel cannot change it"),
    "setting that holds a function": (
        "flag", "torch.nn.modules.module.hooks",
        {"settings": {"torch.nn.modules.module.hooks": {"register": ["f"]}}}, {},
        "no function restores it",
    ),
    "entropy": ("entropy", "os.urandom", {}, {}, "it is different every time"),
    "operation": ("operation", "aten::index_put_", {}, {}, "it does not repeat"),
}  # fmt: skip
"""Causes with what the earlier and the later run record, and why nothing goes back."""


@pytest.mark.parametrize(("kind", "name", "then", "now", "reason"), KEPT.values(), ids=KEPT)
def test_what_cannot_go_back(kind, name, then, now, reason):
    """The reason is in the answer."""
    found = find_trials(run(2, **now), run(1, **then), [Cause(kind, name, "")], {START})
    assert found == ([], {0: reason})


class Remembering(States):
    """Knows of nothing in memory."""

    def kept_files(self, _):
        """Return no contents."""
        return {}

    def originals_of(self, *_):
        """Return none."""
        return {}

    def kept_values(self, _):
        """Return no copies."""
        return {}


class Pruned(Remembering):
    """Knows that no state is kept."""

    def pruned(self, digests):
        """Return all of them."""
        return {*digests}


@pytest.mark.parametrize("present", [Remembering, Pruned])
def test_a_pruned_state_is_not_restored(present):
    """Neither for a cause, nor to see the earlier result whole."""
    runs = [run(2, **states(START, TRAINED)), run(4, **states(TRAINED, SHUFFLED))]

    def plan(*causes):
        return Experiments({}, None, runs[1], runs[0], causes, present(runs), frozenset())

    made, experiments = plan(Cause("rng", "torch.cpu", "")), plan(Cause("code", "", ""))
    moved = states_of("torch.cpu")
    if present is Remembering:
        assert (made.trials, made.stays) == ([moved | Trial(causes=frozenset({0}))], {})
        assert experiments.extra == moved
    else:
        assert (made.trials, made.stays) == ([], {0: "its earlier state is no longer kept"})
        assert experiments.extra == Trial()


# --------------------------------------------------------------------------------------------------
# Whose result an experiment gave

EARLIER, LATER = (run(n, writes={"y": value(f"{n}0")}, result=value(f"{n}1")) for n in (1, 2))


BOTH = (Change("variable", "y"), Change("result"))


def compared(made, changed=BOTH, volatile=()):
    """Return whose result a run made."""
    return compare(LATER, EARLIER, made, changed, volatile)


@pytest.mark.parametrize(("made", "result"), [(EARLIER, Result.EARLIER), (LATER, Result.LATER)])
def test_the_result_is_that_of_the_run_that_made_the_same(made, result):
    """In all that the two runs differ in."""
    assert compared(made) is result


def test_half_a_result_is_neither():
    """The variable is the earlier run's, what was shown is the later run's."""
    mixed = replace(LATER, writes=EARLIER.writes)
    assert compared(mixed) is Result.OTHER
    assert compared(mixed, [Change("variable", "y")], {("result", "")}) is Result.EARLIER


def test_another_change_is_neither():
    """Even where it is the same in both runs."""
    both = {"reads": {"z": X}, "writes": {"y": value("10"), "z": X}}
    made = replace(EARLIER, **both)
    earlier = replace(made, writes={**made.writes, "z": Y})
    assert compare(LATER, made, made, BOTH) is Result.EARLIER
    assert compare(LATER, earlier, made, BOTH) is Result.OTHER


def test_what_was_not_made_is_not_known_to_be_alike():
    """A run that failed before it set the variable, and a value without comparison."""
    assert compared(replace(EARLIER, writes={})) is Result.OTHER
    assert compared(replace(EARLIER, writes={"y": value("10", exact=False)})) is Result.OTHER
    assert compared(changed(EARLIER, result=None)) is Result.OTHER


def test_nothing_to_compare_is_no_result():
    """No run is then known to be like another."""
    assert compared(EARLIER, []) is Result.OTHER

"""The way back to an earlier result: which cells, in which order, and obstacles.

Every scenario in ``tests/scenarios`` checks that it restores the result.
"""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from ipytorchseed.ledger.records import FileRead
from ipytorchseed.why.evidence import Evidence
from ipytorchseed.why.explanation import Cause
from ipytorchseed.why.plan import outside_of
from ipytorchseed.why.planner import make_plan
from ipytorchseed.why.remedy import find_remedy
from tests.records import changed
from tests.render.explanations import AGAIN, START, TRAINED, States, explain, run, states, value

OLD, NEW, OTHER = value("01", "tensor"), value("02", "tensor"), value("03", "tensor")


def _plan(*runs, states=States):
    """Return the plan for the first run of the last run's cell."""
    target = next(each for each in runs if each.cell == runs[-1].cell)
    return make_plan(target, states(runs))


def _numbers(*runs, **more):
    """Return the numbers of the runs whose cells run again."""
    return [step.run.execution_count for step in _plan(*runs, **more).steps]


def _use(number, read, made, **more):
    return run(number, "out = f(x)", reads={"x": read}, writes={"out": made}, **more)


MAKE = run(1, "x = load()", writes={"x": OLD})
SPOIL = run(3, "x.add_(1)", reads={"x": OLD}, writes={"x": NEW})


def test_unchanged_inputs_are_left():
    """Only the cell itself runs again."""
    assert _numbers(MAKE, _use(2, OLD, OLD), _use(4, OLD, NEW)) == [2]


def test_an_input_is_made_again_by_the_cell_that_made_it():
    """The step names the input."""
    plan = _plan(MAKE, _use(2, OLD, OLD), SPOIL, _use(4, NEW, NEW))
    assert [(step.run.id, step.makes) for step in plan.steps] == [(1, ("x",)), (2, ())]
    assert (plan.doubts, plan.blocked) == ((), "")


def test_a_function_that_keeps_its_results():
    """Its cache also holds later results, so the way back must remake it."""
    cached = value("05", "function", parts={"kept": "0"})
    uses = [_use(2, OLD, OLD), _use(4, NEW, NEW)]
    uses = [replace(each, reads={**each.reads, "price": cached}) for each in uses]
    define = run(1, "def price(): ...", writes={"price": cached, "x": OLD})
    assert _plan(MAKE, uses[0], SPOIL, uses[1]).doubts
    assert not _plan(define, uses[0], SPOIL, uses[1]).doubts


HANDLE = value("06", "opaque", opaque=True)
CONNECT = run(1, "db = connect()", writes={"db": HANDLE})


def _ask(number, source="out = db.query()", **more):
    return run(number, source, reads={"db": HANDLE}, writes={"out": OLD}, **more)


@pytest.mark.parametrize(
    ("act", "numbers"),
    [
        ("db.reset()", [1, 2]),
        ("for n in range(9):\n    db.step(n)", [1, 2]),
        ("lib.insert(db, 1)", [1, 2]),
        ("db['rows'] = 1", [1, 2]),
        ("rows = db.query()", [2]),
        ("print(db)", [2]),
    ],
)
def test_an_opaque_object_is_made_again_if_a_cell_may_have_changed_it(act, numbers):
    """Cells that only ask it something leave it alone."""
    runs = CONNECT, _ask(2), run(3, act, reads={"db": HANDLE}), _ask(4)
    assert _numbers(*runs) == numbers


def test_an_opaque_object_that_was_used_before_stays():
    """Making it again would not bring back what the other cell did before."""
    fill = run(2, "db.fill()", reads={"db": HANDLE})
    runs = CONNECT, fill, _ask(3), replace(fill, id=4), _ask(5)
    assert _numbers(*runs) == [3]


def test_an_opaque_object_that_cannot_be_made_again_stays():
    """Its cell failed, wrote a file, or is not known."""
    acts = run(3, "db.reset()", reads={"db": HANDLE})
    for maker in (changed(CONNECT, status="error"), changed(CONNECT, wrote=("/x.db",))):
        assert _numbers(maker, _ask(2), acts, _ask(4)) == [2]
    assert _numbers(_ask(2), acts, _ask(4)) == [2]


def test_an_opaque_object_that_the_cell_itself_acts_on_and_reads_is_made_again():
    """One that it only acts on, such as a logger, stays."""
    both, acts = "db.add(1)\nout = len(db)", "db.info(1)\nout = 1"
    assert _numbers(CONNECT, _ask(2, both), _ask(4, both)) == [1, 2]
    assert _numbers(CONNECT, _ask(2, acts), _ask(4, acts)) == [2]


def test_making_an_opaque_object_again_brings_the_result_back():
    """Then nothing speaks against it."""
    acts = run(3, "db.reset()", reads={"db": HANDLE})
    last = replace(_ask(4), writes={"out": NEW})
    runs = [CONNECT, _ask(2), acts, last]
    remedy = explain(last, runs[1], runs[1:-1], States(runs)).remedy
    assert (remedy.commands, remedy.obstacle) == (("%replay 2",), "")
    remedy = explain(last, runs[1], runs[1:-1], States(runs[1:])).remedy
    assert (remedy.commands, remedy.obstacle) == (("%replay 2",), "%replay does not restore db")


def test_what_that_cell_read_is_made_again_before():
    """The chain may have any length."""
    values = [value(f"{index:02}", "tensor") for index in range(40)]
    chain = [
        run(
            index,
            f"x = grow{index}(x)",
            reads={"x": values[index - 1]},
            writes={"x": values[index]},
        )
        for index in range(2, 40)
    ]
    begin = run(1, "x = load()", writes={"x": values[1]})
    runs = begin, *chain, _use(40, values[39], OLD), _use(41, values[39], NEW)
    lost = value("zz", "tensor")
    spoilt = *runs[:-1], run(41, "x = 0", writes={"x": lost}), _use(42, lost, NEW)
    assert _numbers(*spoilt) == [*range(1, 41)]


def test_cells_run_in_the_order_in_which_they_ran():
    """A cell that makes two variables does not overwrite one that was just remade."""
    both = run(1, "a, b = f()", writes={"a": OLD, "b": OLD})
    grow = run(2, "b = g(a)", reads={"a": OLD}, writes={"b": NEW})
    use = run(3, "out = h(b, a)", reads={"b": NEW, "a": OLD}, writes={"out": OLD})
    spoil = run(4, "a = b = 0", writes={"a": OTHER, "b": OTHER})
    again = replace(use, id=5, execution_count=5, reads={"b": OTHER, "a": OTHER})
    assert _numbers(both, grow, use, spoil, again) == [1, 2, 3]


def test_a_cell_that_makes_from_nothing_comes_before_one_that_changes():
    """A cell that loads weights needs a model to load them into."""
    back = run(4, "x.sub_(1)", reads={"x": NEW}, writes={"x": OLD})
    runs = MAKE, _use(2, OLD, OLD), SPOIL, back, SPOIL, _use(6, NEW, NEW)
    assert _numbers(*runs) == [1, 2]


def test_where_nothing_recorded_made_it_there_is_no_way():
    """The message names the variable, the run and what to do."""
    plan = _plan(_use(2, OLD, OLD), SPOIL, _use(4, NEW, NEW))
    assert not plan.steps
    assert plan.blocked == (
        "no recorded cell makes the `x` that In[2] read: make it again, then %replay 2"
    )


def test_generators_inside_of_what_it_read_go_back_with_the_sources():
    """A loader whose generator has advanced need not be remade; it is only a doubt."""
    began, moved = (value("01", "loader", parts={"random": each}) for each in ("07", "08"))
    uses = [_use(number, each, each) for number, each in ((2, began), (4, moved))]
    assert _plan(*uses).blocked
    known = [
        replace(each, before={**each.before, "g": "07"}, generators={"g": "torch.Generator"})
        for each in uses
    ]
    plan = _plan(*known)
    assert [step.run for step in plan.steps] == [known[0]]
    assert plan.doubts == ("generators inside `x` are restored only if their states were recorded",)


def test_a_cell_that_asks_for_entropy_is_not_run_for_what_it_makes():
    """It would make something else; clocks that it only reads do not matter."""
    for asks, way in ((("os.urandom",), []), (("time.time",), [1, 2])):
        make = changed(MAKE, nondeterministic_calls=asks)
        assert _numbers(make, _use(2, OLD, OLD), SPOIL, _use(4, NEW, NEW)) == way


def test_a_run_that_failed_makes_nothing_again():
    """A failed run also has no result to restore."""
    failed = changed(_use(2, OLD, OLD), status="error", error="ValueError: no")
    plan = _plan(MAKE, failed, _use(4, OLD, NEW))
    assert plan.blocked == "In[2] failed (ValueError: no): there is no result to bring back"


def test_a_circle_ends():
    """Planning ends if each of two cells needs what the other made."""
    one = run(1, "x = a(y)", reads={"y": NEW}, writes={"x": OLD})
    two = run(2, "y = b(x)", reads={"x": OTHER}, writes={"y": NEW})
    three = run(3, "x = c(y)", reads={"y": OLD}, writes={"x": OTHER, "y": OLD})
    spoil = run(5, "x = y = 0", writes={"x": NEW, "y": OTHER})
    assert _plan(one, two, three, _use(4, OLD, OLD), spoil, _use(6, NEW, NEW)).blocked


class _Pruned(States):
    def pruned(self, digests):
        return {*digests}


class _Other(States):
    def changed_files(self, run):
        return [file.path for file in run.files]


def test_a_state_that_is_no_longer_kept_is_named():
    """A pruned state matters only if the cell moved the source."""
    drew = _use(2, OLD, OLD, **states(START, TRAINED))
    plan = _plan(MAKE, drew, _use(4, OLD, NEW), states=_Pruned)
    assert plan.blocked.startswith("the state of torch.cpu when In[2] began is no longer in the")
    assert _numbers(MAKE, _use(2, OLD, OLD), _use(4, OLD, NEW), states=_Pruned) == [2]


def test_a_file_that_changed_is_named():
    """The message says what to do; a file that the cell itself writes is only a doubt."""
    read = _use(2, OLD, OLD, files=(FileRead("/data/people.csv", 1, "0" * 16),))
    last = _use(4, OLD, NEW)
    blocked = "people.csv has changed since In[2] read it; restore that file, then %replay 2"
    assert _plan(MAKE, read, last, states=_Other).blocked == blocked
    wrote = changed(read, wrote=("/data/people.csv",))
    plan = _plan(MAKE, wrote, last, states=_Other)
    assert plan.doubts == ("people.csv, which In[2] read and wrote, has changed since",)


def _saved(when, **more):
    """Return runs of two cells that write one file, with a run between that reads it."""
    path = "/data/model.pt"
    save = run(1, "save(x)", wrote=(path,), started=10.0, **more)
    read = _use(2, OLD, OLD, files=(FileRead(path, 1, "0" * 16, modified=when),))
    other = run(3, "save(y)", wrote=(path,), started=30.0)
    last = replace(read, id=4, execution_count=4)
    return MAKE, replace(save, id=2, execution_count=2), replace(read, id=3), other, last


def test_a_file_is_written_again_by_the_cell_that_wrote_it():
    """The plan names the cell, and the command contains ``--yes``."""
    runs = _saved(10_050_000_000)
    plan = _plan(*runs, states=_Other)
    assert [step.run.source for step in plan.steps] == ["save(x)", "out = f(x)"]
    assert plan.doubts == ("In[2] has to write `model.pt` again",)
    case = Evidence(runs[-1], runs[2], runs[2:-1], _Other(runs), "k")
    remedy = find_remedy(case, [Cause("file", "/data/model.pt", "it")], _Other(runs))
    assert (remedy.commands, remedy.complete) == (("%replay 2 --yes",), False)


def test_a_file_that_was_changed_after_a_cell_wrote_it_is_a_doubt():
    """Its modification time shows that; a cell that reads its file cannot restore it."""
    plan = _plan(*_saved(20_000_000_000), states=_Other)
    assert plan.doubts == ("`model.pt` was changed after In[2] wrote it",)
    appends = _saved(10_050_000_000, files=(FileRead("/data/model.pt", 0, "1" * 16),))
    assert "restore that file, then" in _plan(*appends, states=_Other).blocked
    runs = _saved(10_050_000_000)
    asks = replace(runs[2], actions=("os.path.getmtime",))
    assert "restore that file, then" in make_plan(asks, _Other(runs)).blocked
    assert "restore that file, then" in make_plan(runs[2], _Other(runs), writes=False).blocked


def test_what_no_replay_puts_back_is_a_doubt():
    """Versions, programs, entropy, hash order and unseeded new sources are doubts."""
    first = _use(2, OLD, OLD, settings={"python": "3.10"})
    assert _plan(first, _use(4, OLD, NEW, settings={"python": "3.11"})).doubts == (
        "python was 3.10 for In[2]; it is 3.11 now",
    )
    for asked, doubt in (
        ("!date", "In[2] runs another program: !date"),
        ("os.urandom", "In[2] calls `os.urandom()`, which is different every time"),
        ("object.__hash__", "In[2] depends on where objects of a set are in memory"),
        ("id", "In[2] depends on where objects are in memory"),
    ):
        assert _plan(
            _use(2, OLD, OLD, nondeterministic_calls=(asked,)), _use(4, OLD, NEW)
        ).doubts == (doubt,)
    brought = _use(2, OLD, OLD, before={}, after={"numpy": TRAINED})
    (doubt,) = _plan(brought, _use(4, OLD, NEW)).doubts
    assert doubt == "In[2] imported numpy, whose state was not recorded before that"
    assert not _plan(replace(brought, seeds=((7, "each"),)), _use(4, OLD, NEW)).doubts
    made = replace(brought, after={"rng": TRAINED}, generators={"rng": "numpy.random.Generator"})
    assert not _plan(made, _use(4, OLD, NEW)).doubts
    hashes = _use(2, OLD, OLD, nondeterministic_calls=("hash",), kernel="j")
    (doubt,) = _plan(hashes, _use(4, OLD, NEW)).doubts
    assert (
        doubt
        == "In[2] before the restart depends on hash order, which differs from kernel to kernel"
    )


def test_a_clock_that_only_times_is_no_doubt():
    """Its readings are only printed or kept, so they affect no result."""
    doubts = [
        _plan(
            _use(2, OLD, OLD, nondeterministic_calls={"time.time": is_used}), _use(4, OLD, NEW)
        ).doubts
        for is_used in (True, False)
    ]
    assert doubts == [("In[2] calls `time.time()`, which is different every time",), ()]


def test_sums_on_a_gpu_are_a_doubt_unless_they_were_held_to_repeat():
    """Training sums in a different order each time; drawing does not."""
    trained = value("12", "module")
    on_gpu = {"before": {"torch.cuda:0": "aa"}, "after": {"torch.cuda:0": "bb"}}

    def doubts(source="train(net)", writes=trained, states=on_gpu, **more):
        made = {"net": writes} if writes is trained else {"x": writes}
        in_place = ("net",) if writes is trained else ()
        runs = [
            run(n, source, reads={"y": OLD}, writes=made, in_place=in_place, **states, **more)
            for n in (2, 4)
        ]
        return [
            each
            for each in _plan(run(1, "y = load()", writes={"y": OLD}), *runs).doubts
            if "GPU" in each
        ]

    assert doubts() == ["In[2] computed on a GPU, which may add numbers in another order each time"]
    assert doubts("x = y.index_add(0, i, z)", OLD)
    assert not doubts("x = torch.rand(3, device='cuda')", OLD)
    assert not doubts("%%deterministic 3\ntrain(net)")
    flag = "torch.use_deterministic_algorithms"
    assert not doubts(settings={flag: True})
    assert doubts(settings={flag: True, f"{flag}.warn_only": True})
    assert not doubts(states={"before": {"torch.cpu": "aa"}, "after": {"torch.cpu": "bb"}})


def test_what_a_package_draws_as_it_is_imported_is_a_doubt():
    """The cell must have drawn as well: importing a source is no draw."""
    began = {"before": {"numpy": START}}
    for more, told in ((began, True), ({}, False), ({**began, "imported": ("numpy",)}, False)):
        target = run(2, "import pkg", **more, after={"numpy": TRAINED})
        doubts = make_plan(target, States([target])).doubts
        said = "In[2] imports pkg: numbers that only a first import draws are not drawn again"
        assert (said in doubts) is told


def test_a_package_that_an_earlier_cell_imported_draws_nothing_where_it_is_imported_again():
    """A package first imported by this cell or a later one may draw."""
    for number, met, told in ((1, "pkg", False), (1, "other", True), (3, "pkg", True)):
        target = run(2, "import pkg", before={"numpy": START}, after={"numpy": TRAINED})
        runs = [run(number, "import pkg", packages=(met,)), target]
        doubts = make_plan(target, States(sorted(runs, key=lambda each: each.id))).doubts
        assert any("In[2] imports pkg" in doubt for doubt in doubts) is told


def test_what_a_cell_does_outside_is_named():
    """Effects are programs, recorded files, and calls that write files without Python."""
    for more, told in (
        ({"nondeterministic_calls": ("!make",)}, ("runs !make",)),
        ({"wrote": ("/data/out.csv",)}, ("writes out.csv",)),
        ({"source": "torch.save(f(x), 'a.pt')"}, ("writes files: torch.save",)),
    ):
        target = changed(_use(2, OLD, OLD), **more)
        assert make_plan(target, States([target])).steps[-1].outside == told


def test_why_names_the_way_back():
    """The answer has one command, or the obstacle."""

    def mend(*runs):
        said = explain(runs[-1], runs[-3], runs[-3:-1], States(runs))
        return said.remedy.commands, said.remedy.complete, said.remedy.obstacle, said.causes[0].fix

    first, last = _use(2, OLD, OLD), _use(4, NEW, NEW)
    assert mend(MAKE, first, SPOIL, last) == (("%replay 2",), True, "", "%replay 2")
    asks = changed(MAKE, nondeterministic_calls=("!make",))
    doubt = "In[1] runs another program: !make"
    assert mend(asks, first, SPOIL, last) == (("%replay 2",), False, doubt, "%replay 2")
    commands, complete, obstacle, fix = mend(first, SPOIL, last)
    assert (commands, complete, fix) == ((), False, "")
    assert obstacle.startswith("no recorded cell makes the `x`")


def test_effects_outside_the_kernel_are_listed():
    """These are programs, files and hosts."""
    acts = changed(
        MAKE,
        nondeterministic_calls=("!make",),
        wrote=("/data/out.csv",),
        connected=("example.org",),
    )
    assert outside_of(acts, States([acts])) == (
        "runs !make", "writes out.csv", "connects to example.org",
    )  # fmt: skip


def test_a_source_that_moved_is_mended_by_rewinding_too():
    """The fix of such a source remains the command that restores it."""
    first = _use(2, OLD, OLD, **states(START, TRAINED))
    last = _use(4, OLD, NEW, **states(TRAINED, AGAIN))
    said = explain(last, first, [first], States([MAKE, first, last]))
    assert said.causes[0].fix == "%seed rewind 2"
    assert said.remedy.commands == ("%replay 2",)


def test_an_opaque_input_is_an_obstacle_if_another_cell_used_it():
    """The cell would find it in an unknown state."""
    handle = value("06", "opaque", opaque=True)
    first = _use(2, OLD, OLD, **states(START, TRAINED))
    last = _use(4, OLD, NEW, **states(TRAINED, AGAIN))
    first, last = (replace(each, reads={**each.reads, "db": handle}) for each in (first, last))
    uses = run(3, "db.commit()", reads={"db": handle})
    for between in ([], [uses]):
        runs = [MAKE, first, *between, last]
        remedy = explain(last, first, runs[1:-1], States(runs)).remedy
        obstacle = "`db` cannot be inspected, and In[3] used it" if between else ""
        assert (remedy.obstacle, remedy.complete) == (obstacle, not between)


@pytest.mark.parametrize(
    ("kind", "name", "obstacle"),
    [
        ("operation", "aten::index_put_", "aten::index_put_ does not repeat"),
        ("entropy", "os.urandom", "`os.urandom()` is different every time"),
        ("environment", "numpy", "%replay does not restore numpy"),
        ("environment", "SCALE", ""),
        ("file", "/data/people.csv", "%replay does not restore /data/people.csv"),
        ("input", "x", ""),
    ],
)
def test_a_cause_that_no_replay_restores_is_an_obstacle(kind, name, obstacle):
    """This holds even if the plan itself has no doubts."""
    first, last = _use(2, OLD, OLD), _use(4, OLD, NEW)
    present = States([MAKE, first, last])
    case = Evidence(last, first, [first], present, "k")
    remedy = find_remedy(case, [Cause(kind, name, "")], present)
    assert (remedy.obstacle, remedy.complete) == (obstacle, not obstacle)

"""``%seed log``, ``save``, ``restore`` and ``rewind``, across kernels."""

from __future__ import annotations

import re

import pytest

from tests.kernel import Kernel
from tests.render.hostile import unseen

MAKE = (
    "import random\nimport numpy as np\nimport torch\n"
    "g = torch.Generator().manual_seed(5)\nrng = np.random.default_rng(6)\n"
    "own = random.Random(7)\nboxes = {'old': np.random.RandomState(8)}"
)
DRAW = (
    "random.random(), np.random.rand(2).tolist(), torch.randn(3).tolist(),"
    " torch.rand(1, generator=g).item(), rng.normal(), own.gauss(0, 1), boxes['old'].rand()"
)


@pytest.fixture(scope="module")
def kernel(tmp_path_factory):
    """A kernel whose notebook draws from sources and generators of every kind."""
    with Kernel(tmp_path_factory.mktemp("kernel")) as kernel:
        begin(kernel)
        yield kernel


def begin(kernel):
    """Load the extension and make generators."""
    for cell in ("%load_ext ipytorchseed", MAKE):
        assert kernel.run(cell).status == "ok"


def numbers(kernel, cell=DRAW):
    """Return what a cell draws, and its number."""
    reply = kernel.run(cell)
    assert reply.status == "ok", reply.error
    return reply.shown, reply.execution_count


def said(reply):
    """Return the printed text on one line."""
    return " ".join(reply.stdout.split())


def test_rewind_puts_everything_back_where_a_run_began(kernel):
    """The next numbers equal those of the first time, bit by bit, with cached normals."""
    kernel.run("torch.randn(1), random.gauss(0, 1), np.random.normal();")
    first, count = numbers(kernel)
    second, _ = numbers(kernel)
    assert said(kernel.run(f"%seed rewind {count}")) == (
        f"Put back to the start of In[{count}]: python, numpy, torch.cpu, g, rng, own, boxes['old']."
    )
    assert numbers(kernel)[0] == first != second
    assert numbers(kernel)[0] == second


def test_rewind_after_is_where_the_run_ended(kernel):
    """The next numbers are those that followed the run."""
    _, count = numbers(kernel)
    second, _ = numbers(kernel)
    numbers(kernel)
    assert kernel.run(f"%seed rewind In[{count}] --after -q").stdout == ""
    assert numbers(kernel)[0] == second


def test_rewind_to_a_run_that_failed_or_was_interrupted(kernel):
    """Its beginning and its end can be restored like any other's."""
    failed = kernel.run("random.random(), torch.rand(1)\n1 / 0").execution_count
    after, _ = numbers(kernel)
    kernel.run(f"%seed rewind {failed} --after -q")
    assert numbers(kernel)[0] == after
    stopped = kernel.run(
        "import time\nprint('now', flush=True)\nwhile True: time.sleep(0.05)", interrupt_at="now"
    )
    assert stopped.error.ename == "KeyboardInterrupt"
    assert kernel.runs()[-1].status == "interrupted"
    assert kernel.run(f"%seed rewind {stopped.execution_count} -q").status == "ok"
    first, _ = numbers(kernel)
    kernel.run(f"%seed rewind {stopped.execution_count} -q")
    assert numbers(kernel)[0] == first


def test_rewinding_is_one_cell_of_the_timeline(kernel):
    """Its run is recorded, so the changed states are attributed to it."""
    numbers(kernel)
    kernel.run(f"%seed rewind {kernel.runs()[-1].execution_count}")
    kernel.run("1")
    rewound, next_one = kernel.runs()[-2:]
    assert rewound.before["python"] != rewound.after["python"] == next_one.before["python"]
    assert next_one.between == {}


def test_save_and_restore(kernel):
    """This covers every source and generator, names with blanks, and replaced saves."""
    assert kernel.run('%seed save "my place"').stdout.splitlines()[-1].endswith('"my place"')
    first, _ = numbers(kernel)
    kernel.run("%seed save other -q")
    second, _ = numbers(kernel)
    assert "to the state saved as 'my place'" in said(kernel.run('%seed restore "my place"'))
    assert numbers(kernel)[0] == first
    kernel.run("%seed restore other -q")
    assert numbers(kernel)[0] == second
    kernel.run('%seed restore "my place" -q')
    kernel.run("%seed save other -q")
    kernel.run("%seed restore other -q")
    assert numbers(kernel)[0] == first


def test_what_is_not_here_now_is_named_and_the_rest_is_put_back(kernel):
    """Generators that were not saved are left alone, and named."""
    kernel.run("h = random.Random(3)")
    first = kernel.run("random.random(), h.random()")
    kernel.run("%seed save both -q")
    kernel.run("kept = h\ndel h\nlate = random.Random(4)\ndel kept")
    told = said(kernel.run(f"%seed rewind {first.execution_count}"))
    assert "Not here now: h." in told
    assert "Left alone, as they were not recorded: late." in told
    assert kernel.run("random.random(),").shown.rstrip(",)") in first.shown
    assert "Not here now: h." in kernel.run("%seed restore both").stdout
    kernel.run("del late")


def test_a_generator_that_has_another_name_now_is_put_back(kernel):
    """This works as long as the old name still leads to it."""
    kernel.run("class Box: pass\nbox = Box()\nbox.rng = random.Random(3)")
    first = kernel.run("box.rng.random()")
    kernel.run("b = box.rng")
    told = kernel.run(f"%seed rewind {first.execution_count}").stdout
    assert "box.rng" in told
    assert "Not here now" not in told
    assert kernel.run("b.random()").shown == first.shown
    kernel.run("del b, box")


def test_a_name_that_is_another_kind_of_generator_now_moves_nothing(kernel):
    """One line tells what does not fit."""
    kernel.run("z = random.Random(3)")
    count = kernel.run("z.random()").execution_count
    kernel.run("z = np.random.default_rng(0)")
    reply = kernel.run(f"%seed rewind {count}")
    before = kernel.runs()[-1]
    assert reply.status == "error" or "Not here now: z" in reply.stdout
    if reply.error:
        assert reply.error.ename == "UsageError"
        assert "\n" not in reply.error.evalue
        assert before.before == before.after
    kernel.run("del z")


WRONG = {
    "%seed rewind 999": "no run '999' is recorded; the last ones are ",
    "%seed rewind #999": "no run '#999' is recorded; the last ones are ",
    "%seed rewind 99999999999999999999999999": "is recorded; the last ones are ",
    "%seed rewind #99999999999999999999999999": "is recorded; the last ones are ",
    "%seed rewind -3": "",
    "%seed rewind x": "no run 'x' is recorded; the last ones are ",
    "%seed rewind In[3": "no run 'In[3' is recorded; the last ones are ",
    "%seed rewind": "Missing argument 'N'",
    "%seed rewind 1 2": "unexpected extra argument",
    "%seed restore nowhere": "nothing is saved as 'nowhere'; saved: ",
    "%seed restore": "Missing argument 'NAME'",
    "%seed save": "Missing argument 'NAME'",
    "%seed save \x1b[2J\u202e": r"'\x1b[2J\u202e' is not a valid name",
    '%seed save "it\'s"': "is not a valid name",
    "%seed restore a\x07\u2066": r"nothing is saved as 'a\x07\u2066'; saved: ",
    "%seed rewind \x9b31m": r"no run '\x9b31m' is recorded",
    "%seed log \x1b]0;x\x07": r"(\x1b]0;x\x07)",
    "%seed log 3": "unexpected extra argument",
}


@pytest.mark.parametrize(("line", "words"), WRONG.items(), ids=[*WRONG])
def test_what_does_not_exist_is_told_in_a_line_that_names_what_does(kernel, line, words):
    """There is no traceback, and no source is changed."""
    error = kernel.run(line).error
    assert (error.ename, words in error.evalue) == ("UsageError", True), error.evalue
    assert "\n" not in error.evalue
    assert unseen(error.evalue) == set()
    run = kernel.runs()[-1]
    assert run.before == run.after


def test_names_saved_are_listed_where_one_is_unknown(kernel):
    """A mistyped name is easy to correct."""
    kernel.run("%seed save listed -q")
    assert "listed" in kernel.run("%seed restore lsited").error.evalue


def test_the_log_tells_which_seed_was_applied_when_how_and_by_which_cell(kernel):
    """Runs are named in the form that ``rewind`` accepts."""
    kernel.run("%seed 41 -q")
    kernel.run("%seed new -q")
    kernel.run("%seed each 7 -q")
    each = kernel.run("x = 1", "cell-x").execution_count
    kernel.run("%seed off -q")
    kernel.run("%%deterministic 43\nx = 1")
    (shown,) = kernel.run("%seed log").displays
    rows = [re.split(r"  +", line) for line in shown["text/plain"].splitlines()[2:]]
    rows = [row for row in rows if re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", row[0])]
    first = [row[1] for row in rows].index("41")
    assert [row[2] for row in rows[first : first + 2]] == ["%seed", "%seed new"]
    assert "43" in {row[1] for row in rows[first:]}
    assert [f"In[{each}]", "x = 1"] in [row[3:5] for row in rows]
    assert "%%deterministic" in {row[2] for row in rows}
    assert max(map(len, shown["text/plain"].splitlines())) <= 80
    assert "<script" not in shown["text/html"]


def test_a_seed_that_a_cell_applies_by_our_functions_is_in_the_log(kernel):
    """It is logged once for each run; seeds of workers are not logged."""
    kernel.run("import ipytorchseed as its")
    number = kernel.run(
        "its.seed(515)\n"
        "with its.deterministic(516):\n    pass\n"
        "for _ in range(500): its.seed(517)\n"
        "if not (child := os.fork()):\n    its.seed(518)\n    os._exit(0)\n"
        "os.waitpid(child, 0)"
    ).execution_count
    (shown,) = kernel.run("%seed log").displays
    rows = [re.split(r"  +", line) for line in shown["text/plain"].splitlines()[2:]]
    found = [(row[1], row[2]) for row in rows if f"In[{number}]" in row]
    assert found == [("515", "its.seed"), ("516", "its.deterministic"), ("517", "its.seed")]


def test_a_run_has_some_of_many_seeds_in_the_log(kernel):
    """A loop over seeds does not wait for the ledger each time."""
    kernel.run("import ipytorchseed as its\nfor n in range(9000, 9200): its.seed(n)")
    (shown,) = kernel.run("%seed log").displays
    assert "9099" in shown["text/plain"]
    assert "9100" not in shown["text/plain"]


def test_a_seed_by_other_code_in_a_cell_is_not_in_the_log(kernel):
    """Its effect shows in the recorded states."""
    before = kernel.run("%seed log").displays[0]["text/plain"]
    kernel.run("random.seed(77)")
    assert kernel.run("%seed log").displays[0]["text/plain"] == before


@pytest.fixture(scope="module")
def again(tmp_path_factory):
    """A restarted kernel, with its earlier draws and the numbers of those runs."""
    with Kernel(tmp_path_factory.mktemp("again")) as kernel:
        begin(kernel)
        kernel.run("%seed 1234 -q")
        drawn, count = numbers(kernel)
        kernel.run("%seed save place -q")
        following, _ = numbers(kernel)
        (number,) = [run.id for run in kernel.runs() if run.execution_count == count]
        kernel.restart()
        begin(kernel)
        yield kernel, drawn, following, count, number


def test_after_a_restart_rewind_takes_the_number_of_the_ledger(again):
    """``#ID`` works as listed in the timeline, also for the namespace's generators."""
    kernel, drawn, following, count, number = again
    told = said(kernel.run(f"%seed rewind #{number}"))
    assert f"to the start of In[{count}] before the restart" in told
    assert numbers(kernel)[0] == drawn
    kernel.run(f"%seed rewind #{number} --after -q")
    assert numbers(kernel)[0] == following


def test_after_a_restart_a_saved_state_is_restored(again):
    """Generators with the same names have been made again."""
    kernel, _, following, *_ = again
    assert "Not here now" not in said(kernel.run("%seed restore place"))
    assert numbers(kernel)[0] == following


def test_after_a_restart_the_log_goes_on(again):
    """Earlier seeds are listed with numbers that ``rewind`` accepts."""
    kernel, drawn, *_ = again
    kernel.run("%seed 99 -q")
    text = kernel.run("%seed log").displays[0]["text/plain"]
    rows = [re.split(r"  +", line) for line in text.splitlines()[2:]]
    (named,) = [row[3] for row in rows if row[1] == "1234"]
    assert re.fullmatch(r"#\d+", named)
    assert next(row[3] for row in rows if row[1] == "99").startswith("In[")
    kernel.run(f"%seed rewind {named} --after -q")
    assert numbers(kernel)[0].partition("]")[0] == drawn.partition("]")[0]


def test_before_the_generators_exist_again_they_are_named_as_missing(again):
    """Sources are restored anyway; numpy is named as missing if it is not imported."""
    kernel, *_ = again
    last = max(run.execution_count for run in kernel.runs())
    kernel.restart()
    kernel.run("%load_ext ipytorchseed")
    told = said(kernel.run("%seed restore place"))
    assert "saved as 'place': python." in told
    assert "Not here now: numpy, torch.cpu, g, rng, own, boxes['old']." in told
    told = said(kernel.run(f"%seed rewind {last}"))
    assert re.search(
        r"start of In\[\d+\] before the restart", told
    )  # no run of this kernel has the number
    kernel.run("import numpy as np")  # which does not load numpy.random
    assert "saved as 'place': python, numpy." in said(kernel.run("%seed restore place"))
    kernel.run(MAKE)


def test_a_run_before_torch_was_imported_leaves_torch_alone_and_says_so(tmp_path):
    """A source that was not imported had no state."""
    with Kernel(tmp_path) as kernel:
        kernel.run("%load_ext ipytorchseed")
        early = kernel.run("import random\nrandom.random()")
        kernel.run(MAKE)
        told = said(kernel.run(f"%seed rewind {early.execution_count}"))
        assert f"Put back to the start of In[{early.execution_count}]: python." in told
        assert (
            "Left alone, as they were not recorded: numpy, torch.cpu, g, rng, own, boxes['old']."
            in told
        )
        assert kernel.run("random.random()").shown == early.shown


def test_without_tracking_the_commands_say_so(tmp_path):
    """New runs are missing, but earlier records are still available."""
    with Kernel(tmp_path) as kernel:
        kernel.run("%load_ext ipytorchseed\n%config IPyTorchSeed.tracking = False")
        kernel.run("import random")
        for line in ("%seed rewind 2", "%rng diff 1 2"):
            error = kernel.run(line).error
            assert "tracking is off; %config IPyTorchSeed.tracking = True" in error.evalue
        assert "Tracking is off" in kernel.run("%rng --text").stdout
        kernel.run("%seed 3 -q")
        text = kernel.run("%seed log").displays[0]["text/plain"]
        assert "tracking is off" in " ".join(text.split())
        kernel.run("%config IPyTorchSeed.tracking = True")
        first = kernel.run("random.random()")
        kernel.run("%config IPyTorchSeed.tracking = False")
        kernel.run("random.random()")
        kernel.run(f"%seed rewind {first.execution_count} -q")
        assert kernel.run("random.random()").shown == first.shown
        assert [run.source for run in kernel.runs()].count("random.random()") == 1


def test_another_kernel_at_work_is_left_out(tmp_path):
    """If two kernels have a notebook open, each sees only its own runs."""
    with Kernel(tmp_path) as one, Kernel(tmp_path) as other:
        for kernel in (one, other):
            kernel.run("%load_ext ipytorchseed")
            kernel.run("import random")
        for kernel in (one, other, one, other):
            kernel.run("v = random.random()", "draws")
        for kernel in (one, other):
            for asks in ("%why", "%why v"):
                said = kernel.run(asks, "asks").displays[0]["text/plain"]
                assert said.startswith("`v` ")
                assert "· In[4] compared with In[3]" in " ".join(said.split())
                assert "Python's random stream had moved on: In[3] drew from it\n" in said

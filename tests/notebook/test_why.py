"""``%why``: which runs it compares, and what it answers if nothing changed."""

from __future__ import annotations

import json
import re

import pytest

from tests.kernel import Kernel

DRAW = "import random\nlast = random.random()\nlast"


def begin(kernel):
    """Load the extension."""
    assert kernel.run("%load_ext ipytorchseed").status == "ok"
    return kernel


@pytest.fixture
def kernel(new_kernel):
    """A notebook in which nothing has run."""
    return new_kernel


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    """A notebook in which one cell drew three times, and another one only looked."""
    with Kernel(tmp_path_factory.mktemp("kernel")) as kernel:
        begin(kernel)
        for _ in range(3):
            kernel.run(DRAW, "draw")
        kernel.run("last", "look")
        yield kernel


def said(reply):
    """Return what was shown or printed, or the error."""
    shown = " ".join(each["text/plain"] for each in reply.displays)
    return " ".join((shown + reply.stdout + reply.stderr).split())


def answer(kernel, line="%why --json"):
    """Return the answer for a program."""
    return json.loads(kernel.run(line).stdout)


def test_before_any_run(kernel):
    """The answer tells what to do."""
    assert "no run is recorded yet; run a cell, run it again" in said(kernel.run("%why"))


def test_a_variable_of_the_environment_is_named_once_and_put_back(kernel):
    """A replay restores it, although only a helper names it."""
    begin(kernel)
    kernel.run("import os\nos.environ['SIZE'] = '2'\ndef size(): return int(os.environ['SIZE'])")
    kernel.run("n = size() * 3", "use")
    kernel.run("os.environ['SIZE'] = '4'")
    kernel.run("n = size() * 3", "use")
    told = said(kernel.run("%why"))
    assert "To get the earlier result back: %replay 4" in told
    assert told.count("the environment variable `SIZE`: 2 → 4") == 1
    assert "✓" in said(kernel.run("%replay 4"))


def test_a_mistyped_variable_or_cell_is_met_with_the_nearest(drawn):
    """Recorded names are suggested; without a similar one, the last runs are named."""
    assert "no variable or cell 'lst' is on record; did you mean last?" in said(
        drawn.run("%why lst")
    )
    assert "no variable or cell 'drow' is on record; did you mean draw?" in said(
        drawn.run("%why drow")
    )
    assert "no variable or cell 'onn' is on record; did you mean on?" in said(drawn.run("%why onn"))
    told = said(drawn.run("%why zzz"))
    assert "no variable, cell or run 'zzz' is recorded; the last ones are In[2], " in told
    assert f"In[{drawn.run('%why').execution_count}]" not in said(drawn.run("%why zzz"))


def test_after_one_run(kernel):
    """There is no earlier run to compare with."""
    kernel.run(DRAW, "draw")
    assert said(kernel.run("%why")) == "In[2] has run only once. Run it again"
    told = answer(kernel)
    assert (told["verdict"], told["against"], told["causes"]) == ("first-run", None, [])
    kernel.run("1 + 1", "sum")
    told = "In[5] has run only once. Run it again, or compare: `%why 5 --against 2`"
    assert said(kernel.run("%why")) == told


def test_after_a_run_that_repeats(kernel):
    """Equal bits are reported as such; changes without effect are not causes."""
    for cell in ("x = [1]\nx", "import random; random.random()", "x = [1]\nx"):
        kernel.run(cell, cell[:3])
    assert "In[4]: same result, bit for bit, as In[2]" in said(kernel.run("%why"))
    told = answer(kernel)
    assert (told["verdict"], told["changed"], told["causes"]) == ("same", [], [])


def test_right_after_a_rerun(drawn):
    """Without arguments, it explains the last cell that ran more than once."""
    told = answer(drawn)
    assert told["cell"]["id"] == "draw"
    assert told["run"]["execution_count"] == told["against"]["execution_count"] + 1 == 4
    assert [cause["name"] for cause in told["causes"]] == ["python"]


@pytest.mark.parametrize(
    ("line", "run", "against"),
    [
        ("3", 3, 2),
        ("In[3]", 3, 2),
        ("draw", 4, 3),
        ("4 --against 2", 4, 2),
        ("draw --against In[2]", 4, 2),
        ("3 --against 4", 3, 4),
    ],
)
def test_runs_are_chosen(drawn, line, run, against):
    """A number or a cell's id selects the run, and also the other run."""
    told = answer(drawn, f"%why {line} --json")
    assert told["run"]["execution_count"] == run
    assert told["against"]["execution_count"] == against
    assert told["verdict"] == "explained"


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("99", "no run '99' is recorded; the last ones are"),
        ("no-such-cell", "no variable, cell or run 'no-such-cell' is recorded; the last ones are"),
        ("4 --against 77", "no run '77' is recorded"),
        ("#99", "no run '#99' is recorded"),
        ("--agianst 3", "--agianst"),
        ("3 4", "4"),
    ],
)
def test_what_does_not_exist_is_said(drawn, line, told):
    """The error names what exists."""
    reply = drawn.run(f"%why {line}")
    assert told in said(reply)
    assert "Traceback" not in said(reply)


def test_without_words_it_is_about_the_latest_run_that_has_an_earlier_one(kernel):
    """The line below a cell names the run to ask about."""
    kernel.run("import random\n%config IPyTorchSeed.explain_on_change = True", "begin")
    for cell in "abba":
        last = kernel.run(f"{cell} = random.random()\n{cell}", cell)
    assert answer(kernel)["cell"]["id"] == "a"
    assert answer(kernel)["run"]["execution_count"] == 6
    assert said(last).endswith("· In[3] · %why 6")
    assert answer(kernel, "%why 6 --json")["against"]["execution_count"] == 3


def test_readings_of_clocks_are_not_called_the_same(new_kernel):
    """They are not compared, and the answer says so."""
    for _ in range(2):
        new_kernel.run("import time\nbegun = time.time()", "clock")
    title = said(new_kernel.run("%why"))
    assert title.startswith(
        "In[3]: same result, bit for bit, as In[2]; times are not compared: begun"
    )


def test_a_result_that_cannot_be_seen_into_is_not_called_the_same(new_kernel):
    """A figure of a longer list differs; if its inputs are equal, nothing is claimed."""
    new_kernel.run("import matplotlib; matplotlib.use('agg')\nfrom matplotlib import pyplot as plt")
    new_kernel.run("data = [1, 2]")
    plot = "fig = plt.figure()\nfig.gca().plot(data)\nplt.close(fig)"
    for cell in (plot, plot):
        new_kernel.run(cell)
    alike = said(new_kernel.run("%why"))
    assert "In[5]: same result, bit for bit, as In[4]" in alike
    assert "inspected" not in alike
    new_kernel.run("data.append(9)")
    new_kernel.run(plot)
    told = said(new_kernel.run("%why"))
    assert "In[8]: same result, bit for bit, as In[5]; `fig` cannot be inspected" in told
    message = json.loads(new_kernel.run("%why --json").stdout)["message"]
    assert message == "same result, bit for bit, as In[5]; `fig` cannot be inspected"


def test_a_source_that_came_with_one_of_two_cells(new_kernel):
    """Nothing seeded it, and the answer claims neither a seed nor equal states."""
    new_kernel.run("import torch", "import")
    new_kernel.run("x = torch.rand(2).tolist()", "draw")
    shown = said(new_kernel.run("%why 3 --against 2"))
    assert "Nothing else that was recorded accounts for it: the difference is their text." in shown
    assert "seeded" not in shown


def test_two_cells_are_told_as_two(kernel):
    """Their inputs are compared; there was no edit, and there is no way back."""
    kernel.run("import random\nx = [1]", "begin")
    kernel.run("y = random.random() + len(x)\ny", "one")
    kernel.run("x.append(2)\nrandom.seed(5)", "between")
    kernel.run("y = len(x) + random.random()\ny", "other")
    told = answer(kernel, "%why 5 --against 3 --json")
    assert {cause["kind"] for cause in told["causes"]} == {"rng", "input"}
    assert told["mend"]["commands"] == []
    shown = said(kernel.run("%why 5 --against 3"))
    assert shown.startswith("In[5] and In[3] are two cells")
    assert "edited" not in shown
    kernel.run("z = 1\nz", "p")
    kernel.run("z = 1 + 1\nz", "q")
    shown = said(kernel.run("%why 8 --against 7"))
    assert "does not repeat" not in shown
    assert "the difference is their text" in shown


def test_two_cells_that_found_other_states_are_not_said_to_have_found_the_same(kernel):
    """The later cell set its own state, as by a seed."""
    kernel.run("import random\nrandom.seed(1)", "seed")
    kernel.run("x = random.random()\nx", "draw")
    told = answer(kernel, "%why 3 --against 2 --json")
    assert told["causes"] == []
    assert told["message"].endswith("another cell: only their text differs in the record")


@pytest.mark.parametrize("asked", ["3 --against 4", "4 --against 3"])
def test_a_source_from_which_one_of_two_cells_drew(kernel, asked):
    """One cell's final state is the other's first; neither set it."""
    kernel.run("import random\nrandom.seed(1)", "seed")
    kernel.run("x = random.random()\nx", "draw")
    kernel.run("y = 3\ny", "other")
    told = answer(kernel, f"%why {asked} --json")
    cleared = {each["name"]: each["message"] for each in told["cleared"]}
    assert cleared["python"] == "only In[3] drew from it"


def test_a_variable_comes_before_a_cell_that_only_shows_it(kernel):
    """Without an id from the front end, a cell is identified by its text."""
    kernel.run("import random\nx = random.random()")
    kernel.run("x")
    assert answer(kernel, "%why x --json")["run"]["execution_count"] == 2


def test_a_run_that_did_not_end_is_told_as_such_first(kernel):
    """This holds for either run, and the error is given."""
    cell = "import random\nx = random.random()\nassert n, 'no n'\ny = random.random()\ny"
    for value in (1, 0, 1):
        kernel.run(f"n = {value}", "n")
        kernel.run(cell, "cell")
    assert said(kernel.run("%why 5")).startswith("In[5] failed (AssertionError: no n). `x` ")
    assert said(kernel.run("%why 7")).startswith("In[5] failed (AssertionError: no n). `x` ")
    draw = "import time, random\nw = random.random()\nprint(w)\nprint('on', flush=True)\n"
    kernel.run(f"{draw}while n: time.sleep(0.05)", "wait", interrupt_at="on")
    kernel.run("n = 0", "n")
    kernel.run(f"{draw}while n: time.sleep(0.05)", "wait")
    shown = said(kernel.run("%why"))
    assert shown.startswith("In[10] was interrupted. `")
    assert "error: KeyboardInterrupt → no error" in shown


def test_the_first_of_several_runs_of_a_cell_did_not_run_once(drawn):
    """It is compared with a later one on request."""
    told = said(drawn.run("%why 2"))
    assert "In[2] is the first run of its cell. Compare: `%why 2 --against" in told


def test_a_pruned_run_is_said(kernel):
    """The answer does not guess what the ledger no longer has."""
    for _ in range(2):
        kernel.run(f"import sys\n{DRAW}", "draw")
    pruned = kernel.run("!{sys.executable} -m ipytorchseed ledger prune --days 0 --yes", "prune")
    assert "error" not in said(pruned).lower(), said(pruned)
    assert "no run '#1' is recorded" in said(kernel.run("%why #1"))


def test_tracking_off_is_said(kernel):
    """The answer tells how to switch it on."""
    kernel.run("%config IPyTorchSeed.tracking = False")
    assert "tracking is off; %config IPyTorchSeed.tracking = True" in said(kernel.run("%why"))


def test_what_nothing_explains_is_said(kernel):
    """The answer gives the next step, and accuses nothing."""
    kernel.run("import sys\nvars(sys)['counted'] = []", "begin")
    for _ in range(2):
        kernel.run(
            "vars(sys)['counted'].append(1)\nmade = len(vars(sys)['counted'])\nmade", "count"
        )
    told = answer(kernel)
    assert (told["verdict"], told["causes"]) == ("unexplained", [])
    assert "%%deterministic" in said(kernel.run("%why"))


def test_a_change_is_announced_where_that_is_wished(kernel):
    """A changed cell gets one line, and other cells get none."""
    first = kernel.run(DRAW, "draw")
    silent = kernel.run(DRAW, "draw")
    kernel.run("%config IPyTorchSeed.explain_on_change = True")
    third = kernel.run(DRAW, "draw")
    same = [kernel.run("1 + 1", "sum") for _ in range(2)]
    (line,) = third.displays
    assert re.fullmatch(r"\S+ 0\.\d+ → 0\.\d+ · In\[3\] · %why 5", line["text/plain"])
    assert line["text/plain"].split(" ")[0] in line["text/html"]
    assert third.stdout == first.stdout == ""
    assert {said(each) for each in (first, silent, *same)} == {""}


def test_what_makes_an_answer_live_follows_it(kernel):
    """It is a widget alone: front ends without widgets show only the static answer."""
    for _ in range(2):
        kernel.run(DRAW, "draw")
    reply = kernel.run("%why")
    (shown,), (view,) = reply.displays, reply.views
    assert 'data-run="' in shown["text/html"]
    assert view["metadata"] == {"ipytorchseed": {"what": "why"}}
    kernel.run("%why on")
    reply = kernel.run(DRAW, "draw")
    (line,), (view,) = reply.displays, reply.views
    assert 'data-line="1"' in line["text/html"]
    assert view["metadata"] == {"ipytorchseed": {"what": "why"}}
    assert kernel.run("%why 99").views == kernel.run("%why --json").views == []


def test_only_the_answer_is_marked_as_ours(kernel):
    """Checks ignore what is marked; the cells after a tested answer are the user's."""
    begin(kernel)
    kernel.run(
        "from IPython.display import display\nmarks = []\n"
        "note = lambda message: marks.append([*message['content']['metadata']]) or message\n"
        "get_ipython().display_pub.register_hook(note)"
    )
    for _ in range(2):
        kernel.run(DRAW, "draw")
    assert "proved" in said(kernel.run("%why"))
    assert kernel.run("display(1)\nprint(marks[-1])").stdout == "[]\n"


def test_a_variable_asks_about_the_run_that_last_set_it(kernel):
    """Any cell may have set it, also before a restart."""
    for value in (0.5, 0.75):
        kernel.run(f"acc = {value}\nother = 1", "measure")
        kernel.run(f"other = {value}\nprint(acc)", "read")
    assert answer(kernel, "%why acc --json")["run"]["execution_count"] == 4
    assert answer(kernel, "%why other --json")["run"]["execution_count"] == 5
    kernel.restart()
    begin(kernel)
    told = answer(kernel, "%why acc --json")
    assert told["changed"] == [{"what": "variable", "name": "acc", "detail": "0.5 → 0.75"}]
    assert "no variable, cell or run 'nobody' is recorded" in said(kernel.run("%why nobody"))


def test_the_line_under_changed_cells_is_switched(kernel):
    """`on` and `off` switch it, and print nothing."""
    kernel.run("import random", "begin")
    switched, last, silent = said(kernel.run("%why on")), "", ""
    for _ in range(2):
        last = said(kernel.run("y = random.random()\ny", "draw"))
    switched += said(kernel.run("%why off"))
    silent = said(kernel.run("y = random.random()\ny", "draw"))
    assert re.fullmatch(r"y 0\.\d+ → 0\.\d+ · In\[4\] · %why 5", last)
    assert (switched, silent) == ("", "")


def test_an_earlier_result_again_is_told(kernel):
    """The line and `%why` report it; `%why` still explains the change before it."""
    kernel.run("%why on", "begin")
    for value in (1, 2, 1):
        kernel.run(f"n = {value}", "n")
        last = said(kernel.run("y = n * 10\ny", "use"))
    assert last == "y 20 → 10 · In[6] · equals In[4] · %why 8"
    told = answer(kernel)
    assert told["verdict"] == "explained"
    assert told["again"]["execution_count"] == 4
    shown = said(kernel.run("%why"))
    assert "In[8] equals In[4] exactly." in " ".join(shown.split())
    kernel.run("y = n * 10\ny", "use")
    assert answer(kernel)["again"] is None


def test_what_was_not_looked_at_whole_is_no_earlier_result(kernel):
    """Parts that were not looked at may differ, though the shown result is equal."""
    kernel.run("%config IPyTorchSeed.budget = 0.02")
    for value in (1, 2, 1):
        kernel.run(f"n = {value}", "n")
        kernel.run("big = [{i: n} for i in range(300_000)]\nn * 10", "use")
    told = answer(kernel)
    assert [change["what"] for change in told["changed"]][-1] == "result"
    assert told["again"] is None


def test_a_run_that_made_other_things_is_no_earlier_result(kernel):
    """For example, a cell loaded something before its text was edited."""
    kernel.run("import math", "it")
    kernel.run("lr = 0.1", "set")
    kernel.run("loss = lr * 2", "it")
    kernel.run("lr = 0.3", "set")
    kernel.run("loss = lr * 2", "it")
    shown = kernel.run("%why")
    assert "In[5] set `lr`: 0.1 → 0.3" in said(shown)
    assert "exactly" not in said(shown)


# --------------------------------------------------------------------------------------------------
# Fixes that are not commands to run before the cell. Those are tried in the scenarios of
# tests/scenarios.


def test_an_earlier_hash_seed_gives_the_earlier_result(tmp_path):
    """A kernel started as the text says gives the same bits."""
    cell = "words = {'red', 'green', 'blue', 'white', 'black'}\n''.join(words)"
    shown = []
    for seed in ("1", "2"):
        with Kernel(tmp_path, cold=True, PYTHONHASHSEED=seed) as kernel:
            shown.append(begin(kernel).run(cell, "join").shown)
            told = answer(kernel)
    (cause,) = told["causes"]
    assert (cause["kind"], cause["name"]) == ("environment", "PYTHONHASHSEED")
    name, value = re.fullmatch(r"restart the kernel with (\w+)=(\w+)", cause["fix"]).groups()
    with Kernel(tmp_path, cold=True, **{name: value}) as kernel:
        assert begin(kernel).run(cell, "join").shown == shown[0] != shown[1]
        told = answer(kernel, "%why --against #1 --json")
        assert told["verdict"] == "same", told["message"]


@pytest.mark.parametrize(
    "name", ["numpy.random.default_rng", "numpy.random.RandomState", "random.Random"]
)
def test_a_seed_makes_a_generator_repeat(kernel, name):
    """The seed is added where the generator is made, as the text says."""
    cell = f"import random, numpy\nmade = {name}()\nx = made.random()\nx"
    shown = [kernel.run(cell, "make").shown for _ in range(2)]
    assert shown[0] != shown[1]
    (cause,) = answer(kernel)["causes"]
    assert (cause["kind"], cause["name"]) == ("entropy", name)
    assert not answer(kernel)["mend"]["complete"]
    mended = cell.replace(f"{name}()", cause["fix"])
    first, second = (kernel.run(mended, "make").shown for _ in range(2))
    assert first == second
    assert answer(kernel)["verdict"] == "same"


@pytest.mark.parametrize("make", ["5", "[5]"])
def test_what_changes_between_cells_is_no_doing_of_the_cell_that_read_it(kernel, make):
    """A widget's callback or code of the front end may change variables too."""
    begin(kernel)
    kernel.run(f"y = {make}", "make")
    kernel.run("z = len(str(y)) + hash(str(y))", "read")
    kernel.value("globals().update(y=[6]) or 0")
    kernel.run("z = len(str(y)) + hash(str(y))", "read")
    (cause,) = answer(kernel)["causes"]
    assert (cause["kind"], cause["name"], cause["blame"]) == ("input", "y", [])


def test_a_cell_that_calls_a_function_is_not_blamed_for_its_file(new_kernel, tmp_path):
    """Another program edited the file, and ``%autoreload`` reloaded it."""
    file = tmp_path / "called_here.py"
    file.write_text("def f(x):\n    return x * 2\n")
    new_kernel.run("%load_ext autoreload\n%autoreload 2\nimport called_here")
    new_kernel.run("called_here.f(3)", "use")
    file.write_text("def f(x):\n    return x * 3 + 1\n")
    assert new_kernel.run("called_here.f(3)", "use").shown == "10"
    (cause,) = json.loads(new_kernel.run("%why --json").stdout)["causes"]
    assert (cause["name"], cause["blame"]) == ("called_here.f", [])


def test_what_an_assigned_value_draws_as_it_is_shown(kernel):
    """IPython can be configured to show it, which runs code of its class."""
    kernel.run(
        "import random\nget_ipython().ast_node_interactivity = 'last_expr_or_assign'\n"
        "class Die:\n    def __repr__(self): return str(random.random())\ndie = Die()"
    )
    kernel.run("x = die")
    kernel.run("y = 1")
    kernel.run("x = die")
    assert "Python's random stream had moved on" in said(kernel.run("%why"))


def test_a_run_of_before_the_restart_is_not_told_as_one_of_now(kernel):
    """A kernel without runs explains an earlier kernel's run, and says so."""
    begin(kernel)
    for _ in range(2):
        kernel.run(DRAW, "draw")
    assert "· In[4] compared with In[3]" in said(kernel.run("%why"))
    kernel.restart()
    begin(kernel)
    shown = said(kernel.run("%why"))
    name = r"In\[{}\] before the restart \(\d\d:\d\d\)"
    assert re.search(f"· {name.format(4)} compared with {name.format(3)}", " ".join(shown.split()))


def test_runs_before_a_restart_are_named_as_one_types_them_after_it(new_kernel):
    """``In[3]`` may be a new run; the text says which; commands use ledger numbers."""
    new_kernel.run("import random\nrandom.seed(1)")
    for cell in ("x = random.random()", "x = random.random()", "y = 1"):
        new_kernel.run(cell)
    new_kernel.run("y = 2; x", "a")
    new_kernel.run("x = 5", "b")
    new_kernel.run("y = 3; x", "a")
    new_kernel.restart()
    new_kernel.run("%load_ext ipytorchseed")
    runs = {run.source + str(run.execution_count): run.id for run in new_kernel.runs()}
    drew, edited = runs["x = random.random()4"], runs["y = 3; x8"]
    for asked, told in ((drew, f"%seed rewind #{drew - 1}"), (edited, ""), (runs["y = 15"], "")):
        said = json.loads(new_kernel.run(f"%why #{asked} --json").stdout)
        messages = [said["message"], *(cause["message"] for cause in said["causes"])]
        told_of = "\n".join(messages).replace("] before the restart", "")
        told_of = re.sub(r"#\d+ ran once|`[^`]*`", "", told_of)
        assert not re.search(r"In\[\d+\]|`%why [^#]|--against [^#]|#", told_of), messages
        assert told in [cause["fix"] for cause in said["causes"]] or not told
        assert not [cause for cause in said["causes"] if cause["fix"].startswith("%recall")]
    assert new_kernel.run(f"%seed rewind #{drew - 1}").status == "ok"


@pytest.mark.parametrize("above", ["%%time\n", "%%deterministic\n%%time\n", "\n%%capture out\n"])
def test_a_cell_is_called_by_its_code(kernel, above):
    """Magics above the code are ignored, as many cells share them."""
    for _ in range(2):
        kernel.run(f"{above}named = __import__('random').random()\nnamed * 2", "named")
    said = kernel.run("%why", "asks").displays[0]["text/plain"]
    assert said.startswith("`named")


def test_the_call_that_takes_a_seed_is_named(kernel):
    """The generator that the library makes inside the call is not named."""
    begin(kernel).run("from scipy.stats import qmc")
    for _ in range(2):
        kernel.run("sampler = qmc.Sobol(2)\nsampler.random(2)", "sample")
    told = said(kernel.run("%why"))
    assert "pass `rng=42` to `qmc.Sobol()`" in told
    assert "default_rng(42)" not in told

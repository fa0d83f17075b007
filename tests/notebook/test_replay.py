"""``%replay`` brings an earlier result back bit for bit, or changes nothing."""

from __future__ import annotations

import json
import re
import sqlite3
import threading
from contextlib import closing
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from ipytorchseed.ledger.blobs import STATE
from tests.kernel import Kernel

SETUP = "import random, torch"
MAKE = "torch.manual_seed(0)\nmodel = torch.nn.Linear(3, 1)\nopt = torch.optim.SGD(model.parameters(), 0.1)"
TRAIN = (
    "loss = model(torch.randn(8, 3)).square().mean()\n"
    "opt.zero_grad()\nloss.backward()\nopt.step()\nloss.item()"
)
HERE = "(model.weight.tolist(), loss.item(), torch.get_rng_state().sum().item())"


@pytest.fixture
def kernel(new_kernel):
    """A kernel in which a model was made and trained twice, in In[4] and In[5]."""
    for cell in (SETUP, MAKE, TRAIN, TRAIN):
        assert new_kernel.run(cell, cell[:5]).status == "ok"
    return new_kernel


def said(reply):
    """Return the displayed text of a reply, without the progress line."""
    return "\n".join(shown["text/plain"] for shown in reply.displays if shown["text/plain"])


def test_it_brings_back_what_a_run_gave(kernel):
    """The cells that made its inputs run again, then its own, with the magic's number."""
    first = kernel.runs()[2]
    reply, runs = kernel.record("%replay 4", "replay")
    assert said(reply) == (
        "✓ In[6] is In[4]'s result again, bit for bit.\n"
        "Run again before it: In[3]. This proves the causes, together: model, torch.cpu,\n"
        "opt. To undo it: %replay --undo."
    )
    assert [(run.cell, run.execution_count) for run in runs] == [(MAKE[:5], None), (TRAIN[:5], 6)]
    assert runs[1].outputs.result == first.outputs.result
    assert runs[1].writes["model"].digest == first.writes["model"].digest
    assert runs[1].after["torch.cpu"] == first.after["torch.cpu"]
    assert not runs[0].between
    assert not runs[1].between


def test_the_first_numbers_of_an_unseeded_kernel_come_back(new_kernel):
    """Numpy loads its generator at the first draw; its first state is recorded before."""
    new_kernel.run("import numpy as np")
    first = new_kernel.run("np.random.rand()")
    new_kernel.run("np.random.rand()")
    reply = new_kernel.run("%replay 3")
    assert reply.shown == first.shown
    undone = new_kernel.run("%replay --undo").stdout
    assert undone == "The replay of In[3] is undone. Sources and settings are as before.\n"
    assert "✓ In[5] is In[3]'s result again, bit for bit." in said(reply)


@pytest.mark.parametrize("folder", [".", "site-packages"], ids=["own", "installed before"])
def test_the_first_numbers_that_a_module_draws_come_back(tmp_path, folder):
    """No cell names a draw; the source may be imported before the extension is loaded."""
    loaded, folder = folder != ".", tmp_path / folder
    folder.mkdir(exist_ok=True)
    (folder / "chance.py").write_text(
        "import numpy as np\ndef draw():\n    return np.random.rand()\n"
    )
    steps = [
        f"import sys; sys.path.append({str(folder)!r}); import chance",
        "%load_ext ipytorchseed",
    ]
    with Kernel(tmp_path, cold=True) as kernel:
        for step in steps if loaded else reversed(steps):
            kernel.run(step)
        first = kernel.run("chance.draw()")
        kernel.run("chance.draw()")
        assert kernel.run("%replay 3").shown == first.shown


def test_looking_imports_no_generator_that_no_code_names(tmp_path):
    """Reading numpy's state takes ten milliseconds, only for cells that name numpy."""
    with Kernel(tmp_path, cold=True) as kernel:
        kernel.run("%load_ext ipytorchseed")
        kernel.run("import sys, numpy as np")
        kernel.run("x = np.zeros(3).sum()")
        assert kernel.run("any(name.startswith('numpy.ran') for name in sys.modules)").shown == (
            "False"
        )


def test_its_cell_shows_what_it_showed_and_the_others_nothing(new_kernel):
    """Its value is in ``Out`` of the magic's cell."""
    new_kernel.run("print('made')\nx = [1]")
    new_kernel.run("print('used')\nx.append(2)\nx")
    reply = new_kernel.run("%replay 3")
    assert (reply.stdout, reply.shown) == ("used\n", "[1, 2]")
    assert new_kernel.run("Out[4]").shown == "[1, 2]"
    assert new_kernel.value("In[4]") == "get_ipython().run_line_magic('replay', '3')"


SIDE = (
    "class Side:\n    def __init__(self, *names):\n        self.names = names\n"
    "    def _repr_html_(self):\n        return ', '.join(str(eval(name)) for name in self.names)"
)


def test_what_a_result_shows_of_others_comes_back(new_kernel):
    """Values that its class reads for display are made again, in quiet reruns too."""
    for cell in (SIDE, "a, b = 1, 2", "Side('a', 'b')", "a = 5", "Side('a', 'b') "):
        new_kernel.run(cell)
    reply, runs = new_kernel.record("%replay 4")
    assert reply.results[-1]["text/html"] == "1, 2"
    assert "is In[4]'s result again, bit for bit" in said(reply)
    assert runs[-1].outputs.shown == new_kernel.runs()[2].outputs.shown
    new_kernel.run("a = 7")
    reply, runs = new_kernel.record("%replay 6")
    assert reply.results[-1]["text/html"] == "5, 2"
    assert "is In[6]'s result again, bit for bit" in said(reply)


def test_without_a_number_it_is_the_run_of_the_last_why(kernel):
    """The answer of ``%why`` ends with this command."""
    assert "To get the earlier result back:\n    %replay 4\n" in said(kernel.run("%why"))
    assert "✓ In[7] is In[4]'s result again" in said(kernel.run("%replay"))


def test_without_a_number_and_without_a_why(new_kernel):
    """One line tells what to type; it is not an error, so Run All continues."""
    reply = new_kernel.run("%replay")
    told = "Nothing to bring back: no %why named an earlier run yet. Name one: %replay 5\n"
    assert (reply.status, reply.stdout) == ("ok", told)


def test_dry_shows_the_steps_and_runs_nothing(kernel):
    """The steps are in order, each with its purpose."""
    before = kernel.value(HERE)
    reply, runs = kernel.record("%replay 4 --dry")
    shown = said(reply).splitlines()
    assert shown[0] == "To bring In[4]'s result back, run again:"
    assert re.fullmatch(r"In\[3\] +opt = torch\.optim.* +model, opt.*", shown[3])
    assert re.fullmatch(r"In\[4\] +loss\.item\(\) +the result *", shown[4])
    assert max(map(len, shown)) <= 80
    assert (kernel.value(HERE), [run.source for run in runs]) == (before, ["%replay 4 --dry"])


def test_undo_puts_names_sources_and_flags_back(kernel):
    """Changes in place are undone too; names set since then stay."""
    kernel.run("losses = []\ng = torch.Generator().manual_seed(1)")
    grow = "losses.append(torch.rand(2, generator=g).sum().item())\nlen(losses)"
    kernel.run(grow, "grow")
    kernel.run(grow, "grow")
    kernel.run("torch.set_default_dtype(torch.float64)\nkept = losses")
    look = "(losses, kept is losses, bytes(g.get_state()), str(torch.get_default_dtype()))"
    before, state = kernel.value(look), kernel.value(HERE)
    assert "✓" in said(kernel.run("%replay 8"))
    assert kernel.value(look) != before
    assert kernel.value("(len(losses), str(torch.get_default_dtype()))") == (2, "torch.float32")
    kernel.run("later = 1")
    reply, runs = kernel.record("%replay --undo")
    assert reply.stdout.startswith(
        "The replay of In[8] is undone. Sources and settings are as before"
    )
    assert (kernel.value(look), kernel.value(HERE), kernel.value("later")) == (before, state, 1)
    assert "losses" in runs[-1].writes
    again = kernel.run("%replay --undo").error.evalue
    assert again == (
        "%replay: no replay to undo: none was played in this kernel since the last undo"
    )
    kernel.run("torch.set_default_dtype(torch.float32)")


def test_undo_puts_back_what_is_not_copied(new_kernel, tmp_path):
    """These are a variable of a module, and a generator that the cell does not read."""
    (tmp_path / "conf.py").write_text("RATE = 1")
    new_kernel.run("import os, sys, numpy as np\nsys.path.insert(0, os.getcwd())\nimport conf")
    new_kernel.run("rng, other = np.random.default_rng(1), np.random.default_rng(2)")
    for _ in range(2):
        new_kernel.run("conf.RATE = 7\nout = rng.random() * conf.RATE\nout", "draw")
    new_kernel.run("conf.RATE = 2\nother.random()")
    look = "(conf.RATE, [each.bit_generator.state['state']['state'] for each in (rng, other)])"
    before = new_kernel.value(look)
    assert "✓" in said(new_kernel.run("%replay 4"))
    assert new_kernel.value(look) != before
    new_kernel.run("%replay --undo")
    assert new_kernel.value(look) == before


def test_undo_takes_new_names_away(new_kernel):
    """A class that was made again is restored."""
    new_kernel.run("class Config:\n    calls = 0")
    for _ in range(3):
        new_kernel.run("Config.calls += 1\nmade = Config.calls\nmade", "count")
    new_kernel.run("del made")
    assert "✓" in said(new_kernel.run("%replay 3"))
    assert new_kernel.value("(Config.calls, made)") == (1, 1)
    new_kernel.run("%replay --undo")
    assert new_kernel.value("(Config.calls, 'made' in globals())") == (3, False)


def test_a_value_that_an_undo_put_back_is_made_by_the_cell_that_made_it(new_kernel):
    """A cell with one of our commands is not the maker of what it left behind."""
    new_kernel.run("import torch\ntorch.manual_seed(1)")
    new_kernel.run("data = torch.rand(3)", "make")
    first = new_kernel.run("data.sum().item()", "use")
    for line in ("%replay 3", "%replay --undo", "data = 0", "%replay 4"):
        reply = new_kernel.run(line)
    assert "Run again before it: In[3]." in said(reply)
    assert reply.shown == first.shown


def test_the_folder_and_settings_of_libraries_are_as_then(new_kernel, tmp_path):
    """After an undo they are as before the replay."""
    for folder, text in ((tmp_path, "first"), (tmp_path / "inner", "second")):
        folder.mkdir(exist_ok=True)
        (folder / "named.txt").write_text(text)
    new_kernel.run("import os, numpy as np, torch\nx = torch.tensor([2 / 3])")
    show = "print(open('named.txt').read(), np.array([1 / 3]))\nx"
    first = new_kernel.run(show, "show")
    new_kernel.run("os.chdir('inner')\nnp.set_printoptions(precision=2)")
    new_kernel.run("torch.set_printoptions(precision=7)")
    assert new_kernel.run(show, "show").shown != first.shown
    reply = new_kernel.run("%replay 3")
    assert (reply.shown, reply.stdout) == (first.shown, first.stdout)
    assert "✓ In[7] is In[3]'s result again, bit for bit." in said(reply)
    assert "does not restore" not in said(reply)
    new_kernel.run("%replay --undo")
    there = "(os.path.basename(os.getcwd()), np.get_printoptions()['precision'])"
    assert new_kernel.value(there) == ("inner", 2)


def test_a_source_under_another_name_is_the_source(new_kernel):
    """Scikit-learn's ``check_random_state(None)`` returns it."""
    new_kernel.run(
        "import random, numpy as np, torch\nnp.random.seed(1); random.seed(1); torch.manual_seed(1)\n"
        "rs, bits = np.random.mtrand._rand, np.random.Generator(np.random.mtrand._rand._bit_generator)\n"
        "inner, g = {'r': random._inst}, torch.default_generator"
    )
    draw = "rs.rand(), bits.random(), inner['r'].random(), torch.rand(1, generator=g).item()"
    first = new_kernel.run(draw, "draw").shown
    assert new_kernel.run(draw, "draw").shown != first
    reply = new_kernel.run("%replay 3")
    assert reply.shown == first
    assert "✓" in said(reply)
    new_kernel.run("%replay --undo")


@pytest.mark.parametrize("between", [[], ["5"]])
def test_the_last_result_is_restored_by_an_undo_and_goes_on(new_kernel, between):
    """IPython stops binding ``_`` once it has a value that IPython did not set."""
    new_kernel.run("import random\nrandom.seed(1)")
    first = new_kernel.run("random.random()").shown
    for line in ("%replay 3", *between):
        new_kernel.run(line)
    new_kernel.run("%replay --undo")
    assert new_kernel.value("_") == float(first)
    new_kernel.run("6")
    assert new_kernel.run("_").shown == "6"


def test_undo_goes_alone(kernel):
    """With a run it would be ambiguous."""
    assert (
        "--undo takes no other argument: it undoes the last replay"
        in kernel.run("%replay 4 --undo").error.evalue
    )


def test_flags_and_variables_of_the_environment_are_as_then(new_kernel):
    """They are set as the cell found them."""
    new_kernel.run("import os, torch\nos.environ['SCALE'] = '2'\nx = torch.ones(1)")
    use = "out = (x / 3 * int(os.environ['SCALE'])).dtype, int(os.environ['SCALE'])"
    make = "x = torch.ones(1)"
    for cell in (make, use):
        new_kernel.run(cell, cell)
    new_kernel.run("torch.set_default_dtype(torch.float64)\nos.environ['SCALE'] = '5'")
    for cell in (make, use):
        new_kernel.run(cell, cell)
    assert "✓" in said(new_kernel.run("%replay 4"))
    assert new_kernel.value("(str(out[0]), out[1])") == ("torch.float32", 2)
    new_kernel.run("%replay --undo")
    assert new_kernel.value("(str(out[0]), out[1])") == ("torch.float64", 5)
    assert new_kernel.value("os.environ['SCALE']") == "5"


def test_a_variable_that_a_helper_asks_for_is_as_then(new_kernel):
    """The cell does not name it; an undo also restores settings of libraries."""
    new_kernel.run("import os, numpy as np\ndef scale():\n    return int(os.getenv('SCALE', 0))")
    new_kernel.run("os.environ['SCALE'] = '2'")
    new_kernel.run("np.set_printoptions(precision=3)\nout = scale()\nout", "use")
    new_kernel.run("os.environ['SCALE'] = '5'\nnp.set_printoptions(precision=5)")
    assert "✓" in said(new_kernel.run("%replay 4"))
    assert new_kernel.value("(out, np.get_printoptions()['precision'])") == (2, 3)
    new_kernel.run("%replay --undo")
    assert new_kernel.value("(out, np.get_printoptions()['precision'])") == (2, 5)
    assert new_kernel.value("os.environ['SCALE']") == "5"


def test_a_variable_is_as_it_was_before_a_cell_changed_it(new_kernel):
    """The cell does not name it, and no earlier cell had changed it."""
    new_kernel.run("import os, shutil")
    use = "wide = shutil.get_terminal_size().columns"
    new_kernel.run(use, "use")
    before = new_kernel.value("wide")
    new_kernel.run("os.environ['COLUMNS'] = '500'")
    new_kernel.run(use, "use")
    assert new_kernel.value("wide") == 500
    (cause,) = json.loads(new_kernel.run("%why --json").stdout)["causes"]
    assert (cause["name"], cause["proof"]) == ("COLUMNS", "proved")
    assert cause["message"].startswith("In[4] changed the environment variable `COLUMNS`:")
    assert "✓" in said(new_kernel.run("%replay 3"))
    assert new_kernel.value("wide") == before


def test_a_name_that_the_run_did_not_find_is_not_made(new_kernel):
    """No cell runs for it."""
    new_kernel.run("flag = 1")
    new_kernel.run("del flag")
    cell = "out = 'flag' in globals() and flag"
    new_kernel.run(cell, "use")
    assert "✓" in said(new_kernel.run("%replay 4"))
    sources = [run.source for run in new_kernel.runs()]
    assert (sources.count("flag = 1"), sources[-1]) == (1, cell)


def test_a_name_that_the_run_did_not_find_is_not_found_again(new_kernel):
    """It is removed for that cell alone, and restored unless this cell sets it."""
    new_kernel.run("made = [len(globals().get('found', '')), 'late' in globals()]\nfound = 'x'")
    new_kernel.run("late = [1]")
    assert said(new_kernel.run("%replay 2")).startswith("✓")
    assert new_kernel.value("made, found, late") == ([0, False], "x", [1])
    new_kernel.run("found = 'y' * 3")
    new_kernel.run("%replay 2")
    new_kernel.run("%replay --undo")
    assert new_kernel.value("found, late") == ("yyy", [1])


def test_a_run_of_an_earlier_kernel(kernel):
    """Its imports run again too, and unbound names are made."""
    kernel.restart()
    kernel.run("%load_ext ipytorchseed")
    reply, runs = kernel.record("%replay #3")
    assert "✓ In[2] is the result of In[4] before the restart again, bit for bit." in said(reply)
    assert [run.source for run in runs] == [SETUP, MAKE, TRAIN]


def test_a_source_that_the_cell_itself_imports_is_restored_in_another_kernel(new_kernel):
    """The source is imported first, so that its state can be restored."""
    draw = "import numpy as np\nx = np.random.rand()\nx"
    new_kernel.run(draw, "draw")
    second = new_kernel.run(draw, "draw")
    new_kernel.restart()
    new_kernel.run("%load_ext ipytorchseed")
    reply = new_kernel.run("%replay #2")
    assert reply.shown == second.shown


def test_a_generator_of_an_earlier_kernel(new_kernel):
    """Its cell makes it, and then its state is restored."""
    new_kernel.run("import numpy as np\nrng = np.random.default_rng(3)")
    for _ in range(2):
        new_kernel.run("out = rng.random(4).tolist()\nout", "draw")
    result = new_kernel.value("out")
    new_kernel.restart()
    new_kernel.run("%load_ext ipytorchseed")
    assert "✓" in said(new_kernel.run("%replay #3"))
    assert new_kernel.value("out") == result


def test_helpers_and_what_they_use_come_back(new_kernel):
    """A changed function is made again by the cell with its earlier text."""
    new_kernel.run("import math\nbase = 2.0", "base")
    new_kernel.run("def scale(x):\n    return math.sqrt(x) * base", "helper")
    new_kernel.run("y = scale(9)\ny", "use")
    new_kernel.run("def scale(x):\n    return x * base", "helper")
    new_kernel.run("base = 5.0", "other")
    new_kernel.run("y = scale(9)\ny", "use")
    assert "✓" in said(new_kernel.run("%replay 4"))
    assert new_kernel.value("y") == 6.0


def test_a_cell_that_awaits(new_kernel):
    """It runs to its end before the next step."""
    new_kernel.run(
        "import asyncio\nasync def fetch():\n    await asyncio.sleep(0.01)\n    return [1]"
    )
    new_kernel.run("x = await fetch()")
    new_kernel.run("x.append(len(x) + await asyncio.sleep(0, 1))\nx")
    new_kernel.run("x = 0")
    assert new_kernel.run("%replay 4").shown == "[1, 2]"


def test_a_graph_that_was_used_up_is_made_again(new_kernel):
    """A backward pass runs only once, so its forward pass runs again first."""
    new_kernel.run("import torch\nw = torch.ones(2, requires_grad=True)")
    new_kernel.run("out = (w * 3).sum()", "forward")
    new_kernel.run("out.backward()", "backward")
    reply = new_kernel.run("%replay 4")
    assert "✓ In[5] is In[4]'s result again" in said(reply)
    assert new_kernel.value("w.grad.tolist()") == [3.0, 3.0]


def test_a_deterministic_cell_has_its_scope(kernel):
    """Its seed and flags apply while it runs again, and are restored."""
    cell = "%%deterministic 42\nout = torch.rand(2).tolist(), torch.are_deterministic_algorithms_enabled()\nout"
    shown = kernel.run(cell, "det").shown
    reply = kernel.run("%replay 6")
    assert (reply.shown, "✓" in said(reply)) == (shown, True)
    assert kernel.value("torch.are_deterministic_algorithms_enabled()") is False


def test_a_replay_that_shows_the_same_names_the_variables_that_differ(new_kernel):
    """What the user sees is back, although not every value is."""
    new_kernel.run("import os", "os")
    for _ in range(2):
        new_kernel.run("token = os.urandom(4)\nprint(1)", "ask")
    assert said(new_kernel.run("%replay 3")).startswith(
        "▲ In[5] has the same output as In[3], but another value of `token`.\n"
    )


def test_what_still_differs_is_explained(new_kernel):
    """Entropy that the cell reads itself cannot be restored."""
    new_kernel.run("import os\nx = 1", "x")
    for _ in range(2):
        new_kernel.run("out = x, os.urandom(4)", "ask")
    reply = new_kernel.run("%replay 3")
    shown = said(reply)
    assert shown.startswith("▲ In[5] is not In[3]'s result.\n")
    assert "In[3] calls `os.urandom()`, which is different every time." in " ".join(shown.split())
    assert "To undo it: %replay --undo." in " ".join(shown.split())
    assert "▲ the cell calls `os.urandom()`" in shown
    assert "To get the earlier" not in shown


def test_readings_of_a_clock_do_not_count(new_kernel):
    """They differ in every run."""
    cell = "began = time.time()\nout = [1]\nseconds = time.time() - began"
    new_kernel.run("import time")
    new_kernel.run(cell, "timed")
    assert "✓ In[4] is In[3]'s result again" in said(new_kernel.run("%replay 3"))


OUTSIDE = {
    "open('out.txt', 'w').write('a')": "writes out.txt",
    "import pathlib\npathlib.Path('b.txt').write_text('a')": "writes b.txt",
    "import torch\ntorch.save([1], 'c.pt')": "writes",
    "x = !echo 1": "runs !echo",
    "import subprocess\nx = subprocess.run('true').returncode": "runs subprocess.run",
    "import asyncio\nx = await (await asyncio.create_subprocess_shell('true')).wait()": (
        "runs asyncio.create_subprocess_shell"
    ),
}


OPENED = {
    "con.execute('insert into t values (1)')\ncon.commit()": "con",
    "x = db.execute('select count(*) from t').fetchall()": "",
    "w.writerow([1, 2])": "w",
    "rows.writerow({'a': 1})": "rows",
    "print('x', file=log)": "log",
    "log.write('x')": "log",
    "import os\nos.write(fd, b'x')": "os.write",
    "pipe.stdin.write(b'x')": "pipe",
    "x = json.dumps({'file': 1}), kept.write('x')": "",
}


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    """A kernel in which earlier cells opened resources for writing."""
    with Kernel(tmp_path_factory.mktemp("kernel")) as kernel:
        kernel.run("%load_ext ipytorchseed\nimport csv, io, json, os, random, sqlite3, subprocess")
        kernel.run(
            "con, db = sqlite3.connect('a.db'), sqlite3.connect('a.db').cursor()\n"
            "con.execute('create table t (a)')\nlog = open('a.log', 'w')\n"
            "w, rows, fd = csv.writer(log), csv.DictWriter(log, ['a']), os.open('b', 65)\n"
            "pipe = subprocess.Popen(['cat'], stdin=subprocess.PIPE)"
        )
        kernel.run("kept = io.StringIO()")
        yield kernel


@pytest.mark.parametrize(("cell", "name"), OPENED.items(), ids=OPENED)
def test_what_writes_to_what_was_opened_before_is_named_first(opened, cell, name):
    """The run's own opened files do not show it."""
    opened.run(f"{cell}\nrandom.random()", "cell")
    number = opened.value("len(In) - 1")
    shown = " ".join(said(opened.run(f"%replay {number} --dry")).split())
    assert ("add --yes" in shown) is bool(name)
    assert not name or f"{name}" in shown.partition("add --yes")[0]


@pytest.mark.parametrize("cell", OUTSIDE)
def test_what_acts_outside_is_named_first(new_kernel, tmp_path, cell):
    """Such cells run only with --yes."""
    new_kernel.run(cell, "cell")
    for file in (*tmp_path.glob("*.txt"), *tmp_path.glob("*.pt")):
        file.unlink()
    refused = new_kernel.run("%replay 2").error.evalue
    assert refused.startswith(f"%replay: In[2] {OUTSIDE[cell]}")
    assert refused.endswith("Nothing was run; to run that again, add --yes")
    assert not [*tmp_path.glob("*.txt"), *tmp_path.glob("*.pt")]
    assert "add --yes" in said(new_kernel.run("%replay 2 --dry"))
    assert new_kernel.run("%replay 2 --yes").status == "ok"


def test_files_that_a_replay_writes_stay(new_kernel, tmp_path):
    """The replay says so, and so does its undo."""
    new_kernel.run("x = 1\nwith open('kept.txt', 'w') as file:\n    _ = file.write('1')")
    new_kernel.run("x = 2")
    played = said(new_kernel.run("%replay 2 --yes"))
    assert "To undo it: %replay --undo. That does not restore kept.txt." in played
    undone = " ".join(new_kernel.run("%replay --undo").stdout.split())
    assert undone.endswith("and names: file, x. Not undone: kept.txt.")
    assert (tmp_path / "kept.txt").exists()


def test_a_helper_that_writes_is_found_out(new_kernel, tmp_path):
    """The record of the run shows it, not the cell's text."""
    new_kernel.run("def keep(x):\n    with open('kept.txt', 'a') as file:\n        file.write(x)")
    new_kernel.run("keep('a')", "use")
    assert "In[3] writes kept.txt" in new_kernel.run("%replay 3").error.evalue
    assert (tmp_path / "kept.txt").read_text() == "a"


REFUSED = {
    "99": "no run '99' is recorded; the last ones are",
    "x": "no run 'x' is recorded",
    "6": "In[6] failed (ZeroDivisionError: division by zero): there is no result to bring back",
}


@pytest.mark.parametrize("run", REFUSED)
def test_what_cannot_be_replayed_is_told_in_a_line(kernel, run):
    """Nothing is changed."""
    kernel.run("1 / 0", "fails")
    before = kernel.value(HERE)
    error = kernel.run(f"%replay {run}").error
    assert error.ename == "UsageError"
    assert error.evalue.startswith(f"%replay: {REFUSED[run]}")
    assert "\n" not in error.evalue
    assert kernel.value(HERE) == before


def test_an_input_that_no_recorded_cell_made(new_kernel):
    """It is named, with what to do."""
    new_kernel.run("x = [1]", silent=True)
    new_kernel.run("y = sum(x)", "use")
    new_kernel.run("x.append(2)")
    assert new_kernel.run("%replay 2").error.evalue == (
        "%replay: no recorded cell makes the `x` that In[2] read: make it again, then %replay 2"
    )


def test_a_file_that_changed(new_kernel, tmp_path):
    """It is named; once it is restored, the result comes back."""
    data = tmp_path / "data.csv"
    data.write_text("1")
    new_kernel.run("x = open('data.csv').read()", "read")
    data.write_text("2")
    new_kernel.run("x = open('data.csv').read()", "read")
    assert new_kernel.run("%replay 2").error.evalue == (
        "%replay: data.csv has changed since In[2] read it; restore that file, then %replay 2"
    )
    data.write_text("1")
    assert "✓" in said(new_kernel.run("%replay 2"))


def test_states_that_were_pruned(kernel):
    """They are named, with the reason."""
    with closing(sqlite3.connect(kernel.ledger)) as connection, connection:
        connection.execute("DELETE FROM blobs WHERE kind = ?", (STATE,))
    told = kernel.run("%replay 4").error.evalue
    assert told == (
        "%replay: the state of torch.cpu when In[4] began is no longer in the ledger: states are"
        " pruned before runs"
    )


def test_another_ranks_run(tmp_path):
    """It is not replayed in this process."""
    with Kernel(tmp_path, RANK="0") as one, Kernel(tmp_path, RANK="1") as other:
        for kernel in (one, other):
            kernel.run("%load_ext ipytorchseed")
            kernel.run("import random\nx = random.random()", "draw")
        number = next(
            run.id
            for run in one.runs()
            if run.notebook.endswith(", rank 0") and "random" in run.source
        )
        error = other.run(f"%replay #{number}").error.evalue
        assert f"#{number} is a run of another rank" in error
        assert "✓" in said(other.run("%replay 2"))


def test_a_cell_that_fails_this_time_leaves_all_as_it_was(new_kernel):
    """The failed cell is named, and the replay is undone."""
    new_kernel.run("import random, sys")
    new_kernel.run("sys.left = [1]", silent=True)  # no one knows of it
    take = "items.append(random.random() + sys.left.pop())"
    for cell in ("items = [1]", take, "items = 0"):
        new_kernel.run(cell, cell)
    look = "(items, random.getstate()[1][-1])"
    before = new_kernel.value(look)
    reply, runs = new_kernel.record("%replay 4")
    assert reply.error.evalue == (
        "%replay: In[4] failed when it ran again (IndexError: pop from empty list); names, sources"
        " and settings are as before"
    )
    assert "Traceback" not in reply.stderr + reply.stdout
    assert new_kernel.value(look) == before
    assert [(run.source, run.status) for run in runs] == [
        ("items = [1]", "ok"), (take, "error"), ("%replay 4", "error"),
    ]  # fmt: skip
    assert "items" in runs[-1].writes


def test_an_interrupt_leaves_all_as_it_was(new_kernel):
    """The effects of the cells are undone, and the message says so."""
    new_kernel.run("import random, sys, time")
    new_kernel.run("sys.wait = [0]", silent=True)  # no one knows of it
    use = "x.append(random.random())\nprint('begun')\ntime.sleep(sys.wait[0])"
    for cell in ("x = [random.random()]", use, "x.append(3)"):
        new_kernel.run(cell, cell)
    new_kernel.run("sys.wait[0] = 60", silent=True)
    look = "(x, random.getstate()[1][-1])"
    before = new_kernel.value(look)
    reply = new_kernel.run("%replay 4", interrupt_at="begun")
    assert reply.error.evalue == "%replay: interrupted; names, sources and settings are as before"
    assert new_kernel.value(look) == before


def test_a_replay_inside_a_replay(new_kernel):
    """A cell with %replay cannot be a step of a replay."""
    new_kernel.run("x = 1")
    new_kernel.run("y = 2\nget_ipython().run_line_magic('replay', '2')", "both")
    error = new_kernel.run("%replay 3").error.evalue
    assert "remove %replay from the cell" in error


def test_a_cell_that_only_asks_has_no_result(new_kernel):
    """It is not run again."""
    new_kernel.run("x = 1")
    new_kernel.run("%seed")
    error = new_kernel.run("%replay 3").error.evalue
    assert (
        error
        == "%replay: In[3] contains only commands of ipytorchseed, so it has no result to bring back"
    )


def test_a_cell_that_does_more_than_to_ask(new_kernel):
    """Its own run is recorded too."""
    new_kernel.run("x = [1]", "x")
    reply, runs = new_kernel.record("%replay 2\ny = x + [2]", "both")
    assert "✓ The new run is In[2]'s result again" in said(reply)
    assert [(run.cell, run.execution_count) for run in runs] == [("x", None), ("both", 3)]
    assert "y" in runs[1].writes


def test_later_questions_are_about_the_right_runs(kernel):
    """A replay is a run of its cell; questions about other cells do not change."""
    kernel.run("%replay 4")
    told = json.loads(kernel.run("%why 6 --json").stdout)
    assert (told["run"]["execution_count"], told["against"]["execution_count"]) == (6, 5)
    assert [each["name"] for each in told["causes"]] == ["model", "torch.cpu"]
    assert "✓ In[8] is In[6]'s result again" in said(kernel.run("%replay 6"))


def test_tracking_is_off(kernel):
    """The result could not be checked."""
    kernel.run("%config IPyTorchSeed.tracking = False")
    error = kernel.run("%replay 4").error.evalue
    assert error.startswith("%replay: tracking is off; %config IPyTorchSeed.tracking = True")


OVERHEAR = (
    "told, pub = [], get_ipython().display_pub\n"
    "def publish(data, *args, publish=pub.publish, **more):\n"
    "    told.append(data.get('text/plain'))\n    return publish(data, *args, **more)\n"
    "pub.publish = publish"
)


def test_long_replays_tell_how_far_they_are(new_kernel):
    """A line appears if the cells took long before; it is gone at the end."""
    new_kernel.run("import time\ntime.sleep(1.6)\nx = [1]", "make")
    new_kernel.run("x.append(2)\nx", "use")
    new_kernel.run("x = 0")
    new_kernel.run(OVERHEAR, silent=True)
    reply = new_kernel.run("%replay 3")
    first, *others = new_kernel.value("told[:3]")
    took = r"Replaying: 1 of 2 · In\[2\] x = \[1\], which took \d+\.\d s …"
    assert re.fullmatch(took, first)
    assert others == ["Replaying: 2 of 2 · In[3] x …", ""]
    assert [shown["text/plain"][:1] for shown in reply.displays] == ["", "✓"]


@pytest.fixture
def orders():
    """Return the requests that a local server received, and its port."""

    class Server(BaseHTTPRequestHandler):
        def do_POST(self):
            received.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_):
            """Print nothing."""

    received: list[bytes] = []
    with HTTPServer(("127.0.0.1", 0), Server) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield received, server.server_port
        server.shutdown()


def test_what_connects_is_named_first(new_kernel, orders):
    """Requests are not sent again without --yes, neither by a replay nor for a proof."""
    received, port = orders
    send = (
        "import random, urllib.request\n"
        f"urllib.request.urlopen('http://localhost:{port}/', data=b'order').read()\n"
        "random.random()"
    )
    new_kernel.run(send, "cell")
    new_kernel.run(send, "cell")
    assert new_kernel.runs()[-1].outside.connected == (f"localhost:{port}",)
    outside = f"connects to localhost:{port}. Nothing was run; to run that again"
    assert f"In[2] {outside}, add --yes" in new_kernel.run("%replay 2").error.evalue
    assert f"In[3] {outside} for a proof, add --yes" in new_kernel.run("%why --prove").error.evalue
    assert received == [b"order"] * 2
    assert "✓" in said(new_kernel.run("%replay 2 --yes"))
    assert received == [b"order"] * 3


def test_an_undone_replay_is_compared_with_nothing(new_kernel):
    """The timeline shows it as undone, and `%why` uses the runs before it."""
    for cell in ("x = 1", "y = x", "x = 2", "y = x"):
        new_kernel.run(cell, cell[0])
    new_kernel.run("%replay 3")
    new_kernel.run("%replay --undo")
    answer = json.loads(new_kernel.run("%why --json").stdout)
    assert (answer["run"]["execution_count"], answer["against"]["execution_count"]) == (5, 3)
    new_kernel.run("y = x", "y")
    answer = json.loads(new_kernel.run("%why y --json").stdout)
    assert (answer["against"]["execution_count"], answer["verdict"]) == (5, "same")
    lines = new_kernel.run("%rng --text").stdout.splitlines()
    assert [line.split()[0] for line in lines if line.endswith("undone")]

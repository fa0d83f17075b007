"""``%why`` tests causes: the cell runs on copies with one cause restored.

Everything is as before afterwards.
"""

from __future__ import annotations

import json
import re
import struct

import pytest

from tests.kernel import Kernel

# The whole content of a kernel.
LOOK = "__import__('tests.scenarios.state', fromlist=['x']).look(globals())"


@pytest.fixture
def play(new_kernel):
    """Run cells, known by their first lines unless named; return the kernel."""

    def played(*cells):
        for cell in cells:
            text, name = cell if isinstance(cell, tuple) else (cell, cell.partition("\n")[0])
            new_kernel.run(text, name)
        return new_kernel

    return played


def answer_of(kernel, command="%why --json --prove"):
    """Ask for a proof, and assert that all is as before; return the answer."""
    kernel.run("%why --json", store_history=False)  # imports what any answer needs
    before = kernel.value(LOOK)
    reply, runs = kernel.record(command, "ask")
    after = kernel.value(LOOK)
    assert reply.error is None, reply.error
    assert {name: each for name, each in after.items() if before.get(name, each) != each} == {}
    assert {name for name in before.keys() ^ after.keys() if name.startswith("name")} == set()
    assert ([run.source for run in runs], reply.stderr) == ([command], "")
    answer = json.loads(reply.stdout)
    assert not [shown for shown in reply.displays if shown["text/plain"]]
    return answer


def prove(kernel, command="%why --json --prove"):
    """Return the finding for each cause, as ``answer_of`` does."""
    causes = answer_of(kernel, command)["causes"]
    return {cause["name"]: (cause["proof"], cause["experiment"]) for cause in causes}


def back(number, what="it", result="result"):
    """Return the expected finding for a cause that brings a run's result back."""
    return "proved", f"proved: restoring {what} gives In[{number}]'s {result} again"


def test_a_source_that_moved(play):
    """It is restored to its earlier state."""
    draw = "out = [random.random(), 1]\nout"
    kernel = play("import random\nrandom.seed(3)", draw, draw)
    assert prove(kernel) == {"python": back(3)}


def test_a_generator_object(play):
    """This includes a generator that another object holds."""
    setup = (
        "import numpy as np\nclass Data:\n    pass\nds = Data()\nds.rng = np.random.default_rng(1)"
    )
    draw = "out = ds.rng.random(2).tolist()"
    assert prove(play(setup, draw, draw)) == {"ds.rng": back(3)}


def test_a_generator_that_the_cell_does_not_draw_from_stays(play):
    """It is restored for the rerun, and its own state is restored afterwards."""
    setup = "import numpy as np\nrng, other = np.random.default_rng(1), np.random.default_rng(2)"
    kernel = play(setup, *["out = rng.random()\nout"] * 2, "other.random()")
    state = "other.bit_generator.state['state']['state']"
    before = kernel.value(state)
    assert prove(kernel) == {"rng": back(3)}
    assert kernel.value(state) == before


def test_a_flag(play):
    """Afterwards it is as before."""
    use = "third = (torch.ones(1) / 3).item()"
    kernel = play("import torch", use, "torch.set_default_dtype(torch.float64)", use)
    assert prove(kernel) == {"torch.default_dtype": back(3)}


def test_a_setting_of_a_library(play):
    """It is restored by the call that sets it."""
    show = "print(values)"
    setup = "import numpy as np\nvalues = np.array([1 / 3])"
    kernel = play(setup, show, "np.set_printoptions(precision=2)", show)
    assert prove(kernel) == {"numpy.set_printoptions": back(3)}


@pytest.mark.parametrize(
    "asks",
    ["import os\nout = os.environ.get('SCALE', '1')", "out = scale()"],
    ids=["cell", "helper"],
)
def test_a_variable_of_the_environment(play, asks):
    """It may have been set or not, and any code may read it."""
    helper = "import os\ndef scale():\n    return os.environ.get('SCALE', '1')"
    kernel = play(helper, (asks, "use"), "os.environ['SCALE'] = '5'", (asks, "use"))
    assert prove(kernel) == {"SCALE": back(3)}
    kernel = play("del os.environ['SCALE']", (asks, "use"), "os.environ['SCALE'] = '9'")
    assert prove(kernel) == {"SCALE": back(5)}


def test_the_working_folder(play, tmp_path):
    """The file in the earlier folder is read."""
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "data.txt").write_text("1")
    (tmp_path / "data.txt").write_text("2")
    read = "text = open('data.txt').read()"
    kernel = play("import os", read, "os.chdir('old')", read)
    assert prove(kernel) == {str(tmp_path / "old" / "data.txt"): back(3)}
    assert kernel.value("os.getcwd()") == str(tmp_path / "old")


def test_a_working_folder_that_is_gone(play, tmp_path):
    """No experiment can start there."""
    for folder in ("old", "new"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "data.txt").write_text(folder)
    read = "text = open('data.txt').read()"
    kernel = play("import os, shutil\nos.chdir('old')", read, "os.chdir('../new')", read,
                  "shutil.rmtree('../old')")  # fmt: skip
    assert prove(kernel, "%why 5 --json --prove --yes") == {
        str(tmp_path / "new" / "data.txt"): (
            "may-matter",
            "not tested: a running kernel cannot change it any more",
        )
    }


def test_a_folder_of_the_later_run_that_is_gone(play, tmp_path):
    """The cell would run in another folder; the failed attempt is not kept as finding."""
    (tmp_path / "new").mkdir()
    kernel = play("import os\nx = 1", "y = x", "os.chdir('new')\nx = 2", "y = x",
                  "os.chdir('..')\nos.rmdir('new')")  # fmt: skip
    (found,) = prove(kernel, "%why 5 --json --prove").values()
    assert found == (
        "may-matter",
        f"not tested: [Errno 2] No such file or directory: '{tmp_path / 'new'}'",
    )
    (cause,) = json.loads(kernel.run("%why 5 --json --no-prove").stdout)["causes"]
    assert (cause["proof"], cause["experiment"]) == ("may-matter", "")


def test_an_edit_of_the_cell(play):
    """The earlier text runs."""
    (found,) = prove(play("x = 3", ("y = x + 1\ny", "c"), ("y = x + 2\ny", "c"))).values()
    assert found == back(3)


def test_a_source_that_only_the_earlier_text_draws_from(play):
    """It is restored with the text, though it is not a cause."""
    kernel = play(
        "import random", ("y = random.random()", "c"), "random.random()", ("y = 0.5", "c")
    )
    (found,) = prove(kernel).values()
    assert found == (
        "proved", "proved: restoring it together with python gives In[3]'s result again",
    )  # fmt: skip


def test_an_input_that_an_earlier_cell_makes(play):
    """The earlier version of its cell runs again on copies; the current value stays."""
    make = ("data = [1, 2]", "make"), ("data = [4]", "make")
    kernel = play(make[0], "total = sum(data)", make[1], "total = sum(data)")
    assert prove(kernel) == {"data": back(3)}
    assert kernel.value("data") == [4]


def test_an_input_that_later_cells_changed(play):
    """For both runs it is made again as they found it."""
    kernel = play("data = [1]", "total = sum(data)", "data.append(4)", "total = sum(data)",
                  "data.clear()", "data.append(100)")  # fmt: skip
    assert prove(kernel, "%why 5 --json --prove") == {"data": back(3)}
    assert kernel.value("data") == [100]


def test_a_model_goes_back_without_its_optimizer(play):
    """The loss depends on the model and the draws, the next one on the optimizer."""
    train = (
        "loss = model(torch.randn(8, 3)).square().mean()\nopt.zero_grad()\nloss.backward()\n"
        "opt.step()\nloss.item()"
    )
    make = (
        "torch.manual_seed(0)\nmodel = torch.nn.Linear(3, 1)\n"
        "opt = torch.optim.Adam(model.parameters())"
    )
    found = prove(play("import torch", make, train, train))
    levels = {name: level for name, (level, _) in found.items()}
    assert levels == {"model": "carried", "opt": "may-matter", "torch.cpu": "proved"}
    assert found["torch.cpu"][1].startswith("proved: restoring it together with model")
    assert found["opt"][1] == "not proved: restoring it changes model"


PARTS = {
    "attribute": (
        "class Config:\n    pass\ncfg = Config()\ncfg.lr, cfg.seed = 0.1, 1",
        "out = cfg.lr * 2 + 0 * cfg.seed",
        "cfg.lr, cfg.seed = 0.5, 2",
        ("cfg", "cfg.lr", "0.1 → 0.5"),
    ),
    "class": (
        "class Config:\n    lr, seed = 0.1, 1",
        "out = Config.lr + 0 * Config.seed",
        "Config.lr, Config.seed = 0.5, 2",
        ("Config", "Config.lr", "0.1 → 0.5"),
    ),
    "class run again": (
        "class Config:\n    options = {'lr': 1, 'seed': 1}\n    step = 1",
        "out = Config.options['lr'] + 0 * Config.step",
        "class Config:\n    options = {'lr': 5, 'seed': 1}\n    step = 2",
        ("Config", "Config.options['lr']", "1 → 5"),
    ),
    "nested": (
        "class Trainer:\n    pass\nt = Trainer()\nt.step, t.log = 3, {'a': [1, 2], 'b': 1}",
        "out = t.log['a'][1] + 0 * t.step",
        "t.step = 5; t.log['a'][1] = 7",
        ("t", "t.log['a'][1]", "2 → 7"),
    ),
    "frame": (
        "import pandas as pd\ndf = pd.DataFrame({'price': [1.0, 2.0, 3.0], 'n': [1, 2, 3]})",
        "out = df.price.sum() + 0 * df.n.sum() + 0 * len(df)",
        "df['price'] *= 2; df['n'] += 1",
        ("df", "df['price']", "[1, 2, 3] → [2, 4, 6]"),
    ),
    "row": (
        "import pandas as pd\ndf = pd.DataFrame({'price': [1.0, 2.0, 3.0], 'n': [1, 2, 3]})",
        "out = df.price.sum() + 0 * df.n.sum() + 0 * len(df)",
        "df.loc[1, 'price'] = 20.0; df['n'] += 1",
        ("df", "df['price'].iloc[1]", "2 → 20"),
    ),
    "buffer": (
        "import torch\nm = torch.nn.Sequential(torch.nn.Linear(1, 1), torch.nn.BatchNorm1d(1)).eval()",
        "out = m[1].running_mean.item() + 0 * m(torch.zeros(1, 1)).item()",
        "with torch.no_grad():\n    m[1].running_mean += 1; m[0].weight *= 2; m[0].bias += 1",
        ("m", "m[1].running_mean", "0 → 1"),
    ),
    "hyperparameter": (
        "import torch\nmodel = torch.nn.Linear(1, 1)\n"
        "opt = torch.optim.SGD(model.parameters(), lr=0.125)",
        "with torch.no_grad():\n    model.bias.zero_()\nmodel.bias.grad = torch.ones(1)\n"
        "opt.step()\nout = model.bias.item()",
        "opt.param_groups[0]['lr'] = 0.5; opt.param_groups[0]['maximize'] = 0",
        ("opt", "opt.param_groups[0]['lr']", "0.125 → 0.5"),
    ),
}


@pytest.mark.parametrize(("make", "use", "change", "part"), PARTS.values(), ids=PARTS)
def test_the_part_that_suffices_is_named(play, make, use, change, part):
    """Its old and new values are shown; other changed parts are not the cause."""
    answer = answer_of(play(make, use, change, use))
    name, path, detail = part
    (cause,) = (each for each in answer["causes"] if each["proof"] == "proved")
    assert (cause["name"], cause["parts"]) == (name, [{"path": path, "detail": detail}])
    shown = f" ({detail})" if len(detail) < 30 else ""
    found = cause["proof"], cause["experiment"]
    result = "`out`" if name == "opt" else "result"  # the model was not restored in full
    assert found == back(3, f"`{path}`{shown}", result)


def test_another_name_of_a_part_of_a_model_is_no_result_of_its_own(play):
    """It does not point to the model that is rebuilt for the experiment."""
    train = (
        "loss = model(torch.ones(8, 3)).square().mean()\nopt.zero_grad()\nloss.backward()\n"
        "opt.step()\nloss.item()"
    )
    make = (
        "torch.manual_seed(0)\nmodel = torch.nn.Sequential(torch.nn.Linear(3, 1))\n"
        "opt = torch.optim.SGD(model.parameters(), lr=0.1)"
    )
    kernel = play("import torch", make, train, "first = model[0]", train, train)
    assert prove(kernel)["model"][0] == "carried"


@pytest.mark.parametrize(
    ("use", "causes"),
    [
        ("out = a[0] + 0 * b.sum()", ["a"]),
        ("out = b.sum() + 0 * a[0]", ["b"]),
        ("out = a.sum() + 0 * b.sum()", ["a", "b"]),
    ],
    ids=["array", "view", "both"],
)
def test_an_array_and_a_view_of_it(play, use, causes):
    """They share the view's memory; each is restored without the other."""
    setup = "import numpy as np\na = np.arange(6.0)\nb = a[2:4]"
    answer = answer_of(play(setup, use, "a[0] = 9.0", "b[0] = 7.0", use))
    assert {cause["name"]: cause["proof"] for cause in answer["causes"]} == dict.fromkeys(
        causes, "proved"
    )


def test_names_of_one_object_go_back_together(play):
    """They cannot be separated."""
    use = "out = a[0] + b[0]"
    found = prove(play("a = [1, 2]\nb = a", use, "a[0] = 5", use))
    assert found["a"] == back(3, what="it together with b")


CLASS = (
    "class Config:\n    def __init__(self, lr):\n        self.lr = lr\n"
    "    def rate(self):\n        return {} * self.lr\ncfg = Config({})"
)


@pytest.mark.parametrize(
    ("method", "attribute", "causes"),
    [(2, 1, {"Config"}), (1.0, 3, {"cfg"}), (2, 3, {"Config", "cfg"})],
    ids=["class", "object", "both"],
)
def test_a_class_and_its_object(play, method, attribute, causes):
    """Each can be restored without the other."""
    use = "out = float(cfg.rate())"
    answer = answer_of(play(CLASS.format(1, 1), use, CLASS.format(method, attribute), use))
    assert {cause["name"] for cause in answer["causes"]} == causes
    assert {cause["proof"] for cause in answer["causes"]} == {"proved"}
    parts = [part["path"] for cause in answer["causes"] for part in cause["parts"]]
    assert parts == ["cfg.lr"] * ("cfg" in causes)


def test_a_generator_and_a_variable_that_one_cell_made(play):
    """The generator is restored by its state, in addition to the variable."""
    draw = "w += 1\nr = float(rng.random() + w.sum())"
    kernel = play(
        "import numpy as np", "w = np.zeros(3)\nrng = np.random.default_rng(3)", draw, draw
    )
    together = "restoring it together with {} gives In[4]'s result again"
    assert prove(kernel) == {
        "w": ("carried", f"carried on by the cell itself: {together.format('rng')}"),
        "rng": ("proved", f"proved: {together.format('w')}"),
    }


def test_a_name_that_was_not_there(play):
    """It is removed for the experiment, and restored at its place."""
    use = "out = rate if 'rate' in globals() else 0"
    kernel = play("x = 1", use, "rate = 5", "y = 2", use)
    assert prove(kernel) == {"rate": back(3)}


def test_a_name_that_was_set_only_after_both_runs(play):
    """Experiments run without it."""
    use = "out = globals().get('rate', 1) * x"
    kernel = play("x = 1", use, "x = 2", use, "rate = 5")
    assert prove(kernel) == {"x": back(3)}
    assert kernel.value("rate") == 5


def test_a_variable_of_a_module(play, tmp_path):
    """The module stays, with the value that it had before the question."""
    (tmp_path / "conf.py").write_text("RATE = 1")
    use = "out = conf.RATE"
    kernel = play("import sys, os\nsys.path.insert(0, os.getcwd())\nimport conf", "conf.RATE = 2",
                  use, "conf.RATE = 5", use)  # fmt: skip
    assert prove(kernel) == {"conf.RATE": back(4)}
    assert kernel.value("conf.RATE") == 5


def test_an_attribute_of_a_class_that_the_cell_sets(play):
    """Each experiment starts with the run's value, whatever the previous one left."""
    count = "Config.calls += 1\nout = Config.calls + 0 * n"
    kernel = play("class Config:\n    calls = 0", "n = 1", count, "n = 2", count)
    found = prove(kernel)
    assert {name: level for name, (level, _) in found.items()} == {"Config": "carried"}
    assert kernel.value("Config.calls") == 2


def test_two_causes_that_act_only_together(play):
    """Restoring only one has no effect."""
    use = "y = 1 if a and b else 0"
    found = prove(play("a = 1; b = 1", use, "a = 0", "b = 0", use))
    gives = "gives In[3]'s result again"
    assert found == {
        name: ("proved", f"proved: restoring it together with {other} {gives}")
        for name, other in ("ab", "ba")
    }


def test_two_causes_of_which_each_does_it(play):
    """Restoring either one gives the earlier result."""
    use = "y = 1 if a or b else 0"
    found = prove(play("a = 1; b = 1", use, "a = 0; b = 0", use))
    assert found == {name: back(3) for name in "ab"}


def test_two_independent_causes(play):
    """Each changes the result, and only both together restore it."""
    use = "y = a + 10 * b"
    found = prove(play("a = 1; b = 1", use, "a = 2", "b = 2", use))
    assert found == {
        name: (
            "proved",
            f"proved: restoring it together with {other} gives In[3]'s result again",
        )
        for name, other in ("ab", "ba")
    }


def test_a_decoy_is_cleared(play):
    """It is not a cause, since restoring it has no effect."""
    use = "total = sum(data) + 0 * n"
    kernel = play("data = [1.0]; n = 1", use, "data.append(2.0); n = 2", use)
    assert prove(kernel) == {"data": back(3)}
    answer = json.loads(kernel.run("%why 5 --json").stdout)
    cleared = {"kind": "input", "name": "n", "message": "no effect: restoring it changes nothing"}
    assert answer["cleared"] == [cleared]
    shown = kernel.run("%why 5").displays[-1]["text/plain"]
    assert re.search(r"^Not the cause: n \(no effect: restoring it", shown, re.MULTILINE)
    assert max(map(len, shown.splitlines())) <= 80


def test_a_generator_inside_of_a_cause_is_a_decoy_too(play):
    """Restoring it changes only the object that holds it, which is a cause already."""
    make = "import random\nclass Bag: pass\nbag = Bag(); bag.rng = random.Random(1); bag.n = 1"
    use = "total = bag.n * 2\nbag.last = bag.rng.random()\nbag.n += 1"
    answer = answer_of(play(make, use, use))
    assert [cause["name"] for cause in answer["causes"]] == ["bag"]
    decoy = {"kind": "rng", "name": "bag.rng", "message": "no effect: restoring it changes nothing"}
    assert decoy in answer["cleared"]


def test_an_object_that_parts_share_is_named_where_it_is_held_directly(play):
    """The samplers of a loader refer to its dataset too."""
    make = (
        "import torch\nfrom torch.utils.data import DataLoader, Dataset\ntorch.manual_seed(0)\n"
        "class Pictures(Dataset):\n"
        "    def __init__(self): self.kept = [torch.ones(2) for _ in range(4)]\n"
        "    def __len__(self): return 4\n"
        "    def __getitem__(self, i): self.kept[i] *= 2; return self.kept[i]\n"
        "loader = DataLoader(Pictures(), batch_size=2)"
    )
    use = "total = sum(batch.sum().item() for batch in loader)"
    found = prove(play(make, use, use))
    how = (
        "carried on by the cell itself: restoring `loader.dataset.kept` gives In[3]'s result again"
    )
    assert found["loader"] == ("carried", how)


def test_a_short_cell_is_tested_unasked(play):
    """This can be switched off, for one question or for all."""
    kernel = play("x = 1", "y = x", "x = 2", "y = x")
    for ask in ("%why 5 --json --no-prove", "%config IPyTorchSeed.prove = False\n%why 5 --json"):
        (cause,) = json.loads(kernel.run(ask).stdout)["causes"]
        assert (cause["proof"], cause["experiment"]) == ("may-matter", "")
    kernel.run("%config IPyTorchSeed.prove = True")
    (cause,) = json.loads(kernel.run("%why 5 --json").stdout)["causes"]
    assert (cause["proof"], cause["experiment"]) == back(3)


def test_findings_are_kept_with_the_two_runs(play):
    """A second question runs nothing, and the line below a cell uses them too."""
    use = "y = x[0] + 0 * n\nvars(sys)['calls'] = vars(sys).get('calls', 0) + 1"
    kernel = play("import sys\nx = [1]; n = 1", (use, "use"), "x = [2]; n = 2", (use, "use"))
    kernel.run("%why 5 --json")
    calls = kernel.value("sys.calls")
    assert calls > 2
    kernel.run("%why 5 --json")
    assert kernel.value("sys.calls") == calls
    kernel.run("%config IPyTorchSeed.prove = False")
    answer = json.loads(kernel.run("%why 5 --json").stdout)
    assert {each["name"]: each["proof"] for each in answer["causes"]} == {"x": "proved"}
    assert "n" in {each["name"] for each in answer["cleared"]}


@pytest.mark.parametrize(
    ("cell", "reason"),
    [
        ("y = x\nopen('out.txt', 'a').write('1')", "In[5] writes out.txt · %why --prove --yes"),
        ("import time\ntime.sleep(1.1)\ny = x", "it would take about 2 s · %why --prove"),
        (
            "import subprocess\nsubprocess.run(['true'])\ny = x",
            "In[5] runs subprocess.run · %why --prove --yes",
        ),
    ],
    ids=["file", "long", "program"],
)
def test_what_is_not_tested_unasked(play, cell, reason):
    """Cells that take long or act outside the kernel are not tested.

    The answer gives the reason and what to type.
    """
    kernel = play("x = 1", (cell, "use"), "x = 2", (cell, "use"))
    before = kernel.run("%rng --json").stdout
    (cause,) = json.loads(kernel.run("%why 5 --json").stdout)["causes"]
    assert (cause["proof"], cause["experiment"]) == ("may-matter", f"not tested: {reason}")
    assert kernel.run("%rng --json").stdout == before


def test_a_test_that_does_not_end_is_interrupted(play):
    """With only `a` restored the cell would sleep; the answer comes without a test."""
    use = "import time\nif a > b:\n    time.sleep(20)\ny = a + b"
    kernel = play("a = b = 0", (use, "use"), "a = b = 1", (use, "use"))
    answer = json.loads(kernel.run("%why 5 --json").stdout)
    reason = "not tested: it took longer than the recorded run · %why --prove"
    assert {cause["experiment"] for cause in answer["causes"]} == {reason}
    assert kernel.value("(a, b, y)") == (1, 1, 2)
    assert kernel.run("time.sleep(0.2)").error is None


def test_what_ran_before_the_restart_is_not_tested_unasked(tmp_path):
    """Cells of an earlier kernel do not run."""
    with Kernel(tmp_path, JPY_SESSION_NAME=str(tmp_path / "n.ipynb")) as kernel:
        for _ in range(2):
            kernel.run("%load_ext ipytorchseed", store_history=False)
            kernel.run("import random\nx = random.random()", "a")
            kernel.run("y = x", "b")
            kernel.restart()
        kernel.run("%load_ext ipytorchseed", store_history=False)
        kernel.run("import random\nx = random.random()", "a")
        kernel.run("y = x", "b")
        answer = json.loads(kernel.run("%why b --json").stdout)
        (cause,) = answer["causes"]
    assert cause["experiment"].startswith("not tested: ")
    assert "before the restart" in cause["experiment"]


def test_what_cannot_be_restored_may_matter(play, tmp_path):
    """The answer gives the reason in a clause."""
    read = "text = open('data.txt').read(), random.random()"
    (tmp_path / "data.txt").write_text("1" * 70_000)  # too large to keep in memory
    kernel = play("import random", "random.seed(1)", read)
    (tmp_path / "data.txt").write_text("2" * 70_000)
    assert prove(play("random.seed(1)", read)) == {
        str(tmp_path / "data.txt"): ("may-matter", "not tested: its earlier content is not kept")
    }
    assert kernel.run("%why --prove").error is None


def test_a_file_that_native_code_opens_is_not_judged(play, tmp_path):
    """Experiments redirect only Python's ``open``. The answer names the file."""
    read = "number = torch.from_file('data.bin', size=1, dtype=torch.float32).item()"
    path = tmp_path / "data.bin"
    path.write_bytes(struct.pack("f", 1))
    play("import torch", read)
    path.write_bytes(struct.pack("f", 2))
    assert prove(play(read)) == {
        str(path): (
            "may-matter",
            "not tested: the cell does not open `data.bin` with Python's `open`",
        )
    }


def test_a_file_is_not_said_to_be_opened_otherwise_if_no_experiment_restored_it(play, tmp_path):
    """The cell does not repeat, so nothing is restored."""
    read = "import os\ntext = open('data.txt').read(), os.urandom(4)"
    (tmp_path / "data.txt").write_text("1")
    play(read)
    (tmp_path / "data.txt").write_text("2")
    found = prove(play(read))
    assert found[str(tmp_path / "data.txt")][1].startswith("not proved: run again from where")


def test_what_cannot_be_restored_is_told_beside_what_is_tested(play, tmp_path):
    """The earlier result does not come back without it."""
    read = "text = open('data.txt').read(), x"
    (tmp_path / "data.txt").write_text("1" * 70_000)
    kernel = play("x = 1", read)
    (tmp_path / "data.txt").write_text("2" * 70_000)
    assert prove(play("x = 2", read)) == {
        "x": ("may-matter", "not proved: restoring it does not give In[3]'s result again"),
        str(tmp_path / "data.txt"): ("may-matter", "not tested: its earlier content is not kept"),
    }
    assert kernel.value("x") == 2


BOX = """import xml.etree.ElementTree as ET
class Box:
    def __init__(self):
        self.root = ET.fromstring("<a/>")
    def add(self):
        self.root.append(ET.Element("b"))"""


def test_an_opaque_object_is_made_again(play):
    """Its content cannot be compared, but the cell that made it is known."""
    kernel = play(BOX, "box = Box()", "n = len(box.root)", "box.add()", "n = len(box.root)")
    (cause,) = answer_of(kernel)["causes"]
    assert cause["message"].startswith("In[5] called `box.add()`; `box` cannot be inspected")
    assert (cause["proof"], cause["experiment"]) == back(4)


def test_an_opaque_object_that_is_not_made_again_is_not_tested(play):
    """Cells changed it before the earlier run too."""
    count = "n = len(box.root)"
    kernel = play(BOX, "box = Box()", "box.add()", count, ("box.add()", "again"), count)
    finding = "not tested: no recorded cell restores it"
    assert prove(kernel) == {"box": ("may-matter", finding)}


def test_an_opaque_object_that_the_later_run_altered_too_is_not_tested(play):
    """What that run found is gone."""
    count = "box.add()\nn = len(box.root)"
    kernel = play(BOX, "box = Box()", count, count)
    finding = "not tested: no recorded cell restores it"
    assert prove(kernel) == {"box": ("may-matter", finding)}
    reply = kernel.run("%replay 4")
    assert "In[4]'s result again, bit for bit" in reply.displays[-1]["text/plain"]


def test_other_causes_are_tested_without_making_opaque_objects_again(play):
    """Cells that used them are no reason to run the cell that made them."""
    slow = "import time\ntime.sleep(2.5)\nbox = Box()"
    count = "n = box.root.tag, len(x)"
    kernel = play(BOX, slow, "x = [1]", count, "box.add()", "x.append(2)", count)
    assert prove(kernel, "%why --json")["x"][0] == "proved"


def test_an_input_that_nothing_makes(play):
    """No recorded cell made that value, and it is not in memory."""
    play().run("%config IPyTorchSeed.keep_inputs = False", silent=True)
    kernel = play("x = [1]", "y = x[0]")
    kernel.run("x[0] = 7", silent=True)
    kernel.run("y = x[0]", "y = x[0]")
    found = prove(kernel)
    assert found == {"x": back(3, "`x[0]` (1 → 7)")}
    kernel.run("x[0] = 8", silent=True)
    kernel.run("y = x[0]", "y = x[0]")
    kernel.run("x[0] = 9", silent=True)
    assert prove(kernel, "%why 6 --json --prove") == {
        "x": ("may-matter", "not tested: no recorded cell restores it")
    }
    kernel.run("x = [5]", "make")
    kernel.run("y = x[0]", "y = x[0]")
    assert prove(kernel, "%why 6 --json --prove --against 9") == {
        "x": ("may-matter", "not tested: no recorded cell makes the `x` that In[6] read")
    }


def test_a_cell_that_does_not_repeat(play):
    """That is the finding, whichever cause is restored."""
    ask = "out = x, os.urandom(4).hex()"
    found = prove(play("import os\nx = 1", ask, "x = 2", ask))
    assert found["x"] == (
        "may-matter",
        "not proved: run again from where In[5] began, the cell gave a different result",
    )  # fmt: skip
    assert found["os.urandom"] == (
        "proved",
        "proved: run twice from the same state, the cell gave two results",
    )


def test_what_answers_differently_each_time_is_the_only_cause(play):
    """A second run from the same state proves it."""
    ask = "out = os.urandom(4).hex()"
    assert prove(play("import os", ask, ask)) == {
        "os.urandom": (
            "proved",
            "proved: run twice from the same state, the cell gave two results",
        )
    }


def test_a_variable_that_does_not_repeat(play):
    """It is not compared; the causes of the other variables are proved."""
    ask = "name = os.urandom(4).hex()\nout = 2 * x"
    assert prove(play("import os\nx = 1", ask, "x = 2", ask)) == {
        "x": back(3, result="`out`"),
        "os.urandom": (
            "may-matter",
            "run twice from the same state, the cell gave two values of name",
        ),
    }


def test_a_counter_that_the_cell_goes_on_with(play):
    """No other change depends on it, and the answer says so."""
    ask = "n_runs += 1\nout = 2 * x"
    kernel = play("n_runs = 0\nx = 1", ask, "x = 2", ask)
    assert prove(kernel) == {"x": back(3)}
    (cleared,) = json.loads(kernel.run("%why 5 --json").stdout)["cleared"]
    assert cleared["name"] == "n_runs"
    assert cleared["message"].startswith("no effect: only the cell itself changes it")


def test_what_else_changed_depends_on_a_counter(play):
    """The counter is a cause, which the cell itself carries on."""
    ask = "n_runs += 1\nout = x * n_runs"
    found = prove(play("n_runs = 0\nx = 1", ask, "x = 2", ask))
    assert {name: level for name, (level, _) in found.items()} == {
        "x": "proved",
        "n_runs": "carried",
    }


def test_an_input_that_only_a_counter_depends_on(play):
    """It is not cleared, since the counter is a result too, though not compared."""
    ask = "n += step\nout = 2 * x"
    found = prove(play("n = 0\nstep = 1\nx = 1", ask, "step = 5", "x = 2", ask))
    assert found == {
        "x": back(3),
        "step": ("may-matter", "not proved: restoring it changes n"),
    }


def test_what_was_cleared_is_tested_too(play):
    """A cell that only appends to a list does not read it, but depends on it."""
    found = prove(play("log = []\nx = [1]", "log.append(len(x))", "x[0] = 2", "log.append(len(x))"))
    assert {name: level for name, (level, _) in found.items()} == {"log": "carried"}


def test_a_graph_that_is_not_copied_is_the_reason(play):
    """A copy of the value has no link to its inputs."""
    use = "g = torch.autograd.grad(y, w, retain_graph=True)[0].tolist(), n"
    kernel = play("import torch\nw = torch.ones(2, requires_grad=True)\ny = (w * 2).sum()",
                  "n = 1", use, "n = 2", use)  # fmt: skip
    assert prove(kernel)["n"] == (
        "may-matter",
        "not proved: the autograd graph behind y cannot be copied",
    )


def test_a_cell_that_failed(play):
    """The cause of the failure is proved: restoring it gives the earlier result."""
    kernel = play("x = 2", "y = 1 / x", "x = 0", "y = 1 / x")
    assert prove(kernel, "%why 5 --json --prove") == {"x": back(3)}
    assert kernel.value("get_ipython().last_execution_succeeded") is True


def test_a_maker_that_fails(play):
    """Nothing can be rebuilt then, and all is as before."""
    make = "data = [1] if first else 1 / 0\nfirst = False"
    kernel = play("first = True", make, "total = sum(data)")
    kernel.run("data = [5]", "other")
    kernel.run("total = sum(data)", "total = sum(data)")
    kernel.run("def sum(x):\n    raise ValueError")
    kernel.run("del sum")
    assert {level for level, _ in prove(kernel, "%why 6 --json --prove").values()} <= {
        "proved", "may-matter",
    }  # fmt: skip


def test_a_cell_that_writes_a_file_is_not_run(play, tmp_path):
    """The answer tells what would happen; with --yes it happens."""
    save = "open('out.txt', 'a').write(str(x))\ny = x"
    kernel = play("x = 1", save, "x = 2", save)
    reply = kernel.run("%why --prove")
    assert reply.error.evalue == (
        "%why: In[5] writes out.txt. Nothing was run; to run that again for a proof, add --yes"
    )
    assert (tmp_path / "out.txt").read_text() == "12"
    assert prove(kernel, "%why 5 --json --prove --yes") == {"x": back(3)}
    assert len((tmp_path / "out.txt").read_text()) > 2


def test_yes_goes_with_prove(new_kernel):
    """The option means nothing alone."""
    assert "--yes needs --prove" in new_kernel.run("%why --yes").error.evalue


def test_what_cannot_be_copied_is_left_alone(play):
    """An experiment would consume a generator that the cell iterates."""
    kernel = play("items = (i for i in range(9))\nx = 1", "y = next(items), x", "x = 2",
                  "y = next(items), x")  # fmt: skip
    found = prove(kernel, "%why 5 --json --prove")
    assert {level for level, _ in found.values()} == {"may-matter"}
    assert kernel.value("next(items)") == 2


def test_a_deterministic_cell(play):
    """Its seed and flags apply in each experiment, and no receipt is shown."""
    cell = "%%deterministic 42\nout = torch.rand(2).sum().item() * scale"
    kernel = play("import torch\nscale = 1", (cell, "d"), "scale = 2", (cell, "d"))
    assert prove(kernel) == {"scale": back(3)}
    assert kernel.value("torch.are_deterministic_algorithms_enabled()") is False


def test_a_cell_that_gives_commands_is_not_run(play):
    """The effects of our commands would not be undone."""
    cell = "%seed off\ny = x"
    kernel = play("x = 1", (cell, "c"), "x = 2", (cell, "c"))
    assert prove(kernel) == {
        "x": ("may-matter", "not tested: In[5] uses commands of this extension")
    }


def test_seeds_of_the_cells_are_not_logged(play):
    """Seeds applied in an experiment are undone, also in the status of %seed."""
    cell = "%seed 7 -q\ny = x"
    kernel = play("x = 1", (cell, "c"), "x = 2", (cell, "c"), "%seed 1 -q")
    log = kernel.run("%seed log").displays[0]["text/plain"]
    assert prove(kernel, "%why 5 --json --prove") == {"x": back(3)}
    assert kernel.run("%seed log").displays[0]["text/plain"] == log


def test_a_rule_that_a_cell_sets_is_as_before(play):
    """Experiments set the rule too, and it is off afterwards."""
    cell = "get_ipython().run_line_magic('seed', 'each 7 -q')\ny = x"
    kernel = play("x = 1", (cell, "c"), "x = 2", (cell, "c"), "%seed off -q")
    prove(kernel, "%why 5 --json --prove")
    assert "Before every cell" not in kernel.run("%seed").displays[0]["text/plain"]


def test_folders_that_experiments_enter_are_not_listed(play):
    """IPython lists each folder that ``%cd`` enters, as for ``%cd -2``."""
    cell = "%cd -q .\ny = x"
    kernel = play("x = 1", (cell, "c"), "x = 2", (cell, "c"))
    assert prove(kernel) == {"x": back(3)}  # `_dh` is compared too


def test_a_cell_that_awaits_shows_and_plots(play):
    """Its outputs are not shown."""
    cell = (
        "import asyncio, sys\nfrom IPython.display import display\nawait asyncio.sleep(0)\n"
        "display(x)\nprint(x)\nprint(x, file=sys.stderr)\nx"
    )
    kernel = play("x = 1", (cell, "c"), "x = 2", (cell, "c"))
    assert prove(kernel) == {"x": back(3)}
    assert kernel.run("_").shown == "2"


def test_an_interrupt_leaves_everything_as_before(play):
    """The interrupt comes in the second experiment."""
    cell = (
        "import signal, sys\nvars(sys)['calls'] = n = vars(sys).get('calls', 0) + 1\n"
        "x.append(n)\nif n == 4:\n    signal.raise_signal(signal.SIGINT)\ny = len(x)"
    )
    kernel = play("x = []", (cell, "c"), (cell, "c"))
    before = kernel.value(LOOK)
    reply, runs = kernel.record("%why --prove", "ask")
    assert reply.error.evalue == "%why: interrupted; everything is as before"
    assert kernel.value(LOOK) == before
    assert [run.source for run in runs] == ["%why --prove"]
    assert kernel.value("__import__('sys').calls") == 4


def test_how_far_it_is(play):
    """A line names what is being restored, and disappears."""
    cell = "import time\ntime.sleep(0.6)\ny = x"
    kernel = play("x = 1", (cell, "c"), "x = 2", (cell, "c"))
    reply = kernel.run("%why --prove")
    assert len(reply.displays) == 2
    assert reply.displays[0]["text/plain"] == ""


def test_an_earlier_kernel(play):
    """The rerun is compared with the record of the earlier run; its cells run again."""
    kernel = play("import random\nrandom.seed(1)\nx = [1]", "x.append(random.random())\ny = x[-1]")
    kernel.restart()
    kernel.run("%load_ext ipytorchseed")
    kernel = play("import random\nrandom.seed(2)\nx = [1]", "x.append(random.random())\ny = x[-1]")
    how = "proved: restoring it gives the earlier run's result again"
    assert prove(kernel) == {"python": ("proved", how)}


def test_tab_completes_it(new_kernel):
    """It is completed like every option."""
    assert "--prove" in new_kernel.complete("%why --p")


def test_a_replay_proves_the_causes(play):
    """All causes that it restored are proved together."""
    kernel = play("x = [1]", "x.append(len(x))\nlen(x)", "x.append(len(x))\nlen(x)")
    shown = " ".join(kernel.run("%replay 3").displays[-1]["text/plain"].split())
    assert "✓ In[5] is In[3]'s result again" in shown
    assert "This proves the cause: x." in shown


READ = "text = open('data.txt').read()"


def test_a_file_that_was_small(play, tmp_path):
    """Its earlier content is still in memory; the file itself does not change."""
    file = tmp_path / "data.txt"
    file.write_text("1")
    kernel = play(READ)
    file.write_text("2")
    play(READ)
    assert prove(kernel) == {str(file): back(2)}
    assert file.read_text() == "2"


@pytest.mark.parametrize(
    ("setup", "read"),
    [
        ("import numpy as np\nnp.save('x', np.ones(2))", "x = np.load('x.npy')"),
        (
            "import pandas as pd\npd.DataFrame({'a': [1]}).to_csv('x.csv')",
            "x = pd.read_csv('x.csv')",
        ),
        ("import torch\ntorch.save(torch.ones(2), 'x.pt')", "x = torch.load('x.pt')"),
        ("from pathlib import Path\nPath('x').write_text('1')", "x = Path('x').read_text()"),
        ("import json, os\nos.write(os.open('x', 65), b'1')", "x = os.read(os.open('x', 0), 9)"),
    ],
)
def test_a_file_that_a_library_reads(play, setup, read):
    """Any Python code may open it."""
    again = setup.replace("1]", "2]").replace("ones(2)", "zeros(2)").replace("'1'", "'2'")
    kernel = play(setup, read, (again, "again"), read)
    (said,) = prove(kernel).values()
    assert said == back(3)


def test_a_file_that_was_not_there(play, tmp_path):
    """The cell finds no file, as before."""
    read = "try:\n    text = open('data.txt').read()\nexcept FileNotFoundError:\n    text = ''"
    kernel = play(read)
    (tmp_path / "data.txt").write_text("2")
    play(read)
    assert set(prove(kernel).values()) == {back(2)}


def test_an_input_whose_maker_would_write_a_file(play):
    """A small input is in memory, so only the cell itself runs again."""
    make = "with open('log.txt', 'a') as log:\n    rate = {}\n    log.write('made')"
    kernel = play(make.format([0.1]), "out = rate[0] * 2", make.format([0.5]), "out = rate[0] * 2")
    part = "restoring `rate[0]` (0.1 → 0.5) gives In[3]'s result again"
    assert prove(kernel, "%why --json") == {"rate": ("proved", f"proved: {part}")}


def test_inputs_are_not_kept_if_the_user_says_so(play):
    """The cell that made the input then has to run again."""
    make = "with open('log.txt', 'a') as log:\n    rate = {}\n    log.write('made')"
    kernel = play("%config IPyTorchSeed.keep_inputs = False", make.format([0.1]), "out = rate[0]")
    play(make.format([0.5]), "out = rate[0]")
    (said,) = prove(kernel, "%why --json").values()
    assert "writes log.txt" in said[1]


@pytest.mark.parametrize(
    ("make", "what"),
    [
        ("t = threading.Thread(target=stop.wait, args=(9,))\nt.start()", "leaves a thread running"),
        ("w = ipywidgets.IntSlider()", "opens a widget"),
        ("pool = ThreadPoolExecutor(1)\npool.submit(stop.wait, 9)", "leaves a thread running"),
    ],
)
def test_cells_that_leave_something_running_are_not_run_unasked(play, make, what):
    """The answer names what keeps running."""
    setup = "import threading, ipywidgets\nfrom concurrent.futures import ThreadPoolExecutor"
    cell = f"{make}\nout = k", "cell"
    kernel = play(f"{setup}\nstop, k = threading.Event(), 1", cell, "k = 2", cell)
    try:
        (said,) = prove(kernel, "%why --json").values()
        assert said == ("may-matter", f"not tested: In[5] {what} · %why --prove")
    finally:
        kernel.run("stop.set()")


def test_the_thread_of_a_progress_bar_is_no_obstacle(play):
    """The thread belongs to the library."""
    cell = "for _ in tqdm(range(2)):\n    out = k"
    kernel = play("from tqdm import tqdm\nk = 1", cell, "k = 2", cell)
    assert prove(kernel, "%why --json") == {"k": back(3)}


def tell(kernel):
    """Return the answer of ``%why`` for a change without known cause."""
    answer = json.loads(kernel.run("%why --json", "ask").stdout)
    assert answer["verdict"] == "unexplained"
    return answer["message"], kernel.run("%why", "ask").displays[-1]["text/plain"]


HIDDEN = "import ctypes\nbyte = ctypes.c_char(b'1')\nat = ctypes.addressof(byte)"


def test_a_cell_that_repeats_though_nothing_explains_its_change(play):
    """The answer says so, and how to look further."""
    read = "out = ctypes.string_at(at, 1)"
    message, text = tell(play(HIDDEN, read, "byte.value = b'2'", read))
    how = "un again from the same state, the cell gave In[5]'s result again, so something that"
    assert f"; r{how} is not recorded was different before" in message
    assert f"R{how}" in " ".join(text.split())


def test_a_cell_that_nothing_explains_and_that_does_not_repeat(play):
    """The answer says so, and how to find the operation."""
    read = "out = ctypes.string_at(at, 1)[0]\nctypes.memset(at, out + 1, 1)"
    message, text = tell(play(HIDDEN, read, read))
    assert "; run twice from the same state, the cell gave two results. Next step:" in message
    assert "Run twice from the same state, the cell gave two results." in text


def test_a_column_that_a_library_reads_is_a_cause(play):
    """The text of the cell names only another column."""
    setup = "import pandas as pd\ndf = pd.DataFrame({'area': ['a', 'b'], 'price': [1.0, 2.0]})"
    first = "first = df.groupby('area').first()\nfirst"
    kernel = play(setup, first, "df.loc[0, 'price'] = 9.0", first)
    part = "restoring `df['price'].iloc[0]` (1 → 9) gives In[3]'s result again"
    assert prove(kernel, "%why --json") == {"df": ("proved", f"proved: {part}")}


def test_of_many_suspects_the_most_likely_are_tested_in_the_time_that_there_is(play):
    """The others may matter; with --prove all are tested."""
    setup = "import time\nclass Config: pass\ncfg, other = Config(), Config()\ncfg.c = other.c = 0"
    use = "out = k + cfg.c + other.c\ntime.sleep(0.3)"
    kernel = play(f"{setup}\nk = cfg.a = other.b = 1", use, "k = cfg.a = other.b = 2", use)
    late = "not tested: there was no time for it · %why --prove"
    alone = ("proved", "proved: restoring it gives In[3]'s result again")
    assert prove(kernel, "%why --json") == {"k": alone, "other": ("may-matter", late)}
    assert prove(kernel, "%why --prove --json") == {"k": alone}


def test_a_function_of_a_package_that_was_replaced(play):
    """The package's function is restored for the test, then the user's again."""
    use = "out = float(np.mean([1, 2, 6]))"
    kernel = play("import numpy as np", use, "np.mean = lambda values: 0.0", use)
    assert prove(kernel, "%why --json") == {"numpy.mean": back(3)}
    assert kernel.value("np.mean([1])") == 0.0


def test_what_a_logger_writes_is_not_shown(play):
    """Loggers hold the stream that they write to."""
    setup = (
        "import logging, random, sys\nlog = logging.getLogger('held')\n"
        "for stream in (sys.stdout, sys.stderr):\n"
        "    log.addHandler(logging.StreamHandler(stream))"
    )
    draw = "log.warning(f'drew {round(random.random(), 9)}')"
    kernel = play(setup, draw, draw)
    reply = kernel.run("%why")
    assert "proved: restoring it gives In[3]'s result again" in reply.displays[0]["text/plain"]
    assert (reply.stdout, reply.stderr) == ("", "")

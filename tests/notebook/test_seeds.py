"""``%%seeds`` in a kernel keeps the study, and nothing else."""

from __future__ import annotations

import json
import socket

import pytest

from tests.kernel import Kernel

SETUP = """
import os
net = torch.nn.Linear(4, 1)
sgd = torch.optim.SGD(net.parameters(), lr=0.1)
x = torch.randn(32, 4)
scores = {"old": 1.0}
history = []
def train(steps):
    global seen
    for step in range(steps):
        loss = ((net(x) - x.sum(1, keepdim=True) + torch.randn(32, 1)) ** 2).mean()
        sgd.zero_grad(); loss.backward(); sgd.step()
        history.append(loss.item())
    seen = len(history)
    return loss
""".strip()

BODY = """
torch.set_default_dtype(torch.float64); os.environ["OF_A_RUN"] = "1"; os.chdir("/")
warnings.simplefilter("ignore")
loss = train(3)
scores["val"] = loss.item() / 2
print("trained")
if random.random() < 0.2: raise ValueError("unlucky")
np.random.rand()
""".strip()

STATE = """
{"names": sorted(n for n in globals() if n[0] != "_"), "flags": repr(__import__(
"ipytorchseed.determinism.table").determinism.table.read_flags()), "python": random.getstate(),
"numpy": repr(np.random.get_state()), "torch": torch.get_rng_state().tolist(),
"net": [[p.tolist(), p.grad, p._version] for p in net.parameters()], "scores": scores,
"history": history, "environment": dict(os.environ), "folder": os.getcwd(),
"filters": repr(warnings.filters),
"hints": __import__("ipytorchseed.rng.table").rng.table.recent_seeds()}
""".strip().replace("\n", "")


@pytest.fixture(scope="module")
def ready(loaded):
    """Define a model, and a function that trains it."""
    assert loaded.run(SETUP).error is None
    return loaded


def test_a_body_that_python_cannot_read_is_an_error_of_the_cell(kernel):
    """No seed is blamed; lines count from the cell's first line, as in tracebacks."""
    reply = kernel.run("%%seeds 3\nx = 1\ny = (")
    assert reply.status == "error"
    assert reply.stderr.strip().startswith("UsageError: %%seeds: the cell cannot run: ")
    assert reply.stderr.strip().endswith(" on line 3")


def test_afterwards_everything_is_as_before(ready, kernel):
    """This covers sources, flags, environment, filters, values and names.

    Prints are hidden.
    """
    before = kernel.value(STATE)
    reply = kernel.run(f"%%seeds 6 --from 100 --json\n{BODY}")
    assert kernel.value(STATE) == before
    study = json.loads(reply.stdout)
    assert study["seeds"] == [100, 101, 102, 103, 104, 105]
    assert study["failed"] == [
        {"seed": seed, "error": "ValueError: unlucky"} for seed in (100, 102)
    ]
    numbers = {each["name"]: each["values"] for each in study["numbers"]}
    assert sorted(numbers) == ["loss", "result", "scores['val']", "seen"]
    assert [value is None for value in numbers["loss"]] == [True, False, True, False, False, False]
    assert len({*numbers["loss"]}) == 5
    assert numbers["seen"][1] == 3
    assert reply.results == []
    assert kernel.run("_.record.seeds[0]").shown == "100"


def test_what_it_shows(ready, kernel):
    """It shows a table of at most 80 columns, and the same as HTML without script."""
    reply = kernel.run(f"%%seeds 6 --from 100\n{BODY}")
    (bundle,) = reply.results
    assert reply.stdout == ""
    lines = bundle["text/plain"].splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[0] == "6 seeds (100 to 105), 2 failed"
    assert "Seeds 100, 102 failed: ValueError: unlucky" in lines
    assert "The same with every seed: seen = 3." in lines
    assert "<script" not in bundle["text/html"]
    assert bundle["text/html"].count("<svg") == 3


@pytest.mark.parametrize("option", ["", " --json"])
def test_where_no_seed_ran_to_its_end_the_cell_fails(ready, kernel, option):
    """Run All stops there, and the study is still shown."""
    reply = kernel.run(f"%%seeds 2{option}\nno_such_name")
    assert reply.status == "error"
    assert "%%seeds: no seed ran to its end: NameError: name 'no_such_name'" in reply.stderr
    shown = reply.stdout if option else reply.displays[-1]["text/plain"]
    assert "NameError" in shown
    assert kernel.run("_.record.seeds[1]").shown == "1"


def test_a_seed_in_the_body_is_not_the_last_one_afterwards(ready, kernel):
    """It is undone like all other effects of the runs."""
    kernel.run("%seed 42")
    kernel.run("%%seeds 2\nimport ipytorchseed\nipytorchseed.seed(5)\nx = random.random()")
    assert kernel.run("%seed").displays[-1]["text/plain"].startswith("Last seed: 42.\n")


def test_a_number_is_shown_once(ready, kernel):
    """The result may be a dictionary that also has a name."""
    reply = kernel.run("%%seeds 2 --json\nscored = {'val': random.random()}\nscored")
    assert [each["name"] for each in json.loads(reply.stdout)["numbers"]] == ["scored['val']"]


def test_a_study_is_kept_and_compared_across_kernels(tmp_path):
    """Seeds are compared one by one, with a careful sentence; names are per notebook."""
    with Kernel(tmp_path) as kernel:
        kernel.run("%load_ext ipytorchseed")
        kernel.run("%%seeds 8 --keep base\nimport random\nacc = random.random()")
        kernel.restart()
        kernel.run("%load_ext ipytorchseed")
        lines = {
            "acc = random.random() + 0.5": "higher in 8 of 8 seeds; the difference of 0.5 ± ",
            "acc = random.random()": "acc: the same with each of 8 seeds.",
            "random.seed(); acc = random.random()": "the noise of seeds (p = ",
        }
        for line, said in lines.items():
            text = kernel.run(f"%%seeds 8 --versus base\nimport random\n{line}").shown
            assert said in " ".join(text.split())
        kept = kernel.run("%%seeds 8 --versus bsae\n1.0").error.evalue
        assert kept == "%%seeds: nothing is saved as 'bsae'; saved: base; did you mean base?"
        apart = kernel.run("%%seeds 8 --from 50 --versus base\n1.0").error.evalue
        assert "without a seed in common there is nothing to pair" in apart
        names = kernel.run("%%seeds 8 --versus base\nother = 1.0").shown
        assert "compute different numbers: acc there, other here" in " ".join(names.split())
        assert kernel.run("%seed restore base").error.evalue.startswith("%seed: nothing is saved")


SHAPES = {
    "await": ("import asyncio\nawait asyncio.sleep(0)\nrandom.random()", "result"),
    "a program": ("said = !echo 4\nfound = int(said[0]) + random.random()", "found"),
    "a magic": ("%time drawn = random.random()", "drawn"),
    "a cell magic": ("%%time\ndrawn = random.random()", "drawn"),
    "a separate generator": ("it = np.random.default_rng(random.getrandbits(9)).random()", "it"),
    "a result of several": ("{'a': random.random(), 'b': 'text'}", "a"),
    "the last line shows it": ("drawn = random.random()\ndrawn", "drawn"),
    "numpy": ("float(np.random.rand())", "result"),
}


@pytest.mark.parametrize("name", SHAPES)
def test_bodies_of_all_kinds(ready, kernel, name):
    """They behave as without the magic."""
    body, number = SHAPES[name]
    study = json.loads(kernel.run(f"%%seeds 2 --json\n{body}").stdout)
    assert study["failed"] == []
    varying = [each["name"] for each in study["numbers"] if each.get("std")]
    assert varying == [number]


def test_under_deterministic_flags(ready, kernel):
    """``%%deterministic`` above it applies in each run."""
    asked = "1.0 * torch.are_deterministic_algorithms_enabled() + 0 * random.random()"
    study = json.loads(kernel.run(f"%%deterministic\n%%seeds 2 --json\n{asked}").stdout)
    assert study["numbers"][0]["values"] == [1.0, 1.0]
    below = kernel.run("%%seeds 2\n%%deterministic\n1.0").error.evalue
    assert below.startswith("%%seeds: put %%deterministic above %%seeds")


def test_generators_of_the_notebook(ready, kernel):
    """They are copied, not seeded, and named; one made from a draw follows the seed."""
    kernel.run("own = np.random.default_rng(1)")
    alone = kernel.run("%%seeds 3\nown.random()").shown
    assert "Not seeded, so they start in the same state in every run: own." in alone
    study = json.loads(
        kernel.run(
            "%%seeds 3 --json\nnp.random.default_rng(random.getrandbits(32)).random()"
        ).stdout
    )
    assert len({*study["numbers"][0]["values"]}) == 3
    fresh = kernel.value("np.random.default_rng(1).random()")
    assert kernel.value("own.random()") == fresh
    kernel.run("del own")


WRONG = {
    "0": "a study takes 2 to 10000 seeds, not 0",
    "1": "a study takes 2 to 10000 seeds, not 1",
    "-1": "No such option '-1'",
    "eight": "'eight' is not a valid integer",
    "1e9": "'1e9' is not a valid integer",
    "1000000000": "a study takes 2 to 10000 seeds, not 1000000000",
    "": "Missing argument 'N'",
    "8 --from -1": "a seed is an integer from 0 to 4294967295, not -1: ",
    "8 --from 4294967295": "8 seeds from 4294967295 exceed 4294967295",
    "8 --versus nothing": "nothing is saved as 'nothing'; saved: nothing",
    "8 --keep -x": "'-x' is not a valid name",
    "8 --engine": "No such option '--engine'; did you mean --engines?",
    "8 --engines": "no ipyparallel cluster is connected here",
}


@pytest.mark.parametrize("line", WRONG)
def test_a_wrong_line_is_one_line_that_says_what_to_do(ready, kernel, line):
    """Nothing has run."""
    error = kernel.run(f"%%seeds {line}\nran = open('ran', 'w')").error
    assert error.ename == "UsageError"
    assert WRONG[line] in error.evalue
    assert "\n" not in error.evalue
    assert kernel.value("os.path.exists('ran')") is False


def test_what_cannot_be_copied_is_refused(ready, kernel):
    """Each run would move the position in a file."""
    kernel.run("file = open(os.devnull)")
    error = kernel.run("%%seeds 2\nfile.read(1)\n1.0").error
    assert error.evalue.startswith("%%seeds: file cannot be copied, and each run would change it")
    kernel.run("file.close(); del file")


def test_an_interrupt_leaves_everything_as_before(ready, kernel):
    """The cell ends with an error, so that queued cells do not run."""
    before = kernel.value(STATE)
    stop = "if len({*history}) == 0 and torch.initial_seed() == 2: os.kill(os.getpid(), 2)"
    error = kernel.run(f"%%seeds 8\n{stop}\ntrain(1).item()").error
    assert error.evalue == "%%seeds: interrupted after 2 of 8 seeds; everything is as before"
    assert kernel.value(STATE) == before


def test_long_work_shows_how_far_it_is(ready, kernel):
    """The line disappears when the study is complete."""
    slow = "import time\ntime.sleep(0.2)\nrandom.random()"
    code = "from ipytorchseed.notebook import rerun as progress\nsaid = []\nold = progress.Progress.step"
    note = "progress.Progress.step = lambda self, what, **k: (said.append(what), old(self, what))"
    kernel.run(f"{code}\n{note}\nprogress._PATIENCE, progress._EVERY = 0.2, 0.05")
    kernel.run(f"%%seeds 4\n{slow}")
    assert kernel.value("said[-1]") == "█████████░░░ 3 of 4 · seed 3 …"
    kernel.run(
        "progress._PATIENCE, progress._EVERY = 1.5, 0.3\n"
        "progress.Progress.step = old; del said, old, progress"
    )


def test_files_that_the_runs_write_are_named(kernel):
    """They are reported as not restored; files of other cells are not named."""
    kernel.run("open('before.txt', 'w').close()")
    study = kernel.run("%%seeds 2\nopen('log.txt', 'a').write('x'); v = random.random()")
    assert "Each run wrote log.txt: files are not restored." in study.shown
    assert "before" not in study.shown
    assert "files" not in kernel.run("%%seeds 2\nv = random.random()").shown


def test_connections_that_the_runs_open_are_named(kernel):
    """Data that they sent cannot be taken back."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        send = f"import socket\nsocket.create_connection(('localhost', {port})).close()"
        study = kernel.run(f"%%seeds 2\n{send}\nv = random.random()")
    told = f"Each run connected to localhost:{port}: what it sent cannot be taken back."
    assert told in study.shown
    assert "connected" not in kernel.run("%%seeds 2\nv = random.random()").shown


DICE = """
import ipytorchseed as its
class Dice:
    state = 1
    def seed(self, value): self.state = value
    def read(self): return str(self.state).encode()
    def write(self, kept): self.state = int(kept)
    def roll(self):
        self.state = (self.state * 16807 + 1) % 2147483647
        return self.state % 6
dice = Dice()
its.register_source("dice", seed=dice.seed, read=dice.read, write=dice.write)
""".strip()


def test_an_object_behind_a_registered_source_is_seeded_not_copied(kernel):
    """This applies in each run, also under a check; its state is restored afterwards."""
    kernel.run(DICE)
    kernel.run("dice.roll()")
    try:
        stood = kernel.value("dice.state")
        study = json.loads(
            kernel.run("%%seeds 3 --json\nsum(dice.roll() for _ in range(9))").stdout
        )
        assert len({*study["numbers"][0]["values"]}) > 1
        assert kernel.value("dice.state") == stood
        said = kernel.run("%%deterministic 3 --check\nv = dice.roll()").displays[-1]["text/plain"]
        assert said.startswith("The cell repeats")
    finally:
        kernel.run(
            "from ipytorchseed.rng import table\ntable._registered.pop('dice')\ntable.holders.clear()\n"
            "print(len(table.holders))\ndel table, dice"
        )
    assert kernel.value("len(__import__('ipytorchseed.rng.table').rng.table.holders)") == 0


def test_traps_that_a_run_left_open_are_closed(new_kernel):
    """An interrupt in IPython's own ``%%time`` leaves them open.

    Builtins would stay replaced.
    """
    level = "get_ipython().builtin_trap._nested_level"
    before = new_kernel.value(level)
    new_kernel.run(f"%%seeds 2\n{level} += 1\nx = 1.0")
    assert new_kernel.value(level) == before

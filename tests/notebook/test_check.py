"""``%%deterministic --check`` finds operation and line, and leaves nothing behind."""

from __future__ import annotations

import json
import socket

import pytest

# A model with an operation that adds in any order, in its forward or backward pass.
SETUP = """
from torch import nn
import torch.nn.functional as F
torch.manual_seed(0)
index = torch.randint(0, 500, (500_000,))
value = torch.randn(500_000)

class Net(nn.Module):
    def __init__(self, way):
        super().__init__()
        self.way = way
        self.table = nn.Parameter(torch.randn(500))
        self.head = nn.Linear(100, 4)

    def forward(self, index):
        if self.way == "index_put_":
            summed = torch.zeros(500).index_put_((index,), value, accumulate=True)
        elif self.way == "put_":
            summed = torch.zeros(500).put_(index, value, accumulate=True)
        elif self.way == "index backward":
            return (self.table[index] * value).sum() * self.head.weight.sum()
        else:
            return (torch.take(self.table, index) * value).sum() * self.head.weight.sum()
        return self.head((self.table * summed).view(5, 100)).sum()
""".strip()

WAYS = {
    "index_put_": ("aten::index_put_", ""),
    "put_": ("aten::put_", ""),
    "index backward": ("aten::index_put", "backward"),
    "take backward": ("aten::put", "backward"),
}


@pytest.fixture(scope="module")
def prepared(loaded):
    """Make the model, and more threads than cores, which run in varying order."""
    assert loaded.run(SETUP).error is None
    loaded.run("torch.set_num_threads(8)")
    yield
    loaded.run("torch.set_num_threads(2)")


TRAIN = """
for step in range(12):
    optimizer.zero_grad()
    loss = net(index)
    loss.backward()
    optimizer.step()
""".strip()


@pytest.mark.parametrize("way", WAYS)
def test_an_operation_that_adds_in_any_order_is_found_in_a_model(loaded, prepared, way):
    """The line of the cell is found, also for backward passes, and flags fix it."""
    operation, where = WAYS[way]
    loaded.run(f"net = Net({way!r}); optimizer = torch.optim.Adam(net.parameters())")
    reply = loaded.run(f"%%deterministic --check --json\n{TRAIN}")
    said = json.loads(reply.stdout)
    assert said["reproducible"] is False
    assert said["first_divergence"]["operation"] == operation
    assert said["first_divergence"]["line"] == 4
    assert said["with_flags"] == "repeats"
    assert ("variable", "net") in {(each["what"], each["name"]) for each in said["differences"]}
    if way in {"put_", "take backward"}:
        shown = loaded.run(f"%%deterministic --check\n{TRAIN}").displays[-1]
        assert "4: loss = net(index)" in shown["text/plain"]
        assert ("in the backward pass of line 4" in shown["text/plain"]) is bool(where)
        assert "It runs in net." in " ".join(shown["text/plain"].split())


DIGITS = """
from sklearn.datasets import load_digits
images, labels = load_digits(return_X_y=True)
data = torch.utils.data.TensorDataset(torch.tensor(images).float() / 16, torch.tensor(labels))
loader = torch.utils.data.DataLoader(data, batch_size=64, shuffle=True)
digits = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Dropout(0.2), nn.Linear(64, 10))
sgd = torch.optim.SGD(digits.parameters(), lr=0.1, momentum=0.9)
plan = torch.optim.lr_scheduler.StepLR(sgd, 100)
losses = []
""".strip()

DIGITS_TRAIN = """
batches = iter(loader)
for step in range(300):
    pair = next(batches, None)
    if pair is None:
        batches = iter(loader)
        pair = next(batches)
    sgd.zero_grad()
    error = F.cross_entropy(digits(pair[0]), pair[1])
    error.backward()
    sgd.step()
    plan.step()
    losses.append(error.item())
print(f"{losses[-1]:.3f}")
""".strip()


def test_a_training_of_300_steps_repeats_and_counts_once(loaded, prepared):
    """The user's model is trained once, and the output is shown once."""
    loaded.run(DIGITS)
    reply = loaded.run(f"%%deterministic --check\n{DIGITS_TRAIN}")
    assert reply.displays[-1]["text/plain"] == (
        "The cell repeats, bit for bit: two runs from the same state gave the same\nresult."
    )
    assert len(reply.stdout.splitlines()) == 1
    assert loaded.value("len(losses), plan.last_epoch, sgd.param_groups[0]['lr'] < 0.001") == (
        300,
        300,
        True,
    )


OUTSIDE = {
    "unwritten memory": (
        "vars(time).setdefault('runs', []).append(1)\n"  # not restored by any run
        "old = [np.full(15_000, 1.0 * len(vars(time)['runs'])) for _ in range(9)]\ndel old\n"
        "x = [torch.empty(20_000) for _ in range(9)]\ny = sum(each.sum().item() for each in x)",
        "aten::empty on line 5 gives memory that is used before it is written.",
    ),
    "a clock": (
        "now = time.time()\nx = torch.ones(2, dtype=torch.float64) * now",
        "The cell calls `time.time()`, which reads the clock",
    ),
    "a clock that is the result": (
        "begun = time.time()\nx = torch.ones(2)\ntime.time() - begun",
        "The cell calls `time.time()`, which reads the clock",
    ),
    "numpy": (
        "rng = np.random.default_rng()\nx = torch.from_numpy(rng.normal(size=3)) * 2",
        "The cell calls `numpy.random.default_rng()`, which draws from the operating",
    ),
    "the order of a set": (
        "class It:\n    pass\nits = {It(): n for n in range(40)}\nx = [its[i] for i in set(its)]",
        "It may use the order of a set",
    ),
    "threads": (
        "import threading\ngot = []\n"
        "def work(n):\n    time.sleep(random.SystemRandom().random() / 20)\n    got.append(n)\n"
        "threads = [threading.Thread(target=work, args=(n,)) for n in range(12)]\n"
        "[t.start() for t in threads]\n[t.join() for t in threads]\ndel threads",
        "It computed in 12 threads that it started",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("body", "words"), OUTSIDE.values(), ids=OUTSIDE)
def test_other_differences_are_told_apart(kernel, body, words):
    """Each is described by its evidence; no operation is accused."""
    text = " ".join(
        kernel.run(f"%%deterministic --check\n{body}").displays[-1]["text/plain"].split()
    )
    assert text.startswith("The cell does not repeat")
    assert words in text


LEAVES = {
    "names": ("made = 1", "sorted(n for n in globals() if n.startswith('made'))", "['made']"),
    "the result in Out": ("6 * 7", "_", "42"),
    "the number of the cell": ("x = 1", "len(In) - len([*In])", "0"),
    "a class": ("class Made:\n    n = 0\nMade.n += 1", "Made.n", "1"),
    "a class of an earlier cell": ("Count.n += 1", "Count.n", "1"),
    "a closure": ("more()", "more()", "2"),
    "a flag": ("torch.set_grad_enabled(False)", "torch.is_grad_enabled()", "False"),
    "the environment": ("import os\nos.environ['MADE'] = 'x'", "os.environ.pop('MADE')", "'x'"),
}


@pytest.mark.parametrize(("body", "expression", "value"), LEAVES.values(), ids=LEAVES)
def test_afterwards_everything_is_as_after_one_run(loaded, body, expression, value):
    """This covers the namespace, attributes of functions and classes, and the process."""
    loaded.run(
        "class Count:\n    n = 0\ndef counter():\n    n = 0\n    def more():\n        nonlocal n\n"
        "        n += 1\n        return n\n    return more\nmore = counter()"
    )
    reply = loaded.run(f"%%deterministic --check\n{body}")
    assert (
        "The cell repeats" in reply.displays[-1]["text/plain"]
        or "nothing to compare" in (reply.displays[-1]["text/plain"])
    )
    assert loaded.run(expression).shown == value
    loaded.run("torch.set_grad_enabled(True)")


def test_a_seed_seeds_each_run_and_isolate_puts_the_sources_back(kernel):
    """The numbers are the same as with the seed alone."""
    kernel.run("torch.manual_seed(5)")
    reply = kernel.run("%%deterministic 42 --check 3 --isolate\ntorch.rand(2)")
    assert "The cell repeats, bit for bit: 3 runs" in reply.displays[-1]["text/plain"]
    after = kernel.run("torch.rand(2)").shown
    assert after == kernel.run("torch.manual_seed(5)\ntorch.rand(2)").shown
    assert reply.shown == kernel.run("torch.manual_seed(42)\ntorch.rand(2)").shown


def test_await_figures_and_displays_are_run_again_quietly(loaded):
    """Outputs of the first run are shown; those of later runs are only compared."""
    kernel = loaded  # matplotlib adds its events permanently
    reply = kernel.run(
        "%%deterministic --check\nimport matplotlib.pyplot as plt\n"
        "from IPython.display import display\nawait asyncio.sleep(0)\nprint('once')\n"
        "display({'text/plain': 'shown'}, raw=True)\nplt.plot([1, 2]);"
    )
    kinds = [sorted(each) for each in reply.displays]
    assert reply.stdout == "once\n"
    assert kinds[:2] == [["text/plain"], ["image/png", "text/plain"]]
    assert "The cell repeats" in reply.displays[2]["text/plain"]
    assert kernel.value("__import__('matplotlib.pyplot').pyplot.get_fignums()") == []


def test_how_a_result_is_shown_is_compared(kernel):
    """If the result cannot be displayed, later failures stay hidden."""
    kernel.run(
        "class Dice:\n    def __repr__(self): return str(random.SystemRandom().random())\n"
        "class Broken:\n    def __repr__(self): raise ValueError('broken')"
    )
    told = json.loads(kernel.run("%%deterministic --check --json\nDice()").stdout)
    assert told["differences"] == [
        {"what": "display", "name": "", "detail": "the same result, shown differently"}
    ]
    kernel.run("seen = []\nget_ipython()._showtraceback = lambda *error: seen.append(error)")
    told = json.loads(kernel.run("%%deterministic --check --json\nBroken()").stdout)
    assert told["reproducible"]
    assert kernel.value("len(seen)") == 1
    kernel.run("del get_ipython()._showtraceback, seen")


@pytest.mark.parametrize(
    ("head", "line"), [("%%deterministic{}\n%%time", 4), ("%%time\n%%deterministic{}", 4)]
)
def test_lines_count_beside_another_magic(kernel, prepared, head, line):
    """Lines are numbered as in the notebook's margin, from the cell's first line."""
    body = "for turn in range(40):\n    x = torch.zeros(500).put_(index, value, accumulate=True)"
    cell = f"{head.format(' --check --json')}\n{body}\n    made = made + x if turn else x"
    printed = kernel.run(cell).stdout.splitlines()
    said = json.loads(next(each for each in printed if each.startswith("{")))
    assert said["first_divergence"]["line"] == line


def test_a_cell_that_raises_raises_once_and_is_not_checked(kernel):
    """The error is shown unchanged, with its own traceback."""
    reply = kernel.run("%%deterministic --check\nprint('ran')\n1 / 0")
    assert reply.error.ename == "ZeroDivisionError"
    assert "----> 3 1 / 0" in reply.error.traceback
    assert reply.stdout == "ran\nNot checked: the cell ended with ZeroDivisionError. It ran once.\n"


REFUSED = {
    "too few": ("%%deterministic --check 1\nx = 1", "1 is not in the range 2<=x<=1000"),
    "no number": ("%%deterministic --check two\nx = 1", "'two' is not a valid integer"),
    "input": ("%%deterministic --check\nx = input()", "the cell asks for input"),
    "warn": ("%%deterministic --check --warn\nx = 1", "leave out --warn"),
    "trace": ("%%deterministic --check --trace\nx = 1", "leave out --trace"),
    "cudnn": ("%%deterministic --check --no-cudnn\nx = 1", "leave out --no-cudnn"),
}


@pytest.mark.parametrize(("cell", "words"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_checked_is_refused_before_it_runs(kernel, cell, words):
    """One line gives the reason."""
    kernel.run("x = 0")
    reply = kernel.run(cell)
    assert words in (reply.stderr + (reply.error.evalue if reply.error else ""))
    assert kernel.value("x") == 0


def test_input_that_is_only_met_while_running_is_refused_to_the_further_runs(kernel, monkeypatch):
    """The text does not show the call; here even the first run gets no input."""
    monkeypatch.setattr(kernel, "attended", False)
    body = "try:\n    vars(__import__('builtins'))['in' + 'put']()\nexcept Exception as error:\n    why = type(error).__name__"
    said = json.loads(kernel.run(f"%%deterministic --check --json\n{body}").stdout)
    assert [(each["what"], each["name"]) for each in said["differences"]] == [("variable", "why")]
    assert kernel.value("why") == "StdinNotImplementedError"


def test_a_cell_with_nothing_to_compare_says_so(kernel):
    """The cell is not run again."""
    for body in ("pass", "\n# a comment"):
        (shown,) = kernel.run(f"%%deterministic --check\n{body}").displays
        assert shown["text/plain"] == (
            "There is nothing to compare: the cell made no variable and showed nothing."
        )


def test_a_cell_that_makes_nothing_but_times_says_so(kernel):
    """Times are not compared, though the cell made a variable."""
    (shown,) = kernel.run("%%deterministic --check\nimport time\nbegun = time.time()").displays
    assert shown["text/plain"] == (
        "There is nothing to compare.\n\nNote: Not compared: begun (times or memory addresses)."
    )


def test_an_error_without_a_message_ends_without_a_colon(kernel):
    """The rerun under deterministic algorithms finds the iterator exhausted."""
    kernel.run("few = (n for n in range(2))")
    (shown,) = kernel.run("%%deterministic --check\nnext(few)").displays
    assert "With deterministic algorithms the cell fails: StopIteration\n" in shown["text/plain"]


def test_an_interrupt_in_a_later_run_puts_everything_back(kernel):
    """The results of the first run stay."""
    kernel.run("times = []\nkept = times")
    kernel.run("import builtins\nbuiltins.calls = []")
    reply = kernel.run(
        "%%deterministic --check\nimport builtins\ntimes.append(1)\nbuiltins.calls.append(1)\n"
        "if len(builtins.calls) > 1:\n    raise KeyboardInterrupt\nprint('done')"
    )
    assert reply.stdout == (
        "done\nThe check was interrupted. Everything is as after one run of the cell.\n"
    )
    assert kernel.value("(times, kept is times)") == ([1], True)
    kernel.run("del builtins.calls")


def test_progress_is_one_line_that_the_result_replaces(kernel):
    """Short checks and JSON show no progress."""
    hurried = "from ipytorchseed.notebook import rerun as progress\nprogress._PATIENCE, progress._EVERY = {}"
    kernel.run(hurried.format("0.3, 0.05"))
    cell = "%%deterministic --check {}\nfor turn in range(4):\n    time.sleep(0.1)\nx = 1"
    reply = kernel.run(cell.format("3"))
    (shown,) = reply.displays
    assert shown["text/plain"].startswith("The cell repeats")
    assert "text/html" in shown
    assert kernel.run(cell.format("3 --json")).displays == []
    kernel.run(hurried.format("1.5, 0.3"))


def test_code_may_have_a_body_checked(kernel):
    """A magic may also be called with its body as text."""
    reply = kernel.run("get_ipython().run_cell_magic('deterministic', '--check', 'q = 2')")
    assert "The cell repeats" in reply.displays[-1]["text/plain"]
    assert kernel.value("q") == 2


def test_why_names_the_operation_that_a_check_caught(loaded, prepared):
    """Before the check, ``%why`` has no cause and suggests the check."""
    body = "out = torch.zeros(500)\nfor turn in range(40):\n    out.put_(index, value, accumulate=True)"
    for _ in range(2):
        loaded.run(body, "summed")
    first = loaded.run("%why", "asks").displays[-1]["text/plain"]
    assert "%%deterministic --check" in " ".join(first.split())
    reply, (record,) = loaded.record(f"%%deterministic --check\n{body}", "summed")
    said = json.loads(loaded.run("%why summed --json", "asks").stdout)
    assert said["verdict"] == "explained"
    (cause,) = said["causes"]
    assert (cause["kind"], cause["name"]) == ("operation", "aten::put_")
    assert cause["blame"][0]["execution_count"] == reply.execution_count
    assert record.status == "ok"


def test_the_run_is_recorded_once_as_it_ran(loaded):
    """The check's own reruns are not in the record."""
    reply, runs = loaded.record("%%deterministic --check 4\nprint('x')\ny = 1", "recorded")
    (run,) = runs
    assert run.outputs.stdout.summary == "1 line"
    assert {"y"} <= {*run.writes}
    assert reply.stdout == "x\n"


BELOW = {
    "deterministic": "%%deterministic 7\nv = torch.rand(1).item() + {}\nprint(v)",
    "that shows it": "%%deterministic 7\nv = torch.rand(1).item() + {}\nv",
    "captured": "%%capture out\nv = torch.rand(1).item() + {}\nprint(v); v",
    "code that the cell runs": "get_ipython().run_cell('v = torch.rand(1).item() + {}\\nv');",
}


@pytest.mark.parametrize("body", BELOW.values(), ids=BELOW)
def test_a_magic_below_runs_in_each_run(kernel, body):
    """Its output is compared, and shown once."""
    reply = kernel.run("%%deterministic 3 --check\n" + body.format("0"))
    assert reply.displays[-1]["text/plain"].startswith("The cell repeats"), reply
    assert len(reply.results) + reply.stdout.count("0.") <= 1
    reply = kernel.run("%%deterministic 3 --check\n" + body.format("time.perf_counter()"))
    said = reply.displays[-1]["text/plain"]
    assert said.startswith("The cell does not repeat")
    assert "\n  v: " in said
    assert len(reply.results) + reply.stdout.count(".") <= 1


@pytest.mark.parametrize("below", ["%%deterministic --check", "%%seeds 2"])
def test_what_runs_the_cell_several_times_is_refused_below(kernel, below):
    """One line refuses it before the body runs."""
    reply = kernel.run(f"%%deterministic --check\n{below}\nnever = 1")
    assert reply.error.ename == "UsageError"
    assert "remove" in reply.error.evalue
    assert kernel.run("'never' in globals()").shown == "False"


def test_files_that_the_runs_write_are_named(kernel):
    """They are reported as not restored; a file that existed before is no difference."""
    reply = kernel.run("%%deterministic --check\nopen('log.txt', 'a').write('x'); v = 1")
    said = reply.displays[-1]["text/plain"]
    assert said.startswith("The cell repeats")
    assert "Note: Each run wrote log.txt: files are not restored." in said
    assert kernel.run("len(open('log.txt').read())").shown == "2"
    reply = kernel.run("%%deterministic --check\n%%writefile new.txt\nhello")
    assert "repeat" not in reply.displays[-1]["text/plain"]


def test_connections_that_the_runs_open_are_named(kernel):
    """Data that they sent cannot be taken back."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        send = f"import socket\nsocket.create_connection(('localhost', {port})).close()\nsent = 1.5"
        said = kernel.run(f"%%deterministic --check\n{send}").displays[-1]["text/plain"]
    assert said.startswith("The cell repeats")
    assert f"Each run connected to localhost:{port}: what it sent cannot be taken back." in said


def test_a_program_that_answers_otherwise_is_named_alone(kernel):
    """IPython reads its output in a separate thread, which is not one of the cell's."""
    said = kernel.run("%%deterministic --check\n%%python\nimport os\nprint(os.getpid())").displays
    assert "runs another program, whose effects are not recorded: %%python" in " ".join(
        said[-1]["text/plain"].split()
    )
    assert "thread" not in said[-1]["text/plain"]

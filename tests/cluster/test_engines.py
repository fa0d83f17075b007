"""Studies of seeds and checks of notebooks on three engines.

Some are killed during the work.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import ExitStack
from unittest.mock import patch

import ipyparallel
import nbformat
import pytest
from click.testing import CliRunner
from nbformat.v4 import new_code_cell, new_notebook

from ipytorchseed.cli import main
from ipytorchseed.cluster.clients import spread
from tests.kernel import ROOT, Kernel

pytestmark = pytest.mark.tools

PREPARE = """
import math, os, random, time
import ipyparallel, torch
import torch.nn.functional as F
torch.set_default_dtype(torch.float64)
torch.set_num_threads(1)
net = torch.nn.Linear(3, 1)
sgd = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(16, 3), torch.randn(16, 1)
own = torch.Generator().manual_seed(5)
def train(steps):
    for _ in range(steps):
        loss = F.mse_loss(net(x) + torch.randn(16, 1), y)
        sgd.zero_grad()
        loss.backward()
        sgd.step()
    return loss
""".strip()

STUDIED = """
last = train(3).item()
weight = net.weight.sum().item() + torch.rand(1, generator=own).item()
math.floor(100 * random.random())
""".strip()

DIES = """
if not os.path.exists({marker!r}):
    open({marker!r}, "w").close()
    os.kill(os.{whose}(), 9)
""".strip()

STATE = """
[sorted(n for n in globals() if n[0] != "_"), random.getstate(), torch.get_rng_state().tolist(),
 own.get_state().tolist(), [p.tolist() for p in net.parameters()], os.getcwd()]
""".strip().replace("\n", "")  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The folder that all share."""
    return tmp_path_factory.mktemp("shared")


@pytest.fixture(scope="module")
def environment(folder):
    """What tells programs where the cluster is, and where to keep what they keep."""
    return {
        "IPYTHONDIR": str(folder / ".ipython"),
        "IPYTORCHSEED_DATA_DIR": str(folder / ".ipytorchseed"),
        "PYTHONPATH": str(ROOT),
        "OMP_NUM_THREADS": "1",
    }


@pytest.fixture(scope="module")
def client(folder, environment):
    """Three engines under their own profile."""
    with ExitStack() as until_the_end:
        with patch.dict(os.environ, environment):
            cluster = ipyparallel.Cluster(n=3, profile="proof", cluster_id="", log_level=40)
            client = until_the_end.enter_context(cluster)
        yield client


@pytest.fixture(scope="module")
def kernel(client, folder):
    """A notebook that is connected to them."""
    with Kernel(folder) as kernel:
        connect = "rc = ipyparallel.Client(profile='proof')"
        for line in ("%load_ext ipytorchseed", PREPARE, connect, "%px import os"):
            reply = kernel.run(line)
            assert reply.error is None, reply.error
        yield kernel


def numbers(reply):
    """Return the values of each number, by name."""
    assert reply.error is None, reply.error
    study = json.loads(reply.stdout)
    assert not study["failed"]
    return {each["name"]: each["values"] for each in study["numbers"]}, study["notes"]


@pytest.fixture(scope="module")
def here(kernel):
    """The study of this process."""
    return numbers(kernel.run(f"%%seeds 8 --json\n{STUDIED}"))[0]


def test_engines_give_what_this_process_gives(kernel, here):
    """Bit for bit, with its default dtype.

    And their names are theirs again afterwards.
    """
    before = kernel.value(STATE)
    there, notes = numbers(kernel.run(f"%%seeds 8 --engines --json\n{STUDIED}"))
    assert there == here
    assert len({*here["last"]}) == 8
    assert notes == ["Not seeded, so they start in the same state in every run: own."]
    assert kernel.value(STATE) == before
    kernel.run("names = rc[:].apply_sync(lambda: [n for n in globals() if n in ('net', 'F')])")
    assert kernel.value("names") == [[], [], []]


def test_engines_share_the_cores_of_a_machine(kernel, client):
    """Each uses its share during the study, unless the user chose a number."""
    kernel.run(
        "%px import os, torch; torch.set_num_threads(8); omp = os.environ.pop('OMP_NUM_THREADS')"
    )
    kernel.run("torch.set_num_threads(3)")
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    share = max(1, min(8, cores // len(client.ids)))
    blas = "max(it['num_threads'] for it in threadpool_info() if it['user_api'] == 'blas')"
    asked = f"{{'torch': torch.get_num_threads(), 'blas': {blas}}}"
    study = f"%%seeds 4 --engines --json\nfrom threadpoolctl import threadpool_info\n{asked}"
    kernel.run("%px from threadpoolctl import threadpool_limits; threadpool_limits(8)")
    values, notes = numbers(kernel.run(study))
    assert values == {"torch": [share] * 4, "blas": [share] * 4}
    said = (
        f"torch uses {share} threads on each engine and 3 in this kernel:"
        " the last digits may differ from a study here."
    )
    assert notes == [said] * (share != 3)
    chosen = study.replace("\n", "\ntorch.set_num_threads(5)\n", 1)
    assert numbers(kernel.run(chosen))[0]["torch"] == [5] * 4
    kernel.run("%px os.environ['OMP_NUM_THREADS'] = omp; del omp")
    assert numbers(kernel.run(study))[0] == {"torch": [8] * 4, "blas": [8] * 4}
    kernel.run("threads = rc[:].apply_sync(torch.get_num_threads)\ntorch.set_num_threads(1)")
    assert kernel.value("threads") == [8] * len(client.ids)
    kernel.run("%px torch.set_num_threads(1); threadpool_limits(1); del torch\ndel threads")


def test_what_px_made_is_found_there(kernel):
    """A class that ipyparallel cannot send, and a name that is not here at all."""
    made = "class Own(torch.nn.Linear):\n    def __init__(self):\n        super().__init__(2, 1)"
    kernel.run(made)
    refused = kernel.run("%%seeds 2 --engines\nOwn().weight.sum().item()").error
    assert refused.evalue.startswith(
        "%%seeds: Own cannot be sent to the engines (ipyparallel sends"
    )
    assert refused.evalue.endswith("put %%px --local at the top of the cell that makes it")
    kernel.run(f"%%px --local\nimport torch\n{made}")
    kernel.run("%%px\nfactor = 3")
    kernel.run("it = Own()")
    asked = "factor * it.weight.sum().item() + Own().bias.item()"
    assert numbers(kernel.run(f"%%seeds 2 --engines --json\n{asked}"))[0].keys() == {"result"}


def test_no_seed_is_lost_with_an_engine(kernel, here, client, folder):
    """It is reported, and another engine does its task."""
    engines = {*client.ids}
    dies = DIES.format(marker=str(folder / "seeds"), whose="getpid")
    there, notes = numbers(kernel.run(f"%%seeds 8 --engines --json\n{dies}\n{STUDIED}"))
    assert there == here
    (lost,) = engines - {*client.ids}
    assert f"Engine {lost} was lost; another engine gets its task." in notes


def test_an_interrupt_ends_what_engines_do(kernel, folder):
    """They are free for the next study at once, and nothing has moved here."""
    before = kernel.value(STATE)
    kernel.run("here = os.getpid()")
    stop = f"open({str(folder / 'interrupt')!r}, 'x').close()\nos.kill(here, 2)\ntime.sleep(600)"
    error = kernel.run(f"%%seeds 2 --engines\nimport os, time\n{stop}").error
    assert error.evalue == "%%seeds: interrupted after 0 of 2 seeds; everything is as before"
    assert numbers(kernel.run("%%seeds 2 --engines --json\nrandom.random()"))[0]
    kernel.run("del here")
    assert kernel.value(STATE) == before


def test_an_interrupt_while_tasks_are_sent(client):
    """What was sent by then ends, too."""

    class Tasks(dict):
        def __getitem__(self, name):
            if name == "second":
                signal.raise_signal(signal.SIGINT)
            return super().__getitem__(name)

    tasks = Tasks(dict.fromkeys(("first", "second"), (600,)))
    with pytest.raises(KeyboardInterrupt):
        spread(client, time.sleep, tasks, done=pytest.fail, told=pytest.fail)
    assert client[:].apply_async(os.getpid).get(timeout=60)


def lose():
    """Make the engine that runs this interrupted as it sends the result."""
    from IPython import get_ipython

    session = get_ipython().kernel.session

    def interrupted(*_, **__):
        del session.send
        raise KeyboardInterrupt

    session.send = interrupted


def test_an_engine_that_lost_a_result_works_on(client):
    """An interrupt while an engine sends a result loses the result, not the engine."""
    for engine in client.ids:
        client.load_balanced_view(targets=[engine]).apply_async(lose)
    done = {}
    tasks = {str(number): (number,) for number in range(4)}
    spread(client, abs, tasks, done=done.__setitem__, told=pytest.fail)
    assert done == {str(number): number for number in range(4)}


NOTEBOOKS = {
    "differs": ("import random", "print(random.random())"),
    "kills": ("import os", "DIES", "print(2)"),
}


def test_no_notebook_is_lost_with_an_engine(client, environment, folder, monkeypatch):
    """The report is that of ``check``.

    What a killed engine had begun is checked by another.
    """
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(folder)
    dies = DIES.format(marker=str(folder / "notebooks"), whose="getppid")
    for name, cells in NOTEBOOKS.items():
        node = new_notebook(cells=[new_code_cell(each.replace("DIES", dies)) for each in cells])
        nbformat.write(node, folder / f"{name}.ipynb")
    names = [f"{name}.ipynb" for name in NOTEBOOKS]
    engines = {*client.ids}
    done = CliRunner().invoke(main, ["check", "--engines", "proof", "--json", *names])
    assert done.exit_code == 1, done.output
    (lost,) = engines - {*client.ids}
    assert f"Engine {lost} was lost; another engine gets its task." in done.stderr
    found = {each["path"]: each for each in json.loads(done.stdout)["notebooks"]}
    assert [found[name]["reproducible"] for name in names] == [False, True]
    assert found["differs.ipynb"]["first_divergence"]["index"] == 1


def test_a_notebook_after_engines_is_no_profile(environment, monkeypatch, tmp_path):
    """``check --engines FILE`` means the default profile, which is not running here."""
    monkeypatch.setenv("IPYTHONDIR", environment["IPYTHONDIR"])
    path = tmp_path / "one.ipynb"
    nbformat.write(new_notebook(cells=[new_code_cell("1")]), path)
    done = CliRunner().invoke(main, ["check", "--engines", str(path)])
    assert done.exit_code == 2
    assert "no cluster answers under profile 'default'" in done.stderr
    assert "ipcluster start -n 4" in done.stderr


@pytest.mark.parametrize("profile", ["default", "never_used"])
def test_a_profile_that_was_never_used_has_no_cluster(profile, monkeypatch, tmp_path):
    """As on a machine on which no cluster ever ran."""
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "nothing"))
    path = tmp_path / "one.ipynb"
    nbformat.write(new_notebook(cells=[new_code_cell("1")]), path)
    done = CliRunner().invoke(main, ["check", str(path), "--engines", profile])
    assert done.exit_code == 2
    assert f"no cluster answers under profile {profile!r}" in done.stderr


_STOPPED = """
import os
import ipyparallel
cluster = ipyparallel.Cluster()
cluster.start_controller_sync()
cluster.stop_controller_sync()
os._exit(0)  # so that the file that tells of it stays
"""


def test_a_cluster_whose_controller_stopped_does_not_answer(monkeypatch, tmp_path):
    """Its file is still there, as after a crash."""
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    subprocess.run([sys.executable, "-c", _STOPPED], check=True, capture_output=True, timeout=120)
    path = tmp_path / "one.ipynb"
    nbformat.write(new_notebook(cells=[new_code_cell("1")]), path)
    done = CliRunner().invoke(main, ["check", "--engines", str(path)])
    assert done.exit_code == 2
    assert "no cluster answers under profile 'default'" in done.stderr

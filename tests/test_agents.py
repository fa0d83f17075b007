"""The tools for agents: what they answer in the process of a real Jupyter server."""

from __future__ import annotations

import asyncio
import inspect
import json
import os
import subprocess
import sys
from importlib import import_module
from importlib.metadata import entry_points

import nbformat
import pytest

from ipytorchseed import agents
from tests.kernel import ROOT
from tests.test_schemas import check

SERVER = """
import asyncio, json, sys
from jupyter_server.serverapp import ServerApp
from ipytorchseed import agents

CELLS = ["import torch\\n%load_ext ipytorchseed\\n%seed 42 -q", *["x = torch.rand(2)\\nx"] * 2]

async def main():
    app = ServerApp.instance()
    app.initialize(["--allow-root", "--port=0", f"--ServerApp.root_dir={sys.argv[1]}"])
    told = {"nothing": await agents.why("book.ipynb"), "none": await agents.replay("book.ipynb", "2")}
    made = await app.session_manager.create_session("book.ipynb", "book.ipynb", "notebook", "python3")
    kernel = app.kernel_manager.get_kernel(made["kernel"]["id"])
    client = kernel.client()
    client.start_channels()
    await client.wait_for_ready(timeout=120)

    async def run(code):
        hush = lambda message: None
        await client.execute_interactive(code, output_hook=hush, timeout=120)

    told["bare"] = await agents.why("book.ipynb")
    for cell in CELLS:
        await run(cell)
    told["why"] = await agents.why("book.ipynb")
    told["variable"] = await agents.why("book.ipynb", "x", "2")
    told["odd"] = await agents.why("book.ipynb", "y; print(1)")
    told["dry"] = await agents.replay("book.ipynb", "2")
    told["replay"] = await agents.replay("book.ipynb", "2", dry=False)
    told["undo"] = await agents.replay("book.ipynb", "", undo=True)
    client.stop_channels()
    await app.session_manager.delete_session(made["id"])
    told["ledger"] = await agents.why("book.ipynb", "3")
    told["unknown"] = await agents.why("book.ipynb", "12")
    print(json.dumps(told))

asyncio.run(main())
"""


def test_the_entry_point_names_them_as_jupyter_server_mcp_reads_it():
    """A list of `module:function`; each with a docstring for the agent and types of its arguments."""
    (point,) = entry_points(group="jupyter_server_mcp.tools", name="ipytorchseed")
    for each in point.load():
        module, _, name = each.partition(":")
        tool = getattr(import_module(module), name)
        arguments = inspect.signature(tool).parameters
        assert "Args:" in tool.__doc__
        assert all(f"{argument}: " in tool.__doc__ for argument in arguments)
        assert all(argument.annotation for argument in arguments.values())


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """What the tools answer, before, while and after a kernel runs the notebook."""
    folder = tmp_path_factory.mktemp("server")
    nbformat.write(nbformat.v4.new_notebook(), folder / "book.ipynb")
    homes = ("IPYTHONDIR", "IPYTORCHSEED_DATA_DIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_CONFIG_DIR")
    env = {**os.environ, **{each: str(folder / each) for each in homes}, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", SERVER, str(folder)],
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_why_asks_the_kernel_that_runs_the_notebook(told):
    """As its user would: the JSON of `%why`."""
    for name in ("why", "variable"):
        said = check("why", json.dumps(told[name]))
        assert said["verdict"] == "explained"
        assert [cause["name"] for cause in said["causes"]] == ["torch.cpu"]
    assert told["why"]["run"]["execution_count"] == 3


def test_replay_says_what_would_run_and_runs_it_when_told(told):
    """By default nothing runs."""
    assert told["dry"]["text"].startswith("To bring In[2]'s result back, run again:")
    assert "bit for bit" in told["replay"]["text"]
    assert "is undone" in told["undo"]["text"]


def test_without_a_kernel_the_ledger_answers(told):
    """After the notebook was closed; replaying needs a kernel, and says so."""
    said = check("why", json.dumps(told["ledger"]))
    assert (said["verdict"], said["run"]["execution_count"]) == ("explained", 3)
    assert "no kernel runs book.ipynb" in told["none"]["error"]


def test_mistakes_are_one_line(told):
    """A notebook without runs, a kernel without the extension, a run that is not there."""
    assert "there is no ledger" in told["nothing"]["error"]
    assert "%load_ext ipytorchseed" in told["bare"]["error"]
    for name in ("odd", "unknown"):
        assert "is recorded" in told[name]["error"]
    assert "#3" not in told["odd"]["error"], "the question is on record"
    for each in told.values():
        assert "verdict" in each or check("answer", json.dumps(each))
        assert "\n" not in each.get("error", "")


def test_check_runs_the_notebook_in_kernels_of_its_own(tmp_path):
    """The JSON of `ipytorchseed check`; a file that is none is told in it."""
    book = nbformat.v4.new_notebook()
    book.cells = [nbformat.v4.new_code_cell("import random; random.random()")]
    nbformat.write(book, tmp_path / "draws.ipynb")
    said = asyncio.run(agents.check(str(tmp_path / "draws.ipynb")))
    check("check", json.dumps(said))
    (found,) = said["notebooks"]
    assert (found["reproducible"], found["first_divergence"]["index"]) == (False, 0)
    said = asyncio.run(agents.check(str(tmp_path / "missing.ipynb"), runs=1))
    assert "runs" in said["error"]

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
import asyncio, json, os, sys
from jupyter_server.serverapp import ServerApp
from ipytorchseed import agents

CELLS = ["import torch\\n%load_ext ipytorchseed\\n%seed 42 -q", *["x = torch.rand(2)\\nx"] * 2]
WRITES = "SECRET = 's3' + 'cret'\\nopen('written.txt', 'w').close()\\nprint(torch.rand(1))"
ATTACKS = json.loads(sys.stdin.read())

async def main():
    app = ServerApp.instance()
    app.initialize(["--allow-root", "--port=0", f"--ServerApp.root_dir={sys.argv[1]}"])
    told = {"nothing": await agents.why("book.ipynb"), "none": await agents.replay("book.ipynb", "2")}
    told["unable"] = await agents.why("book.ipynb", prove=True)
    made = await app.session_manager.create_session("book.ipynb", "book.ipynb", "notebook", "python3")
    kernel = app.kernel_manager.get_kernel(made["kernel"]["id"])
    client = kernel.client()
    client.start_channels()
    await client.wait_for_ready(timeout=120)

    async def run(code):
        hush = lambda message: None
        await client.execute_interactive(code, output_hook=hush, timeout=120)

    async def state():
        # what the kernel holds, and the files beside the notebook
        asked = {
            "names": "sorted(each for each in globals() if each[0] != '_')",
            "options": "get_ipython().configurables[-1].explain_on_change",
            "count": "get_ipython().execution_count",
        }
        given = {"silent": True, "user_expressions": asked, "output_hook": lambda message: None}
        reply = await client.execute_interactive("", **given, timeout=120)
        told = reply["content"]["user_expressions"]
        files = sorted(each for each in os.listdir(sys.argv[1]) if not each.startswith("IPY"))
        return [{name: each["data"]["text/plain"] for name, each in told.items()}, files]

    told["bare"] = await agents.why("book.ipynb")
    for cell in CELLS:
        await run(cell)
    told["why"] = await agents.why("book.ipynb")
    told["variable"] = await agents.why("book.ipynb", "x", "2")
    held = await state()
    told["proved"] = await agents.why("book.ipynb", "x", prove=True)
    told["as before"] = await state() == held
    told["after the proof"] = await agents.why("book.ipynb")
    told["odd"] = await agents.why("book.ipynb", "y; print(1)")
    told["dry"] = await agents.replay("book.ipynb", "2")
    told["replay"] = await agents.replay("book.ipynb", "2", dry=False)
    told["undo"] = await agents.replay("book.ipynb", "", undo=True)
    for cell in [WRITES] * 2:
        await run(cell)
    os.remove(os.path.join(sys.argv[1], "written.txt"))
    told["writer"] = await agents.why("book.ipynb")
    told["refused"] = await agents.replay("book.ipynb", "4", dry=False)
    told["unproved"] = await agents.why("book.ipynb", prove=True)
    await run("import numpy\\ndef noise(seed=None): return numpy.random.default_rng(seed).random()")
    for cell in ["noise()"] * 2:
        await run(cell)
    told["seedless"] = await agents.why("book.ipynb")
    told["before"] = await state()
    told["attacks"] = {}
    for number, word in enumerate(ATTACKS):
        said = {
            "cell": await agents.why("book.ipynb", word),
            "against": await agents.why("book.ipynb", "", word),
            "plan": await agents.replay("book.ipynb", word),
            "replay": await agents.replay("book.ipynb", word, dry=False),
            "notebook": await agents.why(word),
        }
        if number < 2:
            said["check"] = await agents.check("book.ipynb", word)
        told["attacks"].update({f"{number} {name}": each for name, each in said.items()})
    told["check"] = [await agents.check(word * 200_000) for word in ("x", "\\0")]
    told["after"] = await state()
    client.stop_channels()
    await app.session_manager.delete_session(made["id"])
    told["ledger"] = await agents.why("book.ipynb", "3")
    told["unknown"] = await agents.why("book.ipynb", "12")
    print(json.dumps(told))

asyncio.run(main())
"""


# Values of arguments that an agent may be tricked into passing.
ATTACKS = [
    "{open(chr(112),chr(119)).write(chr(120))}",
    "--yes",
    "{SECRET}",
    "$SECRET",
    "--prove",
    "-h",
    "on",
    "off",
    "#4 --yes",
    "4\nopen('p', 'w')",
    "4; open('p', 'w')",
    "`touch p`",
    "$(touch p)",
    "!touch p",
    "'); open('p', 'w'); ('",
    '"',
    "\\",
    "?",
    "\u0664",  # a digit, and no ASCII
    "\x00",
    "\ud800",
    "\u202e",
    "x" * 100_000,
    "{" * 100_000,
]


def test_the_entry_point_names_them_as_jupyter_server_mcp_reads_it():
    """A list of `module:function`.

    Each with a docstring for the agent and types of its arguments.
    """
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
        input=json.dumps(ATTACKS),
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


def test_a_call_that_takes_a_seed_is_named(told):
    """The fix names the argument, as in ``%why``."""
    assert [each["fix"] for each in told["seedless"]["causes"]] == ["pass `seed=42` to `noise()`"]


def test_causes_are_tested_only_when_the_agent_asks_for_it(told):
    """The proof is kept for later answers; nothing else in the kernel changes."""
    assert [cause["proof"] for cause in told["why"]["causes"]] == ["may-matter"]
    said = check("why", json.dumps(told["proved"]))
    assert [cause["proof"] for cause in said["causes"]] == ["proved"]
    assert told["as before"]
    assert told["after the proof"]["causes"] == said["causes"]


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
    """A notebook without runs, a kernel without the extension, a missing run."""
    assert "there is no ledger" in told["nothing"]["error"]
    assert "%load_ext ipytorchseed" in told["bare"]["error"]
    assert "names nothing" in told["odd"]["error"]
    assert "is recorded" in told["unknown"]["error"]
    for each in (told[name] for name in ("nothing", "none", "bare", "odd", "unknown")):
        check("answer", json.dumps(each))
        assert "\n" not in each["error"]


def test_an_agent_does_not_get_past_what_is_for_the_user(told):
    """A cell that writes a file is refused, whatever is in an argument."""
    assert "writes written.txt" in told["refused"]["error"]
    assert "--yes" in told["refused"]["error"]
    assert "writes written.txt" in told["unproved"]["error"]
    assert "no kernel runs book.ipynb" in told["unable"]["error"]


def test_no_argument_is_code_or_an_option(told):
    """Nothing runs, no variable comes back, the namespace stays.

    Each error is one clear line.
    """
    for each, said in told["attacks"].items():
        check("answer", json.dumps(said))
        assert "error" in said, each
        assert len(said["error"]) < 700, each
        assert said["error"].isprintable(), each
        assert "s3cret" not in json.dumps(said), each
    assert told["after"] == told["before"]
    assert "written.txt" not in told["after"][1]


def test_an_answer_names_what_an_argument_may_be(told):
    """The line says which word is none, and what to give."""
    number = ATTACKS.index("--prove")
    said = told["attacks"][f"{number} cell"]["error"]
    assert said.startswith("'--prove' names nothing: give 9 for In[9]")
    said = told["attacks"][f"{number} replay"]["error"]
    assert said.startswith("'--prove' names no run: give 9 for In[9]")
    for each in told["check"]:
        assert each["error"].endswith("is not a path")


def test_check_runs_the_notebook_in_kernels_of_its_own(tmp_path):
    """The JSON of `ipytorchseed check`; a file that is none is reported in it."""
    book = nbformat.v4.new_notebook()
    book.cells = [nbformat.v4.new_code_cell("import random; random.random()")]
    nbformat.write(book, tmp_path / "draws.ipynb")
    said = asyncio.run(agents.check(str(tmp_path / "draws.ipynb")))
    check("check", json.dumps(said))
    (found,) = said["notebooks"]
    assert (found["reproducible"], found["first_divergence"]["index"]) == (False, 0)
    said = asyncio.run(agents.check(str(tmp_path / "missing.ipynb"), runs=1))
    assert "runs" in said["error"]

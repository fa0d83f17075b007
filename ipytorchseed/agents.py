"""Tools for agents.

jupyter-server-mcp finds them by the entry point ``jupyter_server_mcp.tools`` and calls them in
the process of Jupyter's server. The kernel receives a typed question, and never runs an agent's
text. If no kernel runs, ``why`` reads the ledger instead.
"""

from __future__ import annotations

import asyncio
import sys
from asyncio.subprocess import PIPE
from queue import Empty
from typing import Any

import msgspec

from ipytorchseed.errors import IPyTorchSeedError, quoted
from ipytorchseed.notebook.why_magic import is_same, why_by_ledger
from ipytorchseed.questions import Plan, Question, Replay, Undo, answer_in, expression, run_word
from ipytorchseed.questions import why as ask_why
from ipytorchseed.render.text import visible

# The tools, in the form that jupyter-server-mcp expects.
TOOLS = ["ipytorchseed.agents:why", "ipytorchseed.agents:check", "ipytorchseed.agents:replay"]

# Seconds to wait for a busy kernel.
_SECONDS = 60.0

# Seconds to wait for a kernel that tests causes.
_LONGEST_PROOF = 600.0

_NO_KERNEL = "no kernel runs {}: open it and run a cell, then ask again"

# The maximum number of characters of an error that are shown.
_LONGEST = 600


async def why(
    notebook: str, cell: str = "", against: str = "", *, prove: bool = False
) -> dict[str, Any]:
    """Explain why a cell of a notebook gave a different result than the last time.

    Only records are read: no cell runs, and nothing in the kernel changes, unless you set `prove`.

    The answer has these fields:

    - `verdict`: `first-run`, `same`, `explained` or `unexplained`. If it is `unexplained`, the cell
      itself may not repeat: put `%%deterministic --check` at the top of the cell.
    - `changed`: what differs, before and after.
    - `roots`: what the user did or forgot, with the `path` of variables from there to the cell.
    - `causes`: each has a `message`, the runs to `blame` and a `fix`, which is a line for a cell.
    - `back`: a line that brings the earlier result back.
    - `keep`: lines that keep the result the same from now on.

    Args:
        notebook: The notebook's path: absolute, as Jupyter shows it, or just its end.
        cell: `9` for In[9], `#17` for the ledger's run 17, the name of a variable, or a cell's id;
            empty for the last cell that ran again.
        against: `5` to compare with In[5]; empty for the run before.
        prove: Whether to run the cell again in the user's kernel, on copies, with one difference
            restored at a time. This proves which differences matter, and takes several times as
            long as the cell; everything is restored afterwards. Cells that write files, start
            programs or open connections are refused; only the user can allow them, by typing
            `%why N --prove --yes`.

    Returns:
        The JSON of `%why --json`; or `{"schema": 1, "error": "..."}`.
    """
    try:
        question = ask_why(str(cell), str(against), prove=prove is True)
        kernel = await _kernel_of(notebook)
        if kernel is not None:
            return await _ask(kernel, question, _LONGEST_PROOF if question.prove else _SECONDS)
        if question.prove:
            return _error(_NO_KERNEL.format(notebook))
        line = await asyncio.to_thread(why_by_ledger, notebook, question)
        return msgspec.json.decode(line, type=dict[str, Any])
    except IPyTorchSeedError as error:
        return _error(str(error))


async def check(notebook: str, runs: int = 2, *, rerun: bool = False) -> dict[str, Any]:
    """Run a notebook in fresh kernels and report whether it repeats.

    The report names the first cell that differs, and why.

    The whole notebook runs `runs` times, with all side effects: its cells may write files and use
    the network. The notebook's file and its open kernel do not change.

    Args:
        notebook: The path of the file, as the server's process sees it.
        runs: How many fresh kernels to run the notebook in, at least 2.
        rerun: Check instead whether each cell is safe to run again, in a single kernel.

    Returns:
        The JSON of `ipytorchseed check --json`; or `{"schema": 1, "error": "..."}`.
    """
    words = ["check", "--json", "--rerun" if rerun else f"--runs={runs}", "--", str(notebook)]
    command = (sys.executable, "-m", "ipytorchseed", *words)
    try:
        process = await asyncio.create_subprocess_exec(*command, stdout=PIPE, stderr=PIPE)
    except (OSError, ValueError):  # too long, or with a NUL
        return _error(f"{quoted(str(notebook))} is not a path")
    try:
        out, err = await process.communicate()
    except asyncio.CancelledError:
        process.terminate()
        raise
    if out:
        return msgspec.json.decode(out.splitlines()[-1], type=dict[str, Any])
    return _error(err.decode(errors="replace").strip().rpartition("\n")[2])


async def replay(
    notebook: str, run: str = "", *, dry: bool = True, undo: bool = False
) -> dict[str, Any]:
    """Bring back the result of an earlier run of a cell, in the notebook's own kernel.

    With `dry`, which is the default, nothing runs: the answer lists the cells that would run
    again. With `dry=False` they run, with their earlier text, random states and settings. This
    changes variables in the user's kernel: ask the user first. Cells that write files, start
    programs or open connections are refused; only the user can allow them, by typing
    `%replay N --yes`.

    Args:
        notebook: The notebook's path: absolute, as Jupyter shows it, or just its end.
        run: `9` for In[9], or `#17` for the ledger's run 17.
        dry: Only list what would run.
        undo: Undo the last replay; `run` and `dry` are ignored.

    Returns:
        `{"schema": 1, "text": "..."}`: the output of `%replay`, including whether the result is
        the earlier one bit for bit; or `{"schema": 1, "error": "..."}`.
    """
    try:
        question = Undo() if undo else (Plan if dry else Replay)(run_word(str(run)))
    except IPyTorchSeedError as error:
        return _error(str(error))
    kernel = await _kernel_of(notebook)
    if kernel is None:
        return _error(_NO_KERNEL.format(notebook))
    return await _ask(kernel, question)


def _error(message: str) -> dict[str, Any]:
    line = visible(" ".join(message.split()))
    shown = line if len(line) <= _LONGEST else f"{line[:_LONGEST]} …"
    return {"schema": 1, "error": shown}


# --------------------------------------------------------------------------------------------------
# The notebook's kernel


async def _kernel_of(notebook: str) -> Any:  # noqa: ANN401 -- the class depends on the server
    """Return the manager of the kernel that runs a notebook, if there is exactly one."""
    from jupyter_server.serverapp import ServerApp

    if not ServerApp.initialized():
        return None
    server: Any = ServerApp.instance()
    sessions = await server.session_manager.list_sessions()
    kernels = {each["kernel"]["id"] for each in sessions if is_same(each["path"], notebook)}
    return server.kernel_manager.get_kernel(kernels.pop()) if len(kernels) == 1 else None


async def _ask(kernel: Any, question: Question, seconds: float = _SECONDS) -> dict[str, Any]:  # noqa: ANN401 -- as above
    """Ask a kernel without adding to its history; return its answer or an error.

    Args:
        kernel: The kernel's manager.
        question: What to ask.
        seconds: How long to wait for an answer.
    """
    from jupyter_client.session import Session

    known = kernel.session  # a session with another id does not receive other clients' answers
    own = Session(key=known.key, signature_scheme=known.signature_scheme)
    client = kernel.client(session=own)
    client.start_channels()
    try:
        await client.wait_for_ready(timeout=_SECONDS)
        reply = await client.execute_interactive(
            "",
            silent=True,
            store_history=False,
            allow_stdin=False,
            user_expressions={"answer": expression(question)},
            output_hook=lambda _: None,
            timeout=seconds,
        )
    except (RuntimeError, TimeoutError, Empty):
        return _error(f"the kernel is busy: no answer within {seconds:g} s; ask again later")
    finally:
        client.stop_channels()
    told = answer_in(reply)
    if told is None:
        return _error("ipytorchseed does not answer there: run %load_ext ipytorchseed")
    return _error(told["error"]) if "error" in told else {"schema": 1, **told}

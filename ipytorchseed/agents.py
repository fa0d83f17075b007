"""Tools for agents, which jupyter-server-mcp finds by the entry point ``jupyter_server_mcp.tools``.

They are called in the process of Jupyter's server. A notebook's kernel is asked by its own magics,
as its user would ask; without one, the ledger answers.
"""

from __future__ import annotations

import asyncio
import json
import shlex
import sys
from queue import Empty
from typing import Any

from ipytorchseed.errors import IPyTorchSeedError
from ipytorchseed.notebook.why_magic import is_same, why_by_ledger

TOOLS = ["ipytorchseed.agents:why", "ipytorchseed.agents:check", "ipytorchseed.agents:replay"]
"""What the entry point names, in its form."""

_SECONDS = 60.0
"""How long a kernel that is busy is waited for."""


async def why(notebook: str, cell: str = "", against: str = "") -> dict[str, Any]:
    """Explain why a cell of a notebook gave another result than the time before.

    Nothing is run but the question. The answer has `verdict` (`first-run`, `same`, `explained`,
    `unexplained`), `changed` (what differs, before and after) and `causes`, each with a `message`,
    the runs to `blame` and a `fix`, a line for a cell that mends it. `unexplained` means that the
    cell itself may not repeat: put `%%deterministic --check` on top of it.

    Args:
        notebook: The notebook's path, as Jupyter shows it or absolute, or how it ends.
        cell: `9` for In[9], `#17` for the ledger's run 17, the name of a variable, or a cell's id;
            nothing for the last cell that ran again.
        against: `5` to compare with In[5] instead of the run before.

    Returns:
        The JSON of `%why --json`; or `{"schema": 1, "error": "..."}`.
    """
    kernel = await _kernel_of(notebook)
    if kernel is None:
        try:
            return _decode(await asyncio.to_thread(why_by_ledger, notebook, cell, against))
        except IPyTorchSeedError as error:
            return _error(str(error))
    against = f"--against {_word(against)}" if against else ""
    said = await _ask(kernel, f"%why {_word(cell)} {against} --json")
    return said if "error" in said else _decode(said["text"])


async def check(notebook: str, runs: int = 2, *, rerun: bool = False) -> dict[str, Any]:
    """Run a notebook in fresh kernels and say whether it repeats, which cell first differs and why.

    It runs the whole notebook `runs` times, with all that its cells do; the file and the kernel
    that is open stay as they are.

    Args:
        notebook: The path of the file, as the server's process sees it.
        runs: Fresh kernels, at least 2.
        rerun: Ask instead whether each cell is safe to run again, in one kernel.

    Returns:
        The JSON of `ipytorchseed check --json`; or `{"schema": 1, "error": "..."}`.
    """
    words = ["check", "--json", *(["--rerun"] if rerun else ["--runs", str(runs)]), "--", notebook]
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "ipytorchseed", *words),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        out, err = await process.communicate()
    except asyncio.CancelledError:
        process.terminate()
        raise
    lines = out.splitlines()
    return _decode(lines[-1]) if lines else _error(err.decode(errors="replace").strip())


async def replay(
    notebook: str, run: str, *, dry: bool = True, undo: bool = False
) -> dict[str, Any]:
    """Bring the result of an earlier run of a cell back, in the notebook's own kernel.

    With `dry`, which is the default, nothing runs: the answer lists the cells that would run again.
    With `dry=False` they run, with the text, random states and settings of then, and variables of
    the user's kernel change: ask the user before. Cells that write files or start programs are
    refused; that is for the user, who types `%replay N --yes`.

    Args:
        notebook: The notebook's path, as Jupyter shows it or absolute, or how it ends.
        run: `9` for In[9], or `#17` for the ledger's run 17.
        dry: Only say what would run.
        undo: Put back what was there before the last replay; `run` and `dry` do not count.

    Returns:
        `{"schema": 1, "text": "..."}`: what `%replay` says, whether the result is the earlier one
        bit for bit among it; or `{"schema": 1, "error": "..."}`.
    """
    kernel = await _kernel_of(notebook)
    if kernel is None:
        return _error(f"no kernel runs {notebook}: open it and run a cell, then ask again")
    options = "--undo" if undo else f"{_word(run)}{' --dry' if dry else ''}"
    return await _ask(kernel, f"%replay {options}", silent=dry and not undo)


def _decode(line: str | bytes) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(line)
    return told


def _error(message: str) -> dict[str, Any]:
    return {"schema": 1, "error": message}


def _word(text: str) -> str:
    """Return what is one word of a magic's line, whatever is in it."""
    return shlex.quote(" ".join(text.split())) if text.strip() else ""


# --------------------------------------------------------------------------------------------------
# The notebook's kernel


async def _kernel_of(notebook: str) -> Any:  # noqa: ANN401 -- a manager of whichever server this is
    """Return the manager of the kernel that runs a notebook; None where none or several do."""
    from jupyter_server.serverapp import ServerApp

    if not ServerApp.initialized():
        return None
    server: Any = ServerApp.instance()
    sessions = await server.session_manager.list_sessions()
    kernels = {each["kernel"]["id"] for each in sessions if is_same(each["path"], notebook)}
    return server.kernel_manager.get_kernel(kernels.pop()) if len(kernels) == 1 else None


async def _ask(kernel: Any, line: str, *, silent: bool = True) -> dict[str, Any]:  # noqa: ANN401
    """Type a line into a kernel, off its history; return what it says, or why it says nothing.

    Args:
        kernel: The kernel's manager.
        line: A magic.
        silent: Keep it off the record of runs, too. What runs cells does not show all then.
    """
    from jupyter_client.session import Session

    known = kernel.session  # an identity of our own: its answers are not another client's
    own = Session(key=known.key, signature_scheme=known.signature_scheme)
    client = kernel.client(session=own)
    client.start_channels()
    shown: list[str] = []
    wrong: list[str] = []

    def hear(message: dict[str, Any]) -> None:
        content, kind = message["content"], message["msg_type"]
        if kind == "stream":
            (wrong if content["name"] == "stderr" else shown).append(content["text"])
        elif kind in {"display_data", "execute_result"}:
            shown.append(content["data"].get("text/plain", ""))
        elif kind == "error":
            wrong.append(f"{content['ename']}: {content['evalue']}")

    try:
        await client.wait_for_ready(timeout=_SECONDS)
        await client.execute_interactive(
            line,
            silent=silent,
            store_history=False,
            allow_stdin=False,
            output_hook=hear,
            timeout=_SECONDS,
        )
    except (RuntimeError, TimeoutError, Empty):
        return _error(f"the kernel is busy: no answer within {_SECONDS:g} s; ask again later")
    finally:
        client.stop_channels()
    said = "\n".join(each.strip() for each in shown)
    if said:
        return {"schema": 1, "text": said}
    if any("not found" in each for each in wrong):
        return _error("the extension is not loaded there: run %load_ext ipytorchseed in a cell")
    return _error("\n".join(each.strip() for each in wrong))

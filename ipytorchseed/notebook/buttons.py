"""What a button does: the magic, as if its line had been run in a cell of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from IPython.utils.capture import capture_output

if TYPE_CHECKING:
    from ipytorchseed.notebook.state import State


def run_magic(state: State, line: str) -> tuple[bool, str]:
    """Run a magic between two cells; it is recorded as a run without a number.

    Args:
        state: Of the extension in the shell.
        line: The magic as one types it.

    Returns:
        Whether it did what it says, and what it said: what it displayed last, or else printed.
    """
    with state.lock:  # a cell that begins meanwhile, in another thread, waits for us
        with capture_output() as said:
            result = state.shell.run_cell(line, store_history=False)
        error = result.error_before_exec or result.error_in_exec
        if error is not None:
            return False, str(error)
        shown = [str(each.data["text/plain"]) for each in said.outputs if each.data]
        return True, shown[-1] if shown else said.stdout.strip()

"""The body of a cell, to be run in a shell under one seed after the other."""

from __future__ import annotations

from typing import Any

from ipytorchseed.notebook.rerun import Rerunner
from ipytorchseed.studies.body import Body


def make_body(running: Any, source: str) -> Body:  # noqa: ANN401 -- a shell
    """Return the code of a cell, to be run in a shell.

    Args:
        running: The shell.
        source: The cell's text.
    """
    text = str(running.transform_cell(source))
    return Body(
        text,
        namespace=running.user_ns,
        run=Rerunner(running, text, running.compile.cache(text), timed=False),
        hidden=frozenset(running.user_ns_hidden),
    )

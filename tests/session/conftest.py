"""A notebook without a front end.

Its cells run in this process, and a session records them.
"""

from __future__ import annotations

import ast
import builtins
from typing import TYPE_CHECKING, Any

import pytest

from ipytorchseed.ledger.store import Ledger
from ipytorchseed.session.config import Config
from ipytorchseed.session.session import Session

if TYPE_CHECKING:
    from collections.abc import Callable

    from ipytorchseed.ledger.records import Run


class Notebook:
    """Runs cells as a shell does, and keeps the session's record of each.

    Args:
        ledger: The ledger; by default a new one in memory.
        choices: The user's choices, as in ``Config``.

    Attributes:
        names: The namespace.
        session: The session that records.
        error: What ended the last cell, or None.
    """

    def __init__(self, ledger: Ledger | None = None, **choices: Any) -> None:
        self.names: dict[str, Any] = {"__name__": "__main__", "In": [""]}
        self.names |= {"__builtins__": builtins, "get_ipython": None}
        config = Config(**{"budget": 30.0, **choices})  # slow machines, too, inspect everything
        self.session = Session(
            notebook="here.ipynb",
            ledger=ledger or Ledger.in_memory(),
            transform=str,
            hidden=("get_ipython",),
            config=config,
        )
        self.error: BaseException | None = None
        self._count = 0

    def run(
        self, text: str, cell: str = "", prepare: Callable[[], object] | None = None
    ) -> Run | None:
        """Run a cell and return its record; its last expression is the result."""
        self._count += 1
        self.names["In"].append(text)
        self.session.begin_cell(cell or text, text, self._count, self.names, prepare)
        result = self._execute(text)
        return self.session.end_cell(
            self.names,
            status="error" if self.error else "ok",
            error=None if self.error is None else f"{type(self.error).__name__}: {self.error}",
            result=result,
        )

    def _execute(self, text: str) -> object:
        self.error = None
        try:
            tree = ast.parse(text)
            last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
            exec(compile(tree, "<cell>", "exec"), self.names)  # noqa: S102 -- as a notebook does
            if last is None:
                return None
            shown = compile(ast.Expression(last.value), "<cell>", "eval")
            return eval(shown, self.names)  # noqa: S307 -- as above
        except Exception as error:  # noqa: BLE001 -- the cell's
            self.error = error.with_traceback(None)
            return None


@pytest.fixture
def notebook(put_back) -> Notebook:
    """Return a notebook in which nothing has run, with its ledger in memory."""
    return Notebook()


@pytest.fixture
def torch_names(notebook) -> Notebook:
    """Return a notebook that has run the usual imports."""
    notebook.run("import random, torch\nimport numpy as np\nfrom torch import nn")
    return notebook

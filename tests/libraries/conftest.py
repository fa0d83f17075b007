"""Notebooks in a kernel that has the libraries of the extra ``test-libraries``."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.kernel import Kernel

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# The Python of ``make test-libraries``, or else that of the tests.
OWN = Path(sys.prefix, "libraries", "bin", "python")

PYTHON = str(OWN) if OWN.exists() else sys.executable


class Notebook:
    """A notebook in a kernel in which the extension is loaded."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self._count = 0

    def run(self, code: str, cell: str = "") -> str | None:
        """Run a cell that must not fail; return its result as shown."""
        self._count += 1
        reply = self.kernel.run(code, cell or f"cell {self._count}")
        assert reply.status == "ok", reply.error
        return reply.shown

    def until_changed(self, code: str) -> None:
        """Run a cell again until the result differs: a race may not show each time."""
        first = self.run(code, "asked")
        assert any(self.run(code, "asked") != first for _ in range(20)), f"always {first}"

    def why(self) -> dict[str, Any]:
        """Return the answer of ``%why``."""
        return json.loads(self.kernel.run("%why --json").stdout)

    def causes(self) -> list[tuple[str, str]]:
        """Return kind and name of each cause in ``%why``."""
        return [(each["kind"], each["name"]) for each in self.why()["causes"]]


@cache
def _has(package: str) -> bool:
    asked = f"import importlib.util as i, sys; sys.exit(i.find_spec({package!r}) is None)"
    return subprocess.run([PYTHON, "-c", asked], check=False).returncode == 0


@pytest.fixture
def notebook(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Callable[[str], Notebook]]:
    """Open a notebook that imports a package, or skip the test if it is not installed."""
    kernel = Kernel(tmp_path, python=PYTHON, cold=True, OMP_NUM_THREADS="2")

    def opened(package: str) -> Notebook:
        if not _has(package):
            message = f"{package} is not installed: `make test-libraries` installs it"
            fail = request.config.getoption("--require-all")
            (pytest.fail if fail else pytest.skip)(message)
        kernel.start()
        assert kernel.run("%load_ext ipytorchseed").status == "ok"
        return Notebook(kernel)

    yield opened
    if hasattr(kernel, "_client"):
        kernel.stop()

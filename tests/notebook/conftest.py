"""Kernels and shells with the extension, which each test must restore."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.kernel import Kernel
from tests.notebook.looking import look

if TYPE_CHECKING:
    from collections.abc import Iterator

IMPORTS = "import asyncio, random, time, warnings\nimport numpy as np\nimport torch"

INDUCTOR = "import torch._inductor.config"  # the first scope imports it, which takes a second

THREADS = "torch.set_num_threads(2)"


@pytest.fixture(scope="module")
def loaded(tmp_path_factory) -> Iterator[Kernel]:
    """A kernel for the module's tests, with the extension, numpy and torch."""
    with Kernel(tmp_path_factory.mktemp("kernel")) as kernel:
        for line in ("%load_ext ipytorchseed", IMPORTS, INDUCTOR, THREADS):
            assert kernel.run(line).status == "ok"
        yield kernel


@pytest.fixture
def kernel(loaded) -> Iterator[Kernel]:
    """The module's kernel; a test that leaves a flag or the shell changed fails."""
    before = look(loaded)
    yield loaded
    after = look(loaded)
    changed = {name: (before[name], after[name]) for name in before if before[name] != after[name]}
    assert not changed

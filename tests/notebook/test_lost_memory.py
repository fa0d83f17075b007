"""A kernel survives memory that a cell releases, with or without a later name."""

from __future__ import annotations

import sys

import pytest

GIVEN_BACK = {
    "shared memory": (
        "from multiprocessing import shared_memory\n"
        "shared = shared_memory.SharedMemory(create=True, size=2**20)\n"
        "value = np.ndarray(2**17, 'f8', shared.buf)",
        "shared.close(); shared.unlink()",
    ),
    "shared memory in a tensor": (
        "from multiprocessing import shared_memory\n"
        "shared = shared_memory.SharedMemory(create=True, size=2**20)\n"
        "value = torch.frombuffer(shared.buf, dtype=torch.float64)",
        "shared.close(); shared.unlink()",
    ),
    "file": (
        "np.save('data.npy', np.arange(2**17)); value = np.load('data.npy', mmap_mode='r')",
        "os.truncate('data.npy', 0)",
    ),
    "checkpoint": (
        "torch.save(torch.ones(2**17), 'data.pt'); value = torch.load('data.pt', mmap=True)",
        "os.truncate('data.pt', 0)",
    ),
}


@pytest.mark.skipif(sys.platform != "linux", reason="other systems keep a mapped file")
@pytest.mark.parametrize("name", GIVEN_BACK)
def test_the_kernel_lives_on(kernel, name):
    """Memory that can no longer be read is distinguished from readable memory."""
    make, lose = GIVEN_BACK[name]
    kernel.run("import os, torch\nimport numpy as np")
    kernel.run(make)
    assert kernel.run("type(value).__name__", cell_id=name).status == "ok"
    before = kernel.runs()[-1].reads["value"]
    assert kernel.run(lose).status == "ok"
    assert kernel.run("len([1])").shown == "1"
    assert kernel.run("type(value).__name__", cell_id=name).status == "ok"
    after = kernel.runs()[-1].reads["value"]
    if after.opaque:
        assert "its memory was released" in after.summary
    else:  # other data is there by then
        assert after.digest != before.digest
    assert kernel.run("del value; 1").shown == "1"

"""Options and hooks for all tests, and a check that no test changes the process.

The check reads states by the libraries' functions, so that it does not depend on the code under
test.
"""

from __future__ import annotations

import gc
import json
import os
import random
import signal
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

# With this, idle threads leave the cores to other processes, which saves time on few cores. torch
# reads it when it is loaded, here and in processes that tests start. It changes no numbers.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import hypothesis
import numpy as np
import pytest

from ipytorchseed.checking.notebook import import_nbformat
from ipytorchseed.determinism.table import read_flags
from ipytorchseed.rng import generators, table

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator
    from typing import NoReturn

pytest_plugins = ["pytester", "tests.golden.plugin", "tests.kernel"]


# --------------------------------------------------------------------------------------------------
# Options


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add our command-line options."""
    group = parser.getgroup("ipytorchseed")
    group.addoption(
        "--fresh-examples",
        action="store_true",
        help="let Hypothesis draw new examples, not the same ones in every run",
    )
    group.addoption(
        "--require-all",
        action="store_true",
        help="fail the tests that need node or a browser where there is none, instead of skipping",
    )
    group.addoption(
        "--torch-release",
        action="store_true",
        help="also run the tests that depend on the release of torch",
    )
    group.addoption(
        "--tools",
        action="store_true",
        help="also run the tests of other tools, such as papermill and MLflow: make test-tools",
    )
    group.addoption(
        "--everything",
        action="store_true",
        help="also run the tests that repeat, with more cases, what others test: make test-all",
    )
    group.addoption(
        "--damaged",
        type=int,
        default=50,
        metavar="N",
        help="damaged files of each kind to read (default: 50)",
    )


# Markers of tests that run only if an option asks for them.
OPTIONAL = {
    "torch_release": "--torch-release",
    "tools": "--tools",
    "everything": "--everything",
}

# Files with long tests run first, so that no process works alone at the end.
LONG = ("notebook/", "checking/", "test_", "scenarios/", "session/", "trace/", "cli/")


def pytest_configure(config: pytest.Config) -> None:
    """Set the profile of Hypothesis, independently of environment variables."""
    hypothesis.settings.register_profile(
        "tests",
        hypothesis.settings.get_profile("default"),  # on CI, Hypothesis would use its CI profile
        deadline=None,
        max_examples=50,
        derandomize=not config.getoption("--fresh-examples"),
        suppress_health_check=[hypothesis.HealthCheck.too_slow],  # the machine may be busy
    )
    hypothesis.settings.load_profile("tests")


@pytest.fixture(scope="session")
def report_missing(request: pytest.FixtureRequest) -> Callable[[str], NoReturn]:
    """Return the function to call if a tool is missing: it skips or fails the test."""
    return pytest.fail if request.config.getoption("--require-all") else pytest.skip


# --------------------------------------------------------------------------------------------------
# Which tests run, in which processes


@pytest.hookimpl(wrapper=True, optionalhook=True)
def pytest_xdist_auto_num_workers() -> Generator[None, int, int]:
    """Use two more processes than cores: tests that drive a kernel mostly wait."""
    return (yield) + 2


def import_libraries() -> None:
    """Import libraries before the first test, if their import changes the process."""
    import IPython.core.completer  # noqa: F401 -- adds a warning filter
    import torch._dynamo  # noqa: F401 -- sets a variable and adds a warning filter

    import_nbformat()  # faster than a direct import in a test
    gc.freeze()  # torch has 300,000 objects; each garbage collection would visit them for 0.3 s


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """Import the libraries, except in the process that only distributes tests.

    Also let pytest write the bytecode of tests even if ``PYTHONDONTWRITEBYTECODE`` is set.
    Otherwise, each process compiles them in every run, which takes 6 s.
    """
    options = session.config.option
    if hasattr(session.config, "workerinput") or not getattr(options, "numprocesses", None):
        import_libraries()
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, False
    try:
        return (yield)
    finally:
        sys.dont_write_bytecode = before


def pytest_collection_finish() -> None:
    """Exclude objects that exist now from later garbage collections."""
    gc.freeze()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect the tests that run only if an option asks for them."""
    for marker, option in OPTIONAL.items():
        if not config.getoption(option):
            left_out = {item for item in items if item.get_closest_marker(marker)}
            config.hook.pytest_deselected(items=[*left_out])
            items[:] = [item for item in items if item not in left_out]
    tests = Path(__file__).parent
    items.sort(key=lambda item: not str(item.path.relative_to(tests)).startswith(LONG))


# --------------------------------------------------------------------------------------------------
# The user's files


@pytest.fixture(scope="session", autouse=True)
def data_folder(tmp_path_factory) -> Iterator[None]:
    """Use a temporary folder for ledgers instead of the user's data folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("IPYTORCHSEED_DATA_DIR", str(tmp_path_factory.mktemp("data")))
        yield


# --------------------------------------------------------------------------------------------------
# Flags


def flags_now() -> dict[str, object]:
    """Return the value of every determinism flag, by name."""
    return read_flags()


# --------------------------------------------------------------------------------------------------
# The check


@pytest.fixture(autouse=True)
def leaves_no_trace() -> Iterator[None]:
    """Fail a test that changes any of the states in ``everything()``."""
    before = everything()
    yield
    after = everything()
    changed = [name for name in before if before[name] != after[name]]
    assert not changed, f"the test left these changed: {', '.join(changed)}"


def everything() -> dict[str, object]:
    """Return all states that a test must not change, by name."""
    import torch
    from torch.overrides import _get_current_function_mode_stack
    from torch.utils._python_dispatch import _get_current_dispatch_mode_stack

    return {
        "python": random.getstate(),
        "numpy": json.dumps(np.random.get_state(legacy=False), default=_bytes_of),
        "torch.cpu": torch.get_rng_state().numpy().tobytes(),
        "seeds waiting for cuda": _waiting(torch.cuda),
        "seeds waiting for xpu": _waiting(torch.xpu),
        "environment": {k: v for k, v in os.environ.items() if k != "PYTEST_CURRENT_TEST"},
        "dispatch modes": [id(mode) for mode in _get_current_dispatch_mode_stack()],
        "function modes": [id(mode) for mode in _get_current_function_mode_stack()],
        "registered sources": {**table._registered},
        "recent seeds": [*table._recent],
        "derived seeds": {**generators._derived},
        "warnings filters": [*warnings.filters],
        "warnings.showwarning": warnings.showwarning,
        "handler of interrupts": signal.getsignal(signal.SIGINT),
        **flags_now(),
    }


def _bytes_of(array: np.ndarray) -> str:
    """Return an array as text, much faster than by a list of its numbers."""
    return array.tobytes().hex()


def _waiting(devices: Any) -> dict[str, object]:
    """Return a copy of torch's queue of seeds for devices that have not started."""
    fields = vars(devices._lazy_seed_tracker)
    return {**fields, "call_order": [*fields["call_order"]]}


# --------------------------------------------------------------------------------------------------
# Restoring, for tests that draw, seed or register sources


@pytest.fixture
def put_back(leaves_no_trace) -> Iterator[None]:
    """Restore the sources, and the package's records of them."""
    import torch

    python, cpu = random.getstate(), torch.get_rng_state()
    engine, numpy = np.random.get_bit_generator(), np.random.get_state(legacy=False)
    waiting = {devices: _waiting(devices) for devices in (torch.cuda, torch.xpu)}
    registered, recent = {**table._registered}, [*table._recent]
    derived = {**generators._derived}
    yield
    random.setstate(python)
    np.random.set_bit_generator(engine)
    np.random.set_state(numpy)
    torch.set_rng_state(cpu)
    for devices, fields in waiting.items():
        vars(devices._lazy_seed_tracker).update(fields)
    for kept, values in ((table._registered, registered), (generators._derived, derived)):
        kept.clear()
        kept.update(values)
    table._recent.clear()
    table._recent.extend(recent)

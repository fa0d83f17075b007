"""Commands that rerun a cell restore all settings that it changes."""

from __future__ import annotations

import pytest

from ipytorchseed.determinism.libraries import SETTINGS
from ipytorchseed.determinism.table import FLAGS
from tests.kernel import Kernel
from tests.notebook.all_settings import CHANGES, FIXED, IMPORTS, SETUP

ROWS = [flag.name for flag in FLAGS] + [setting.name for setting in SETTINGS]

READ = "__import__('tests.notebook.all_settings', fromlist=['read']).read()"

# How often the cell has run, stored where looks do not find it.
COUNT = "vars(sys).update(calls=vars(sys)['calls'] + 1)"


def changing(after: int, then: str = "value = random.random()") -> str:
    """Return a cell that changes every setting, except in its first runs."""
    lines = "\n".join(f"    {line}" for line in CHANGES.values())
    return f"{COUNT}\nif vars(sys)['calls'] > {after}:\n{lines}\n{then}"


@pytest.fixture(scope="module")
def loaded(tmp_path_factory):
    """A kernel with every library in the table."""
    with Kernel(tmp_path_factory.mktemp("kernel")) as kernel:
        for cell in ("%load_ext ipytorchseed", IMPORTS, SETUP):
            reply = kernel.run(cell)
            assert reply.status == "ok", reply.error
        yield kernel


@pytest.fixture
def changed_by(loaded):
    """Run cells; return their output, and the rows that changed."""

    def run(*cells: str, first: tuple[str, ...] = ()):
        loaded.run("vars(sys)['calls'] = 0")
        for cell in first:
            reply = loaded.run(cell, cell)
            assert reply.status == "ok", reply.error
        before, ran = loaded.value(READ), loaded.value("sys.calls")
        replies = [loaded.run(cell, cell) for cell in cells]
        for reply in replies:
            assert reply.status == "ok", reply.error
        after = loaded.value(READ)
        assert loaded.value("sys.calls") > ran  # otherwise nothing was changed
        shown = [text for each in replies for text in (each.stdout, each.stderr, each.shown)]
        shown += [bundle.get("text/plain", "") for each in replies for bundle in each.displays]
        return "\n".join(filter(None, shown)), {n for n in before if before[n] != after[n]}

    return run


def test_every_row_has_a_change():
    """A new row is tested as well."""
    assert sorted(ROWS) == sorted(CHANGES.keys() | FIXED.keys())


def test_seeds(changed_by):
    """After ``%%seeds``, every setting is as before."""
    said, moved = changed_by(f"%%seeds 2\n{changing(0)}")
    assert "as before" not in said
    assert moved == set()


def test_check(changed_by):
    """After ``--check``, every setting is as after one run of the cell."""
    said, moved = changed_by(f"%%deterministic --check\n{changing(1)}")
    assert "The cell's first run differs" in said
    assert moved == set()


def test_prove(changed_by):
    """After ``%why --prove``, every setting is as before."""
    cell = changing(2, "value = x + 1")
    _, moved = changed_by("%why --prove", first=("x = 1", cell, "x = 2", cell))
    assert moved == set()


def test_replay(changed_by, loaded):
    """A replay keeps the settings that its cell set; ``--undo`` restores them."""
    cell = changing(1, "value = random.random()")
    loaded.run("random.seed(1)")
    said, moved = changed_by(
        f"%replay {loaded.run('0').execution_count + 2}", "%replay --undo", first=(cell,)
    )
    assert "is undone. Sources and settings are as before" in said
    assert moved == set()


def test_deterministic(changed_by):
    """A deterministic cell restores the flags; its other settings stay."""
    flags = "\n".join(CHANGES[flag.name] for flag in FLAGS if flag.name in CHANGES)
    _, moved = changed_by(f"%%deterministic 42 --isolate\n{COUNT}\n{flags}")
    assert moved == set()


def test_a_recorded_value_can_be_set(loaded):
    """Experiments set it; hooks, handlers, figures and functions have only names."""
    loaded.run(
        "from tests.notebook import all_settings as a\n"
        "from ipytorchseed.determinism.libraries import read_libraries\n"
        "before = {**read_libraries(sys.modules)}"
    )
    changes = [CHANGES[each.name] for each in SETTINGS if each.name in CHANGES]
    loaded.run("\n".join([*changes, "after = {**read_libraries(sys.modules)}"]))
    assert loaded.value("a.set_to(before)") == ["matplotlib.pyplot.figure"]
    assert loaded.value("a.set_to(after)") == [
        "logging.levels",
        "pandas.options.display",
        "torch.nn.modules.module.hooks",
        "torch.optim.optimizer.hooks",
    ]


def test_a_mode_that_cannot_be_left_is_named(changed_by, loaded):
    """Torch can end inference mode only where it began."""
    body = f"{COUNT}\nvars(sys)['mode'] = torch.inference_mode()\nvars(sys)['mode'].__enter__()"
    said, _ = changed_by(f"%%seeds 2\n{body}\nvalue = random.random()")
    loaded.run("del sys.mode")
    assert "as before, except torch.inference_mode_enabled" in " ".join(said.split())

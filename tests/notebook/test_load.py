"""Loading adds, unloading removes, and the shell is restored."""

from __future__ import annotations

import pytest

from tests.kernel import Kernel
from tests.notebook.conftest import IMPORTS, INDUCTOR
from tests.notebook.looking import look

ON = "print('on', torch.are_deterministic_algorithms_enabled())"

OWN = """
from IPython.core.magic import register_line_magic, register_cell_magic
@register_line_magic
def seed(line): print("my seed", line)
@register_cell_magic
def deterministic(line, cell): print("my cell", line, cell)
"""


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    """A kernel without the extension, in which the user has magics of the same names."""
    with Kernel(tmp_path_factory.mktemp("kernel")) as kernel:
        for cell in (IMPORTS, INDUCTOR, OWN):
            assert kernel.run(cell).status == "ok"
        yield kernel


@pytest.fixture
def kernel(plain):
    """The same kernel; a test fails if it leaves anything of ours behind."""
    before = look(plain)
    yield plain
    plain.run("%unload_ext ipytorchseed")
    after = look(plain)
    assert {name for name in before if before[name] != after[name]} == set()


def test_loading_adds_and_unloading_takes_away(kernel):
    """Events, transformer, magics and completions go, and the user's own are restored."""
    before = look(kernel)
    assert kernel.run("%load_ext ipytorchseed").stdout == ""
    during = look(kernel)
    added = {name for name in before if before[name] != during[name]}
    assert added >= {"events", "transformers", "magics of our names", "matchers"}
    assert kernel.run("%seed 3").stdout.startswith("Seeded")
    assert kernel.run("%unload_ext ipytorchseed").stdout == ""
    assert look(kernel) == before
    assert kernel.run("%seed 3").stdout == "my seed 3\n"
    assert kernel.run("%%deterministic 3\na = 1").stdout == "my cell 3 a = 1\n\n"
    assert kernel.run("%deterministic").error.ename == "UsageError"


def test_a_magic_that_was_replaced_meanwhile_stays(kernel):
    """Unloading removes only our additions."""
    kernel.run("magics = get_ipython().magics_manager.magics['line']\nold = magics['seed']")
    kernel.run("%load_ext ipytorchseed")
    kernel.run("@register_line_magic\ndef seed(line): print('newer', line)")
    kernel.run("%unload_ext ipytorchseed")
    told = kernel.run("%seed 3").stdout
    kernel.run("magics['seed'] = old\ndel magics, old, seed")
    assert told == "newer 3\n"


IN_FORCE = {
    "flags": "%deterministic on -q",
    "alerts": "%deterministic on --warn -q",
    "a rule": "%seed each 3 -q",
    "all": "%seed each 3 -q\n%deterministic on --warn --no-cudnn -q",
}


@pytest.mark.parametrize("cell", IN_FORCE.values(), ids=IN_FORCE)
@pytest.mark.parametrize("leave", ["%unload_ext ipytorchseed", "%reload_ext ipytorchseed"])
def test_unloading_ends_what_is_in_force(kernel, cell, leave):
    """Flags, filters and rules are restored; reloading does so too, and starts fresh."""
    before = look(kernel)
    kernel.run("%load_ext ipytorchseed")
    loaded = look(kernel)
    kernel.run(cell)
    ended = ["%seed each 3"] * ("%seed each" in cell) + ["%deterministic on"] * (
        "%deterministic on" in cell
    )
    told = f"ipytorchseed is unloaded, which ends {' and '.join(ended)}.\n" if ended else ""
    assert kernel.run(leave).stdout == told
    after = look(kernel)
    if leave.startswith("%un"):
        assert after == before
    else:
        assert {n for n in loaded if loaded[n] != after[n]} <= {
            "events",
            "magics of our names",
            "matchers",
        }
    first = kernel.run("random.random(), torch.rand(1)", "a cell").shown
    assert kernel.run("random.random(), torch.rand(1)", "a cell").shown != first


def test_loading_twice_is_loading_once(kernel):
    """Magics, events and seeds work as after the first load."""
    kernel.run("%load_ext ipytorchseed")
    during = look(kernel)
    kernel.run("%load_ext ipytorchseed")
    kernel.run("import ipytorchseed\nipytorchseed.load_ipython_extension(get_ipython())")
    assert look(kernel) == during


def test_unloading_twice_is_unloading_once(kernel):
    """The second call does nothing."""
    before = look(kernel)
    kernel.run("%load_ext ipytorchseed\n%unload_ext ipytorchseed")
    kernel.run("import ipytorchseed\nipytorchseed.unload_ipython_extension(get_ipython())")
    assert look(kernel) == before


def test_reloading_keeps_one_of_each(kernel):
    """This holds for any number of reloads, also in a cell with other code."""
    kernel.run("%load_ext ipytorchseed")
    for _ in range(3):
        kernel.run("%reload_ext ipytorchseed")
    reply = kernel.run(f"%reload_ext ipytorchseed\n%seed 4 -q\n%seed 4\n{ON}")
    assert reply.stdout == "Seeded python, numpy, torch.cpu with 4.\non False\n"
    assert kernel.value("len(get_ipython().events.callbacks['pre_run_cell'])") == 1


def test_a_kernel_stays_the_same_when_it_is_reloaded(kernel):
    """Its runs keep their numbers, and no restart is mentioned."""
    kernel.run("%load_ext ipytorchseed")
    first = kernel.run("5 + 6", "a cell").execution_count
    kernel.run("%reload_ext ipytorchseed")
    second = kernel.run("5 + 6", "a cell").execution_count
    (told,) = kernel.run("%why").displays
    assert told["text/plain"] == f"In[{second}]: same result, bit for bit, as In[{first}]"


def test_the_cell_that_loads_it_can_use_it(kernel):
    """The cell's beginning was not seen, but its end is."""
    reply = kernel.run(
        "%load_ext ipytorchseed\n"
        f"get_ipython().run_cell('''%%deterministic 3\n{ON.replace(chr(39), chr(34))}''')\n"
        f"%seed 3\n{ON}"
    )
    assert reply.stdout == "on True\nSeeded python, numpy, torch.cpu with 3.\non False\n"
    assert kernel.run(f"%%deterministic\n{ON}").stdout == "on True\n"
    assert kernel.run(ON).stdout == "on False\n"


def test_the_cell_that_loads_it_may_call_the_cell_magic(kernel):
    """A scope that began without a known run ends with this cell at the latest."""
    kernel.run("%load_ext ipytorchseed\nget_ipython().run_cell_magic('deterministic', '3', None)")
    assert kernel.run(ON).stdout == "on False\n"


@pytest.mark.parametrize("leave", ["%unload_ext ipytorchseed", "%reload_ext ipytorchseed"])
def test_a_deterministic_cell_may_unload_it(kernel, leave):
    """Its scope ends at once."""
    kernel.run("%load_ext ipytorchseed")
    reply = kernel.run(f"%%deterministic 3\n{ON}\n{leave}\n{ON}")
    assert (reply.status, reply.stdout) == ("ok", "on True\non False\n")


def test_without_it_the_magic_is_unknown(plain, tmp_path):
    """Otherwise the tests above would prove nothing."""
    with Kernel(tmp_path) as kernel:
        assert kernel.run("%seed 3").error.ename == "UsageError"
        assert kernel.run("%%deterministic\n1").error.ename == "UsageError"

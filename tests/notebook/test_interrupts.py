"""Scopes end properly if a cell is interrupted, or runs other cells inside it."""

from __future__ import annotations

import pytest

from tests.kernel import files_of_ours
from tests.notebook.looking import digests

ON = "print('on', torch.are_deterministic_algorithms_enabled())"

ENDLESS = {
    "python code": "print('begun')\nwhile True:\n    time.sleep(0.01)",
    "await": "print('begun')\nwhile True:\n    await asyncio.sleep(0.01)",
    "a thread waited for": "import threading\nprint('begun')\n"
    "while not threading.Event().wait(0.05): pass",
    "%%time below": "%%time\nprint('begun')\nwhile True:\n    time.sleep(0.01)",
    "a nested run": "get_ipython().run_cell('print(\"begun\")\\nwhile True: time.sleep(0.01)')",
}

OPTIONS = ["", "42 --isolate", "42 --warn --isolate"]


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("body", ENDLESS.values(), ids=ENDLESS)
def test_an_interrupt_puts_everything_back(kernel, body, options):
    """The stop button ends the cell as usual, and the next cell runs."""
    before = digests(kernel)
    reply = kernel.run(f"%%deterministic {options}\n{body}", interrupt_at="begun")
    assert reply.error.ename in ("KeyboardInterrupt", "CancelledError")
    if "--isolate" in options:
        assert digests(kernel) == before
    after = kernel.run(f"{ON}\n6 * 7")
    assert (after.status, after.stdout, after.shown) == ("ok", "on False\n", "42")


def test_an_interrupt_while_the_scope_begins_leaves_nothing_set(kernel):
    """An interrupt may come while sources are seeded, before the body's first line."""
    kernel.run(
        "import ipytorchseed as its\n"
        "def stop(value):\n    raise KeyboardInterrupt\n"
        "its.register_source('stops', seed=stop, read=bytes, write=bytes)"
    )
    reply = kernel.run("%%deterministic 42\nprint('ran')")
    kernel.run("from tests.rng.known import forget_source; forget_source('stops')")
    assert (reply.error.ename, reply.stdout) == ("KeyboardInterrupt", "")
    assert reply.error.traceback.count("File ") == 1, reply.error.traceback
    assert kernel.run(ON).stdout == "on False\n"


def _nested(cell):
    return f"result = get_ipython().run_cell({cell!r})"


DETERMINISTIC = f"%%deterministic 3\n{ON}"

EVENTS = "for event in ('pre_execute', 'post_execute'):\n    get_ipython().events.trigger(event)"

NESTED = {
    "plain": (f"%%deterministic\n{_nested(ON)}\n{ON}", "on True\non True\n"),
    "failing": (f"%%deterministic\n{_nested('1 / 0')}\n{ON}", "on True\n"),
    "empty": (f"%%deterministic\n{_nested('')}\n{ON}", "on True\n"),
    "silent": (
        f"%%deterministic\nget_ipython().run_cell({ON!r}, silent=True)\n{ON}",
        "on True\non True\n",
    ),
    "deterministic in plain": (f"{_nested(DETERMINISTIC)}\n{ON}", "on True\non False\n"),
    "deterministic in deterministic": (
        f"%%deterministic\n{_nested(DETERMINISTIC)}\n{ON}",
        "on True\non True\n",
    ),
    "failing deterministic in deterministic": (
        f"%%deterministic\n{_nested(f'{DETERMINISTIC}; 1 / 0')}\n{ON}",
        "on True\non True\n",
    ),
    "thrice": (
        f"%%deterministic\n{_nested(_nested(DETERMINISTIC))}\n{ON}",
        "on True\non True\n",
    ),
    "the events of a widget": (
        f"%%deterministic\n{EVENTS}\n{ON}",
        "on True\n",
    ),
}


@pytest.mark.parametrize(("cell", "printed"), NESTED.values(), ids=NESTED)
def test_a_run_inside_a_run_leaves_the_outer_one_as_it_is(kernel, cell, printed):
    """With ``run_cell`` in the body, the inner scope ends, and the outer continues."""
    assert kernel.run(cell).stdout == printed
    assert kernel.run(ON).stdout == "on False\n"


def test_the_same_text_inside_itself_ends_in_order(kernel):
    """A cell that runs its own text once more is distinguished from it."""
    text = (
        "%%deterministic\n"
        "depth = globals().get('depth', 0) + 1\n"
        f"if depth < 3:\n    get_ipython().run_cell(text)\n{ON}"
    )
    kernel.run(f"text = {text!r}")
    assert kernel.run(text).stdout == "on True\n" * 3
    assert kernel.run(f"del depth\n{ON}").stdout == "on False\n"


BODY = f"{ON}\ntorch.rand(2)"


def test_code_may_call_the_magic_with_a_body(kernel):
    """``run_cell_magic`` runs the body in its own scope, and shows its value."""
    reply = kernel.run(f"get_ipython().run_cell_magic('deterministic', '42', {BODY!r})\n{ON}")
    assert reply.stdout == "on True\non False\n"
    assert reply.shown == kernel.run("torch.manual_seed(42)\ntorch.rand(2)").shown


def test_an_error_in_a_body_that_code_passed_reaches_that_code(kernel):
    """It can be caught; the scope has ended by then."""
    reply = kernel.run(
        "try:\n    get_ipython().run_cell_magic('deterministic', '', '1 / 0')\n"
        f"except ZeroDivisionError:\n    print('caught')\n{ON}"
    )
    assert reply.stdout == "caught\non False\n"


def test_another_thread_has_runs_of_its_own(kernel):
    """A scope that a thread began ends with that thread's run, not with the cell's."""
    reply = kernel.run(
        "import threading\n"
        f"def work():\n    get_ipython().run_cell({DETERMINISTIC!r})\n"
        f"thread = threading.Thread(target=work)\nthread.start()\nthread.join()\n{ON}"
    )
    assert reply.stdout == "on True\non False\n"


def test_an_interrupt_of_a_magic_that_is_being_loaded_names_no_line_of_ours(kernel):
    """The traceback would not help the user who interrupted."""
    kernel.run(
        "import sys\n"
        "class Stop:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'ipytorchseed.notebook.rng_magic':\n"
        "            sys.meta_path.remove(self)\n"
        "            raise KeyboardInterrupt\n"
        "sys.modules.pop('ipytorchseed.notebook.rng_magic', None)\n"
        "sys.meta_path.insert(0, Stop())"
    )
    reply = kernel.run("%rng --text")
    assert reply.error.ename == "KeyboardInterrupt"
    assert files_of_ours(reply.error.traceback) == {"notebook/magic.py"}  # raised again there
    assert kernel.run("%rng --text").error is None

"""The body of ``%%deterministic`` behaves as if the magic were absent."""

from __future__ import annotations

import re

import pytest

ON = "print('on', torch.are_deterministic_algorithms_enabled())"

BODIES = {
    "the last expression": "a = 20\na + 1",
    "the last expression, silenced": "20 + 1;",
    "no expression": "a = 20",
    "several lines of output": "for i in range(3):\n    print(i)\n'end'",
    "standard error": "import sys\nprint('to stderr', file=sys.stderr)",
    "top-level await": "import asyncio\nasync def f():\n    return 5\nawait f()",
    "await in a loop": "for i in range(2):\n    await asyncio.sleep(0)\n    print(i)",
    "a command of the system": "!echo hello",
    "output of a command": "words = !echo hello\nwords",
    "a line magic": "%pwd",
    "the value of a line magic": "here = %pwd\nlen(here) > 0",
    "display": "display({'text/plain': 'shown'}, raw=True)\n3",
    "help on a name": "?len",
    "help on a name after code": "a = 2\nlen?",
    "a future import": "from __future__ import annotations\na: b = 5\na",
    "a future import after a text": "'Words.'\nfrom __future__ import annotations\n7",
    "a future import with a comment": "# first\n\nfrom __future__ import annotations  # why\n7",
    "a future import and more": "from __future__ import annotations; a = 8\na",
    "a future import of two lines": "from __future__ import (\n    annotations,\n)\n9",
    "two future imports": "from __future__ import annotations\nfrom __future__ import division\n9",
    "an exception": "a = 1\nraise ValueError('of the cell')",
    "an exception in a function": "def f():\n    return 1 / 0\n\nf()",
    "an exception after await": "await asyncio.sleep(0)\n1 / 0",
    "an exception after a future import": "from __future__ import annotations\n\n1 / 0",
    "an undefined name": "no_such_name",
    "a syntax error": "a = 1\nif a\n    a",
    "an open bracket": "a = (1,\n",
    "a wrong indent": "if True:\n    a = 1\n  b = 2",
    "an error of usage": "%no_such_magic",
    "exit of the program": "import sys\nsys.exit(3)",
    "only comments": "# nothing",
    "blank lines before code": "\n\n30",
    "an indented body": "    a = 4\n    a",
    "a pasted session": ">>> a = 4\n>>> a + 1",
    "a pasted session of IPython": "In [1]: a = 4\n\nIn [2]: a + 1",
    "a text that holds the magic": "text = '''\n%%deterministic 3\n'''\ntext",
    "a statement of many lines": "a = [\n    1,\n\n    2,\n]\na",
    "lines joined by a backslash": "a = 1 + \\\n    2\na",
    "letters beyond ascii": "größe = 'ä→∞'\ngröße",
    "a decorated class": "def keep(c): return c\n@keep\nclass C:\n    x = 1\nC.x",
    "another cell magic below": "%%capture out\nprint('captured')",
    "a script below": "%%bash\necho one\necho two",
    "a script that fails below": "%%bash\nexit 3",
    "no such cell magic below": "%%no_such_magic\n1",
    "blank lines before a cell magic": "\n\n%%bash\necho late",
}


def _told(reply):
    said = str(reply.error and (reply.error.ename, reply.error.evalue))
    failed = re.sub(r"\d+\.py", "cell", re.sub(r"line \d+", "line", said))
    shown = [*reply.results, *reply.displays, *reply.pages]
    warned = re.sub(r".*UserWarning: To exit.*\n.*\n", "", reply.stderr)  # shown once per kernel
    return reply.status, reply.stdout, warned, shown, failed


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_a_body_gives_what_it_gives_without_the_magic(kernel, body):
    """Status, output, result and error equal those of the cell without the magic."""
    plain = kernel.run(body)
    assert _told(kernel.run(f"%%deterministic 42\n{body}")) == _told(plain)


FAILING = {
    "in the first line": ("1 / 0", 2),
    "in a later line": ("a = 1\n\n\n1 / 0", 5),
    "after blank lines": ("\n\n1 / 0", 4),
    "in a function": ("def f():\n    1 / 0\n\nf()", 3),
    "after a future import": ("from __future__ import annotations\na = 1\n1 / 0", 4),
    "beside a future import": ("from __future__ import annotations; 1 / 0", 2),
    "after await": ("await asyncio.sleep(0)\n1 / 0", 3),
    "in an indented body": ("    a = 1\n    1 / 0", 3),
    "in a pasted session": (">>> a = 1\n>>> 1 / 0", 3),
    "of syntax": ("a = 1\nif a\n    a", 3),
}


@pytest.mark.parametrize(("body", "line"), FAILING.values(), ids=FAILING)
def test_line_numbers_of_an_error_are_those_of_the_cell(kernel, body, line):
    """The magic's own line is line 1, as in the notebook's margin."""
    error = kernel.run(f"%%deterministic\n{body}").error
    arrows = re.findall(r"^-+> (\d+) ", error.traceback, re.MULTILINE)
    named = re.findall(r"Cell In\[\d+\], line (\d+)", error.traceback)
    assert str(line) in arrows or (not arrows and named == [str(line)])


TIMES = r"(CPU times: .*\n)?Wall time: .*\n|.* per loop .*\n|The slowest run .*\n"

AROUND = {
    "alone": (f"%%deterministic\n{ON}", 1),
    "with await": (f"%%deterministic\nawait asyncio.sleep(0)\n{ON}", 1),
    "%time inside": (f"%%deterministic\n%time {ON}", 1),
    "%timeit inside": (f"%%deterministic\n%timeit -n1 -r3 {ON}", 3),
    "%%time below": (f"%%deterministic\n%%time\n{ON}", 1),
    "%%time above": (f"%%time\n%%deterministic\n{ON}", 1),
    "%%timeit below": (f"%%deterministic\n%%timeit -n1 -r3\n{ON}", 3),
    "%%timeit above": (f"%%timeit -n1 -r3\n%%deterministic 42\n{ON}", 3),
    "%%timeit above and an option": (f"%%timeit -n1 -r3\n%%deterministic --isolate\n{ON}", 3),
    "%%capture and %%time below": (f"%%deterministic\n%%time\n%%time\n{ON}", 1),
    "itself below": (f"%%deterministic 1\n%%deterministic 2\n{ON}", 1),
    "a future import": (f"%%deterministic\nfrom __future__ import annotations\n{ON}", 1),
    "an indented magic": (f"    %%deterministic\n    {ON}", 1),
    "a magic after blank lines": (f"\n\n%%deterministic\n{ON}", 1),
    "a pasted session": (f"%%deterministic\n>>> {ON}", 1),
    "a function called later": (f"%%deterministic\ndef f():\n    {ON}\nf()", 1),
}


@pytest.mark.parametrize(("cell", "times"), AROUND.values(), ids=AROUND)
def test_the_flags_are_set_while_the_body_runs_and_put_back_after_it(kernel, cell, times):
    """The body finds the flags however it runs; the next cell does not."""
    reply = kernel.run(cell)
    assert reply.error is None
    assert re.sub(TIMES, "", reply.stdout) == "on True\n" * times
    assert kernel.run(ON).stdout == "on False\n"


@pytest.mark.parametrize(
    "cell",
    ["%%capture out\n%%deterministic\n{}\n21 * 2", "%%deterministic\n%%capture out\n{}\n21 * 2"],
    ids=["above", "below"],
)
def test_capture_takes_output_and_result(kernel, cell):
    """``%%capture``, above or below, keeps what the body printed and showed."""
    reply = kernel.run(cell.format(ON))
    assert (reply.status, reply.stdout, reply.results) == ("ok", "", [])
    assert kernel.run("print(out.stdout, end='')").stdout == "on True\n"
    assert kernel.value("out.outputs[0].data") == {"text/plain": "42"}


def test_a_silent_run_has_its_flags_and_puts_them_back(kernel):
    """A front end may run a cell silently, which fires different events."""
    assert kernel.run(f"%%deterministic 42\n{ON}", silent=True).stdout == "on True\n"
    assert kernel.run(ON).stdout == "on False\n"


def test_a_run_outside_history_has_its_flags_and_puts_them_back(kernel):
    """The same holds for a run that is not counted."""
    assert kernel.run(f"%%deterministic 42\n{ON}", store_history=False).stdout == "on True\n"
    assert kernel.run(ON).stdout == "on False\n"


def test_help_is_help(kernel):
    """``%%deterministic?`` shows the help, and runs nothing."""
    for question in ("%%deterministic?", "?%%deterministic"):
        (page,) = kernel.run(question).pages
        assert "Usage: %%deterministic" in page
        assert "--isolate" in page

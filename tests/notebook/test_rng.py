"""``%rng`` shows every current state, the settings and the timeline.

It has text, HTML and JSON.
"""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser

import pytest

from tests.kernel import Kernel

START = (
    "import random\nimport numpy as np\nimport torch\n%load_ext ipytorchseed\n"
    "from IPython.display import display"
)


TRAIN = "torch.rand(5), random.random();"


@pytest.fixture(scope="module")
def kernel(tmp_path_factory):
    """A kernel in which a few cells have run."""
    with Kernel(tmp_path_factory.mktemp("kernel")) as kernel:
        assert kernel.run(START).status == "ok"
        kernel.run("%seed 42 -q")
        kernel.run("g = torch.Generator().manual_seed(7)\nrng = np.random.default_rng(8)")
        kernel.run("rng.random(3);")
        yield kernel


def told(kernel, line="%rng --json"):
    """Return the content of a line of JSON."""
    reply = kernel.run(line)
    assert (reply.stdout.count("\n"), reply.displays, reply.stderr) == (1, [], "")
    return json.loads(reply.stdout)


def test_the_json_has_the_shape_that_programs_rely_on(kernel):
    """Only keys and types are compared."""
    kernel.run("seeded = torch.Generator().manual_seed(7)")
    shown = told(kernel)
    assert list(shown) == ["schema", "sources", "generators", "flags"]
    assert shown["schema"] == 1
    assert [list(each) for each in shown["sources"]] == [["name", "digest", "seed", "draws"]] * 3
    assert [each["name"] for each in shown["sources"]] == ["python", "numpy", "torch.cpu"]
    assert {*map(len, (each["digest"] for each in shown["sources"]))} == {16}
    generators = {each["name"]: each for each in shown["generators"]}
    assert list(generators["seeded"]) == ["name", "type", "digest", "seed", "draws"]
    assert generators["seeded"] | {"digest": ""} == {
        "name": "seeded", "type": "torch.Generator", "digest": "", "seed": 7, "draws": 0,
    }  # fmt: skip
    assert {*map(tuple, shown["flags"])} == {("name", "value", "wanted", "ok")}
    flags = {flag["name"]: flag for flag in shown["flags"]}
    assert flags["torch.backends.cudnn.benchmark"]["value"] is False
    assert {type(flag["ok"]) for flag in shown["flags"]} == {bool}


def test_draws_are_counted_from_the_seed(kernel):
    """They are counted in raw numbers, for sources and generators."""
    kernel.run("%seed 42 -q")
    kernel.run("torch.rand(10), [random.random() for _ in range(3)], np.random.rand(4);")
    draws = {each["name"]: (each["seed"], each["draws"]) for each in told(kernel)["sources"]}
    assert draws == {"python": (42, 6), "numpy": (42, 8), "torch.cpu": (42, 10)}


def test_the_digests_are_those_of_the_runs(kernel):
    """The listed states are those in which the next cell begins."""
    now = {each["name"]: each["digest"] for each in told(kernel)["sources"]}
    kernel.run("1")
    run = kernel.runs()[-1]
    assert {name: run.before[name] for name in run.before.keys() - run.generators} == now


def test_looking_moves_nothing(kernel):
    """This holds for every form."""
    for line in ("%rng", "%rng --text", "%rng --json", "%rng diff 2 4", "%seed log"):
        assert kernel.run(line).status == "ok"
        run = kernel.runs()[-1]
        assert run.before == run.after


def test_the_text_fits_80_columns_and_tells_states_settings_and_runs(kernel):
    """This includes long names, wide characters and many changed sources."""
    trained = [kernel.run(TRAIN, "train").execution_count for _ in range(2)]
    kernel.run(
        "日本語の変数 = 'とても長い文字列が入っているセル'; [random.random(), np.random.rand(),"
        " torch.rand(1), g.seed(), rng.random()];"
    )
    kernel.run("a_name_that_is_longer_than_any_column_of_a_table = random.Random(1)")
    kernel.run("a_name_that_is_longer_than_any_column_of_a_table.random(), 1 / 0")
    reply = kernel.run("%rng --text")
    text = reply.stdout
    assert reply.displays == []
    assert max(map(width, text.splitlines())) <= 80
    assert f"In[{trained[0]}]" in text
    assert "torch.rand(5), rand" in text
    assert re.search(r"In\[\d+\] +a_name_that_is_long.* error$", text, re.MULTILINE)
    assert "moved too, not shown:" in text
    assert "* started from another state than the cell's previous run" in text
    assert "use_deterministic_algorithms" in text or "deterministic on" in text


def width(line):
    """Return how many terminal columns a line takes."""
    from rich.cells import cell_len

    return cell_len(line)


def test_a_rerun_that_began_elsewhere_is_marked(kernel):
    """Text and HTML mark it with a star, but not a run that began in the same state."""
    for _ in range(2):
        kernel.run("torch.rand(6);")
    lines = [
        line for line in kernel.run("%rng --text").stdout.splitlines() if "torch.rand(6)" in line
    ]
    assert len(lines) == 2
    assert "*" not in lines[0]
    assert "*→" in lines[1]


def test_the_first_display_is_static_html_with_its_text(kernel):
    """Both are in one display."""
    trained = kernel.run(TRAIN, "train").execution_count
    shown = kernel.run("%rng").displays[0]
    assert {"text/plain", "text/html"} <= set(shown)
    page = read(shown["text/html"])
    assert {"table", "th", "style"} <= page.tags
    assert not {"script", "img", "iframe", "object", "link"} & page.tags
    assert not [name for name in page.attributes if name.startswith("on")]
    assert f"In[{trained}]" in page.text


class Page(HTMLParser):
    """Collects the tags, attributes and text of HTML."""

    def __init__(self):
        super().__init__()
        self.tags, self.attributes, self.text = set(), set(), ""

    def handle_starttag(self, tag, attrs):
        """Record a tag."""
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data):
        """Record text."""
        self.text += data


def read(html):
    """Parse a page."""
    page = Page()
    page.feed(html)
    return page


HOSTILE = {
    "a cell": "# <img src=x onerror=alert(1)><script>alert(2)</script>",
    "a key": "rngs = {'<script>alert(3)</script>': random.Random(1)}\n"
    "rngs['<script>alert(3)</script>'].random();",
    "a template": "# {{ 7 * 7 }} {% raw %}",
    "a quote": "# \"' onmouseover='alert(4)",
}


@pytest.mark.parametrize("cell", HOSTILE.values(), ids=HOSTILE)
def test_what_the_user_wrote_is_text_and_never_markup(kernel, cell):
    """Cells, keys of dictionaries and names are shown as typed."""
    count = kernel.run(cell, "<b>id</b>").execution_count
    for line in ("%rng", f"%rng diff {count} {count}", "%seed", "%seed log"):
        page = read(kernel.run(line).displays[0]["text/html"])
        assert not {"script", "img"} & page.tags
        assert not [name for name in page.attributes if name.startswith("on")]
    page = read(kernel.run("%rng --all").displays[0]["text/html"])
    assert cell.splitlines()[-1].strip(" ;") in page.text
    kernel.run("rngs = None")


def test_two_states_side_by_side(kernel):
    """Each has seed and draws, and equal states are marked; generators may be missing."""
    kernel.run("%seed 5 -q")
    first = kernel.run("random.random();").execution_count
    second = kernel.run("late = random.Random(2)").execution_count
    third = kernel.run("1").execution_count
    (shown,) = kernel.run(f"%rng diff {first} {third}").displays
    rows = {line.split()[0]: line for line in shown["text/plain"].splitlines() if line.strip()}
    assert re.search(r"seed 5 +\w+ seed 5 \+ 2( draws)? +differs", rows["python"])
    assert rows["torch.cpu"].endswith("same")
    assert re.search(r"not there .*differs", rows["late"])
    assert "text/html" in shown
    same = kernel.run(f"%rng diff In[{second}] {second}").displays[0]["text/plain"]
    assert "differs" not in same


def test_states_of_an_earlier_kernel_are_compared_by_their_number(kernel):
    """The numbers are those in the timeline."""
    number = kernel.runs()[0].id
    assert f"#{number}" not in kernel.run("%rng diff 2 4").displays[0]["text/plain"]
    text = kernel.run(f"%rng diff #{number} 4").displays[0]["text/plain"]
    assert "In[4] began" in text


WRONG = {
    "%rng diff 4": "Missing argument 'B'",
    "%rng diff": "Missing argument 'A'",
    "%rng diff 4 999": "no run '999' is recorded; the last ones are ",
    "%rng diff x 4": "no run 'x' is recorded; the last ones are ",
    "%rng diff #0 4": "no run '#0' is recorded; the last ones are ",
    "%rng diff 4 5 6": "unexpected extra argument",
    "%rng nothing": "No such command 'nothing'",
    "%rng --nothing": "--nothing",
    "%rng diff #999999999999999999999 4": "is recorded; the last ones are ",
}


@pytest.mark.parametrize(("line", "words"), WRONG.items(), ids=[*WRONG])
def test_what_does_not_exist_is_told_in_one_line(kernel, line, words):
    """The line names what exists."""
    error = kernel.run(line).error
    assert (error.ename, words in error.evalue) == ("UsageError", True), error.evalue
    assert "\n" not in error.evalue


def test_the_names_of_the_last_runs_are_listed(kernel):
    """They are in the order in which they ran."""
    said = kernel.run("%rng diff 4 999").error.evalue
    named = [int(number) for number in re.findall(r"In\[(\d+)\]", said)]
    assert named == sorted(named)
    assert len(named) == 8


CHOICES = {
    "%config IPyTorchSeed.budget = -1": "TraitError",
    "%config IPyTorchSeed.tracking = 'perhaps'": "TraitError",
    "%config IPyTorchSeed.ignore = 3": "TraitError",
}


@pytest.mark.parametrize(("line", "name"), CHOICES.items(), ids=CHOICES)
def test_a_choice_that_is_none_is_refused(kernel, line, name):
    """The earlier value stays."""
    before = kernel.run("%config IPyTorchSeed").stdout
    reply = kernel.run(line)
    assert (reply.error.ename if reply.error else name) == name
    assert kernel.run("%config IPyTorchSeed").stdout == before


def test_the_choices_explain_themselves(kernel):
    """``%config`` shows their help."""
    shown = kernel.run("%config IPyTorchSeed").stdout
    for name in ("tracking", "budget", "ignore", "ledger"):
        assert f"IPyTorchSeed.{name}=" in shown


def test_a_name_chosen_to_be_ignored_is_not_looked_at(kernel):
    """This applies from the next cell on."""
    kernel.run("%config IPyTorchSeed.ignore = ['hidden']")
    kernel.run("hidden = [1]\nseen = [2]")
    assert {*kernel.runs()[-1].writes} == {"seen"}
    kernel.run("%config IPyTorchSeed.ignore = []")


def test_another_place_for_the_ledger_holds_from_then_on(kernel, tmp_path):
    """It can be chosen in any cell, and changed back."""
    kernel.run(f"%config IPyTorchSeed.ledger = {str(tmp_path)!r}")
    kernel.run("there = 1")
    kernel.run("%config IPyTorchSeed.ledger = ''")
    kernel.run("here = 1")
    home, kernel.ledger = kernel.ledger, tmp_path / kernel.ledger.name
    away = [run.source for run in kernel.runs()]
    kernel.ledger = home
    assert ("there = 1" in away, "here = 1" in away) == (True, False)
    assert kernel.runs()[-1].source == "here = 1"
    assert "there = 1" not in {run.source for run in kernel.runs()}

"""``%seed`` puts every source into a known state now, and shows what is in force."""

from __future__ import annotations

import json
import re

import pytest

from ipytorchseed.rng.seeds import seed_by_rank
from tests.kernel import Kernel
from tests.notebook.looking import digests

DRAW = "random.random(), np.random.rand(), torch.rand(1).item()"

BY_HAND = "random.seed({0})\nnp.random.seed({0})\ntorch.manual_seed({0})\n" + DRAW

MAKE = (
    "g = torch.Generator()\n"
    "rng = np.random.default_rng(0)\n"
    "streams = {'train': np.random.RandomState(0), 'my test': random.Random(0)}\n"
    "loader = torch.utils.data.DataLoader([0], generator=torch.Generator())"
)

NAMES = ["g", "rng", "streams['train']", "streams['my test']", "loader.generator"]

STATES = (
    "[g.initial_seed(), rng.bit_generator.state['state']['state'], streams['train'].rand(),"
    " streams['my test'].random(), loader.generator.initial_seed()]"
)


@pytest.fixture
def generators(kernel):
    """Define generators in the namespace, which are removed after the test."""
    kernel.run(MAKE)
    yield
    kernel.run("del g, rng, streams, loader")


def _states(kernel):
    """Return each generator's next draws by name, from copies."""
    return dict(
        zip(NAMES, json.loads(kernel.run(f"import copy, json\n{COPIED}").stdout), strict=True)
    )


COPIED = f"print(json.dumps((lambda streams: {STATES})(copy.deepcopy(streams))))"


@pytest.mark.parametrize("seed", [0, 42, 2**32 - 1])
def test_a_seed_goes_to_every_source(kernel, seed):
    """They draw the same as after seeding each by hand."""
    by_hand = kernel.run(BY_HAND.format(seed)).shown
    reply = kernel.run(f"%seed {seed}")
    assert reply.stdout == f"Seeded python, numpy, torch.cpu with {seed}.\n"
    assert kernel.run(DRAW).shown == by_hand


@pytest.mark.parametrize("line", ["$n", "{n}", "{n * 2}", "$line", "+7", "'7'"])
def test_a_seed_may_be_a_variable_or_an_expression(kernel, line):
    """It is the notebook's, even if IPython uses its name internally, like ``line``."""
    seed = 14 if "*" in line else 7
    kernel.run("n = line = 7")
    assert kernel.run(f"%seed {line}").stdout.endswith(f"with {seed}.\n")


def test_a_seed_may_be_a_local_variable_of_a_function(kernel):
    """This works in any magic that a function calls."""
    kernel.run("def f():\n    local = 7\n    get_ipython().run_line_magic('seed', '$local')")
    assert kernel.run("f()").stdout.endswith("with 7.\n")


def test_generators_of_the_namespace_are_named_and_left_alone(kernel, generators):
    """They may have been seeded on purpose."""
    before = _states(kernel)
    reply = kernel.run("%seed 42")
    left = f"Left alone: {', '.join(NAMES)}. To reseed them too: %seed 42 --generators\n"
    assert reply.stdout == f"Seeded python, numpy, torch.cpu with 42.\n{left}"
    assert _states(kernel) == before
    left = left.replace("42", "42 --by-rank")
    assert left in kernel.run("%seed 42 --by-rank").stdout


def test_generators_are_reseeded_each_with_a_seed_of_its_own(kernel, generators):
    """Seed and name determine it: the same seed repeats it, a new seed changes it."""
    told = [kernel.run(f"%seed {seed} --generators").stdout for seed in (42, 43, 42)]
    first, other, again = (re.findall(r"^  (.+) \((.+)\): (\d+)$", t, re.MULTILINE) for t in told)
    assert [name for name, _, _ in first] == NAMES
    assert [kind for _, kind, _ in first] == [
        "torch.Generator",
        "numpy.random.Generator",
        "numpy.random.RandomState",
        "random.Random",
        "torch.Generator",
    ]
    assert len({seed for _, _, seed in (*first, *other)}) == 10
    assert again == first
    assert "Left alone" not in told[0]
    assert str(_states(kernel)["g"]) == first[0][2]


@pytest.mark.parametrize(
    "line", ["42 -q", "-q 42", "--quiet 42", "new -q", "each 4 -q", "-q each 4", "-q off"]
)
def test_quiet_prints_nothing(kernel, line):
    """The command still has its effect."""
    reply = kernel.run(f"%seed {line}")
    assert (reply.status, reply.stdout, reply.displays, reply.results) == ("ok", "", [], [])
    kernel.run("%seed off -q")


def test_new_takes_another_seed_each_time_and_applies_it(kernel):
    """The printed seed gives the same numbers when typed."""
    seeds, draws = [], []
    for _ in range(4):
        said = kernel.run("%seed new").stdout
        seeds.append(re.search(r"with (\d+)\.$", said, re.MULTILINE).group(1))
        draws.append(kernel.run(DRAW).shown)
    assert len(set(seeds)) == 4
    kernel.run(f"%seed {seeds[0]}")
    assert kernel.run(DRAW).shown == draws[0]


def _rows(kernel):
    (shown,) = kernel.run("%seed").displays
    title, _, _, *rows = shown["text/plain"].splitlines()
    return title, [re.split(r" {2,}", row) for row in rows if not row.startswith("(")]


def test_the_status_names_the_last_seed_and_where_every_source_stands(kernel):
    """One display has name, digest, seed and draws since then, as text and HTML."""
    kernel.run(f"%seed 42 -q\n{DRAW}")
    title, rows = _rows(kernel)
    assert title == "Last seed: 42."
    where = ["seed 42 + 2 draws", "seed 42 + 2 draws", "seed 42 + 1 draw"]
    expected = [[n, d[:8], w] for (n, d), w in zip(digests(kernel).items(), where, strict=True)]
    assert rows == expected
    (shown,) = kernel.run("%seed").displays
    assert set(shown) == {"text/plain", "text/html"}
    for text in ("Last seed: 42.", *(word for row in rows for word in row)):
        assert text in shown["text/html"].replace("<wbr>", "")  # line breaks are allowed there


@pytest.mark.parametrize(
    "seeding", ["import ipytorchseed as its\nits.seed(43)", "%%deterministic 43\n1"]
)
def test_the_last_seed_is_the_last_one_however_it_was_applied(kernel, seeding):
    """A magic, a function or the rule for cells may apply it."""
    kernel.run("%seed 42 -q")
    kernel.run(seeding)
    assert _rows(kernel)[0] == "Last seed: 43."


def test_the_last_seed_is_not_taken_for_where_sources_stand(kernel):
    """The sources were restored to a state that began with another seed."""
    for line in ("%seed 42 -q", "%seed save -q at42", "%seed 43 -q", "%seed restore -q at42"):
        kernel.run(line)
    assert _rows(kernel)[0] == "Last seed: 43, but no source continues from it."


def test_the_status_lists_generators(kernel, generators):
    """It gives their names, types and seeds."""
    kernel.run("%seed 42 --generators -q\ntorch.rand(3, generator=g);")
    _, rows = _rows(kernel)
    assert [row[0].partition(" (")[0] for row in rows[3:]] == NAMES
    assert re.fullmatch(r"seed \d+ \+ 3 draws", rows[3][2])
    assert re.fullmatch(r"seed \d+", rows[4][2])


def test_the_status_moves_nothing(kernel, generators):
    """Looking draws no number."""
    states, before = _states(kernel), digests(kernel)
    kernel.run("%seed")
    assert digests(kernel) == before
    assert _states(kernel) == states


@pytest.mark.parametrize("line", ["%seed --help", "%seed each --help", "%deterministic on --help"])
def test_help_as_an_option_prints_help_and_does_nothing(kernel, line):
    """It shows no result, and puts nothing in force."""
    before = digests(kernel)
    reply = kernel.run(line)
    assert reply.stdout.startswith(f"Usage: {line.removesuffix(' --help')} ")
    assert (reply.status, reply.results) == ("ok", [])
    kernel.run("pass", "a cell")
    assert digests(kernel) == before


def test_help_is_help(kernel):
    """``%seed?`` and Shift+Tab explain the words and the options."""
    (page,) = kernel.run("%seed?").pages
    for text in (page, kernel.inspect("%seed")):
        for word in ("4294967295", "each", "new", "off", "--generators"):
            assert word in text


def test_a_stamp_is_one_line_of_seed_states_settings_and_versions(kernel):
    """It suits a paper or a log, and shows a rule for every cell instead of a seed."""
    kernel.run("%seed 42 -q")
    parts = kernel.run("%seed stamp").stdout.rstrip("\n").split("; ")
    assert parts[0] == "seed 42"
    stands = {
        row["name"]: row["digest"]
        for row in json.loads(kernel.run("%rng --json").stdout)["sources"]
    }
    assert parts[1] == ", ".join(f"{name} {digest}" for name, digest in stands.items())
    assert "num_threads" in parts[2]
    assert parts[3].startswith("torch 2.")
    assert len(parts) == 5
    kernel.run("%seed each 7 -q")
    assert kernel.run("%seed stamp").stdout.startswith("each cell seeded from 7; python ")
    kernel.run("%seed off -q")


def test_each_rank_gets_a_seed_of_its_own(kernel):
    """It is derived from the seed and the rank, and the output says so."""
    of_rank = seed_by_rank(42, 3)
    kernel.run("import os; os.environ['RANK'] = '3'")
    told = kernel.run("%seed 42 --by-rank").stdout
    kernel.run("del os.environ['RANK']")
    assert f"with {of_rank}." in told
    assert told.endswith("The seed is derived from 42 and rank 3.\n")
    assert kernel.run("torch.initial_seed()").shown == str(of_rank)
    told = kernel.run("%seed 42 --by-rank").stdout
    assert told.endswith("The seed is derived from 42 and rank 0, as this process has none.\n")


def test_each_rank_saves_states_of_its_own(tmp_path):
    """Ranks that save under one name keep both states."""
    path = {"JPY_SESSION_NAME": str(tmp_path / "book.ipynb")}
    draw = "random.random()"
    with Kernel(tmp_path, RANK="0", **path) as one, Kernel(tmp_path, RANK="1", **path) as two:
        expected = []
        for number, kernel in enumerate((one, two)):
            kernel.run("%load_ext ipytorchseed\nimport random")
            kernel.run(f"random.seed({number})")
            kernel.run("%seed save begun")
            expected.append(kernel.run(draw).shown)
        for kernel, shown in zip((one, two), expected, strict=True):
            kernel.run("%seed restore begun")
            assert kernel.run(draw).shown == shown


@pytest.mark.usefixtures("generators")
def test_a_name_that_is_bound_to_a_generator_of_another_kind_is_not_here(kernel):
    """Its state does not fit; everything else is restored."""
    kernel.run("%seed save before")
    kept = digests(kernel)
    kernel.run(f"g, rng = np.random.default_rng(1), random.Random(1)\n{DRAW}")
    other = kernel.value("rng.getstate()[1][:3]")
    told = kernel.run("%seed restore before").stdout
    assert "Not here now: g, rng" in " ".join(told.split())
    assert digests(kernel) == kept
    assert kernel.value("rng.getstate()[1][:3]") == other
    kernel.run("%seed restore before")


def test_what_code_seeded_is_not_called_unseeded(new_kernel):
    """The status does not contradict a source with a known seed."""
    new_kernel.run("%load_ext ipytorchseed\nimport random\nrandom.seed(3)")
    shown = new_kernel.run("%seed").displays[-1]["text/plain"]
    assert shown.startswith("No %seed yet. Seeded by code: python.")

"""No text makes one of our patterns take quadratic time."""

from __future__ import annotations

import ast
import gc
import importlib
import re
import signal
import time
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

import ipytorchseed
from ipytorchseed.determinism.alerts import ADVICE
from ipytorchseed.session import noise

pytestmark = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="has no limit of time")

parser = importlib.import_module("re._parser" if hasattr(re, "_parser") else "sre_parse")

# --------------------------------------------------------------------------------------------------
# Every pattern of the package, and how it is used

COMPILES = {"lazy_pattern", "re.compile"}
ANCHORED = {"match", "fullmatch"}
SCANS = {"search", "sub", "subn", "split", "findall", "finditer"}

# Patterns that are not literals where they are compiled, by their expressions.
MADE_AT_RUN_TIME = {
    "text": [*noise._READINGS, *(text for text, *_ in noise._CHANGES_EACH_RUN)],
    "kernel": [*ADVICE],
    "'|'.join(map(re.escape, longest))": ["id-1|id-2"],
}


def sources():
    """Return the texts of the package's modules by name, without importing them."""
    package = Path(ipytorchseed.__file__).parent
    texts = {}
    for path in sorted(package.rglob("*.py")):
        words = path.relative_to(package.parent).with_suffix("").parts
        texts[".".join(words).removesuffix(".__init__")] = path.read_text("utf-8")
    del texts["ipytorchseed.patterns"]  # which compiles what others write
    return texts


SOURCES = sources()

# The modules that have patterns. Each is parsed when its test runs, not as tests are collected.
NAMES = [name for name, text in SOURCES.items() if re.search(r"\blazy_pattern\(|\bre\.\w+\(", text)]


def texts_of(expression, namespace):
    """Return the texts that a pattern's expression may have.

    What is escaped is ``name``.
    """

    class Fill(ast.NodeTransformer):
        def visit_FormattedValue(self, node):
            try:
                return ast.Constant(str(value_of(node.value, namespace)))
            except NameError:
                return ast.Constant("name")

        def visit_Call(self, node):
            return ast.Constant("name") if ast.unparse(node.func) == "re.escape" else node

    filled = Fill().visit(ast.parse(ast.unparse(expression), mode="eval").body)
    try:
        return [value_of(filled, namespace)]
    except (NameError, AttributeError):
        return MADE_AT_RUN_TIME[ast.unparse(expression)]


def value_of(expression, namespace):
    """Evaluate an expression as the module would."""
    code = ast.fix_missing_locations(ast.Expression(expression))
    return eval(compile(code, "", "eval"), dict(namespace))  # noqa: S307 -- ours


@cache
def parsed(name):
    """Return a module's tree."""
    return ast.parse(SOURCES[name])


@cache
def uses(*names):
    """Return the methods of each name that holds a pattern, in some modules.

    It scans if in doubt.
    """
    found = defaultdict(set)
    for tree in map(parsed, names):
        nodes = [*ast.walk(tree)]
        bases = {node.value: node.attr for node in nodes if isinstance(node, ast.Attribute)}
        for node in nodes:
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                found[node.id].add(bases.get(node, "sub"))
    return found


def patterns(name):
    """Return each pattern of a module with the method that is used.

    ``(place, text, flags, method)``.
    """
    namespace, here = vars(importlib.import_module(name)), uses(name)
    nodes = [*ast.walk(parsed(name))]
    above = {kid: node for node in nodes for kid in ast.iter_child_nodes(node)}
    for call in (node for node in nodes if isinstance(node, ast.Call)):
        called = ast.unparse(call.func)
        method = called.removeprefix("re.")
        if called in COMPILES:
            parent = above[call]
            methods = {"sub"}
            if isinstance(parent, ast.Attribute):
                methods = {parent.attr}
            elif isinstance(parent, ast.Assign) and isinstance(parent.targets[0], ast.Name):
                target = parent.targets[0].id
                methods = here[target] or uses(*SOURCES)[target]
        elif called.startswith("re.") and method in ANCHORED | SCANS:
            methods = {method}
        else:
            continue
        told = {each.arg: each.value for each in call.keywords}
        flags = told.get("flags") or (
            call.args[1] if called in COMPILES and call.args[1:] else None
        )
        number = 0 if flags is None else value_of(flags, namespace)
        scans = methods & SCANS
        for text in texts_of(call.args[0], namespace):
            for each in {"sub"} if scans or not methods & ANCHORED else methods & ANCHORED:
                yield f"{name}:{call.lineno}", text, int(number), each


# --------------------------------------------------------------------------------------------------
# The worst texts

# Long runs of each class of characters.
CLASSES = [" ", "\t", "\n", "7", "a", "_", ".", "[", "(", "'", '"', "\\", "\x1b[1m"]

# Runs of two alternating characters, and of other marks.
MIXED = [
    " \t", " \n", "\n\t", "a ", "a.", "a_", "a7", "7 ", "7.", "7,", "a\n", "a'", "'a\"", "[(", '\\"', "\x1b[1ma",
    "\r", "é", "=", "/", "-", "<", ":", "%", "!", "/a", "<a>", "a=", "a(",
]  # fmt: skip


def examples(pattern):
    """Return texts that a pattern accepts, one for each way through its branches."""
    found = [""]
    for kind, held in pattern:
        found = [begin + each for begin in found for each in item(str(kind), held)][:8]
    return found


def item(kind, held):  # noqa: PLR0911 -- one for each kind of node
    """Return the texts that a node of a parsed pattern takes."""
    if kind == "LITERAL":
        return [chr(held)]
    if kind in ("ANY", "NOT_LITERAL"):
        return ["a"]
    if kind == "IN":
        return [next((each for each in CANDIDATES if is_in(held, each)), "a")]
    if kind == "BRANCH":
        return [text for branch in held[1] for text in examples(branch)][:12]
    if kind in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
        low, high, inner = held
        times = max(1, low) if high else 0
        return [each * times for each in examples(inner)]
    if kind == "SUBPATTERN":
        return examples(held[-1])
    if kind == "ATOMIC_GROUP":
        return examples(held)
    if kind == "GROUPREF":
        return ["a"]
    return [""]


CANDIDATES = "a7 _.\t\n-=:/'\"[(\\%!x,<"


def is_in(held, letter):
    """Return whether a character is in a set of a parsed pattern."""
    found = negated = False
    for kind, value in held:
        name = str(kind)
        if name == "NEGATE":
            negated = True
        elif name == "LITERAL":
            found |= value == ord(letter)
        elif name == "RANGE":
            found |= value[0] <= ord(letter) <= value[1]
        else:
            word = {"DIGIT": r"\d", "SPACE": r"\s", "WORD": r"\w"}
            at = str(value).removeprefix("CATEGORY_").removeprefix("NOT_")
            found |= bool(re.match(word[at], letter)) != ("NOT_" in str(value))
    return found != negated


def nodes(pattern, begin=""):
    """Yield each node of a pattern.

    What the pattern takes before it, its kind, and what it holds.
    """
    for kind, held in pattern:
        name = str(kind)
        yield begin, name, held
        if name == "BRANCH":
            for each in held[1]:
                yield from nodes(each, begin)
        elif name in REPEATS or name == "SUBPATTERN":
            yield from nodes(held[-1], begin)
        elif name == "ATOMIC_GROUP":
            yield from nodes(held, begin)
        begin += item(name, held)[0]


REPEATS = {"MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"}


def pumped(held):
    """Return what a repeat takes: its examples, and each character that its set has."""
    _, high, inner = held
    if high < 9:
        return []
    (kind, told), *more = inner
    if more or str(kind) not in ("IN", "ANY", "NOT_LITERAL"):
        return examples(inner)
    if str(kind) == "IN":
        return [each for each in CANDIDATES if is_in(told, each)]
    return [each for each in CANDIDATES if str(kind) == "ANY" or told != ord(each)]


def worst(begin, unit, size):
    """Return a long run of a unit, and a character that hardly any pattern takes."""
    return f"{begin}{(unit * size)[:size]}\0"


def worst_texts(text, flags):
    """Return the beginnings and the repeated units of the texts that may take longest."""
    found = dict.fromkeys(("", each) for each in (*CLASSES, *MIXED))
    begins = {}
    for begin, name, held in nodes(parser.parse(text, flags)):
        begins[begin] = None
        for taken in item(name, held):
            for before in ("", " ", "\n"):
                found["", f"{before}{begin}{taken}"] = None
        for pump in pumped(held) if name in REPEATS else ():
            found |= dict.fromkeys([(begin, pump), ("", begin + pump), (f"{begin}{pump}", "\n")])
    found |= {(begin, each): None for begin in [*begins][:6] for each in CLASSES}
    return [(begin, unit) for begin, unit in found if unit]


# --------------------------------------------------------------------------------------------------
# How time grows

# The length of a text that repeats one character.
SIZE = 2_000

# Seconds of processor time that are too short for ``SIZE`` squared steps.
QUICK = 0.0015

# The ratio of times for a text four times as long: between 4, for linear time, and 16.
SQUARE = 9

# The number of measurements of slow patterns: other processes disturb single ones.
TRIES = 4

# Seconds of processor time so long that a disturbance hardly changes them: measured once.
LONG = 0.02

# Seconds of processor time after which a single text has taken too long.
LIMIT = 1


def seconds(use, text):
    """Return the processor time that a pattern takes for a text."""
    begin = time.process_time()
    use(text)
    return time.process_time() - begin


def least_seconds(use, text):
    """Return the shortest of up to three times for a text."""
    least = seconds(use, text)
    for _ in range(2):
        if least < LONG:
            least = min(least, seconds(use, text))
    return least


def size_for(unit):
    """Return the size of a text.

    Longer units stand fewer times in it, and take more of it.
    """
    return int(SIZE * len(unit) ** 0.5)


def is_slow(use, begin, unit):
    """Return whether the time for a text grows faster than its length."""

    def grows(size):
        short, long = (worst(begin, unit, each) for each in (size, 4 * size))
        return least_seconds(use, long) > SQUARE * least_seconds(use, short)

    gc.disable()
    try:
        size = size_for(unit)
        return all(grows(each) for each in (size // 4, size // 2) for _ in range(TRIES))
    finally:
        gc.enable()


def slow_text(text, flags, method):
    """Return a text for which a pattern takes more than linear time.

    None if none was found.
    """
    pattern = re.compile(text, flags)
    use = {"sub": lambda given: pattern.sub("", given)}.get(method) or getattr(pattern, method)
    for begin, unit in worst_texts(text, flags):
        signal.setitimer(signal.ITIMER_PROF, LIMIT)
        try:
            if seconds(use, worst(begin, unit, size_for(unit))) > QUICK and is_slow(
                use, begin, unit
            ):
                return f"{begin!r} + n * {unit!r}"
        except TimeoutError:
            return f"{begin!r} + n * {unit!r}"
    return None


@pytest.fixture
def limited():
    """Raise TimeoutError where a text takes ``LIMIT`` seconds of processor time."""

    def stop(*_):
        raise TimeoutError

    before = signal.signal(signal.SIGPROF, stop)
    yield
    signal.setitimer(signal.ITIMER_PROF, 0)
    signal.signal(signal.SIGPROF, before)


@pytest.mark.parametrize("name", NAMES)
def test_the_worst_text_takes_time_in_proportion_to_its_length(limited, name):
    """Repetitions in cells, files or libraries, with what a pattern needs before them."""
    found = [*patterns(name)]
    slow = {
        f"{place} {text}": text_of_it
        for place, text, flags, method in found
        if (text_of_it := slow_text(text, flags, method))
    }
    assert found
    assert not slow


# Patterns that were in the package, and one of exponential time.
QUADRATIC = [
    (r"[ \t]+$", re.MULTILINE, "sub"),
    (r"(a+)+\Z", 0, "match"),
    (r"^\s*(?:[!%]|pip)", re.MULTILINE, "search"),
    (r"%%(?P<name>\S+)[ \t]*(?P<line>.*?)[ \t]*\r?\n?\Z", 0, "match"),
    (r"\[\d+:\d\d(?::\d\d)?(?:<[^,\]]*)?,\s*[^,\]]*(?:/s|s/\w+)", 0, "sub"),
    (r"^.* ± .* per loop \(mean ± .*", re.MULTILINE, "sub"),
    (r"\btablesample\b(?!.*\brepeatable\b)", re.DOTALL, "sub"),
]


@pytest.mark.parametrize(
    ("text", "flags", "method"), QUADRATIC, ids=[each for each, *_ in QUADRATIC]
)
def test_a_pattern_of_quadratic_time_would_be_found(limited, text, flags, method):
    """Its worst text is made of the pattern itself."""
    assert slow_text(text, flags, method)


def test_every_way_to_make_a_pattern_is_looked_at():
    """Those compiled at first use, those compiled at once, and those of a single call."""
    found = {name: [*patterns(name)] for name in NAMES}
    assert {"ipytorchseed.checking.grading", "ipytorchseed.session.noise"} <= found.keys()
    assert {"ipytorchseed.reads.shell", "ipytorchseed.why.finders.names"} <= found.keys()
    texts = [text for each in found.values() for _, text, *_ in each]
    assert any("name" in text for text in texts)  # which represents a name of the user's
    assert len(texts) > 200

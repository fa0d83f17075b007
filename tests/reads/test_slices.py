"""What results of a cell hang on, by its text: too much rather than too little."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from ipytorchseed.reads.inside import look_inside
from ipytorchseed.reads.slices import OUTPUT, RESULT, Known, find_slice
from tests.limits import LimitedCalls

KNOWN = Known(
    plain={"a", "b", "c", "d", "n", "x", "y", "z", "rng"},
    holders={"c"},
    objects={"clf", "net", "opt"},
    others={"f", "Model", "model"},
)

APART = {
    "sums": "x = a.sum()\ny = b.sum()",
    "a loop": "y = []\nfor n in range(3): y.append(n * b)\nx = a * 2",
    "functions of numpy's": "x = np.sqrt(a)\ny = np.asarray(b)",
    "functions of torch's": "x = torch.tensor(a)\ny = torch.stack([b, b])",
    "columns": "x = a[['u', 'v']]\ny = a['w'] * b",
    "a method that has inplace": "x = a.dropna()\ny = b.fillna(0).set_index('u')",
    "what is printed": "x = a.sum()\nprint(b)",
    "what is shown": "x = a.sum()\nb.head()",
    "an import": "import numpy as np\nx = np.abs(a)\ny = np.abs(b)",
    "an import after": "x = a + 1\nimport numpy\ny = numpy.abs(b)",
    "a comprehension": "y = [n for n in b]\nx = [n for n in a]",
    "a library's function after": "x = a * 2\ny = train_test_split(b)",
    "draws after": "x = a * 2\ny = b + np.random.rand()",
    "a function that is not called": "x = a * 2\ndef g(): return b",
    "a copy": "y = b.copy()\ny[0] = 1\nx = a + 1",
    "a plot": "plt.plot(b)\nplt.title(d)\nx = a.sum()\nplt.show()",
    "an estimator": "clf.fit(a, c)\nx = clf.score(a, c)\ny = b * 2",
    "a training": "for n in range(3):\n    x = net(a).sum()\n    x.backward()\n    opt.step()\ny = b * 2",
    "a gradient": "x = (a * c).sum()\nx.backward()\ny = b * 2",
    "a condition": "if b > 1:\n    y = 1\nx = a + 1",
}
"""Cells in which ``x`` hangs on ``a`` and not on ``b``."""

TOGETHER = {
    "at once": "x = a + b",
    "by a step": "y = b * 2\nx = a + y",
    "by a condition": "x = 0\nif b > 1:\n    x = a",
    "by a loop": "x = 0\nfor n in range(b):\n    x += a",
    "by an item": "x = a * 2\nx[0] = b",
    "by a view": "x = a * 1\ny = x[1:]\ny[0] = b",
    "by a view that a function makes": "y = np.asarray(c)\ny[0] = b\nx = a.sum()",
    "by a view of what was there": "a[0] = b\nx = c.sum() + a.sum()",
    "by what may share memory": "c[0] = b\nx = a.sum()",
    "by adding in place": "x = a.copy()\ny = x.T\ny += b",
    "by adding in place to what may share memory": "c += b\nx = a.sum()",
    "by a list": "x = [a]\ny = x\ny.append(b)",
    "by an item of an item": "x = a + [1]\na[0][0] = b",
    "by an item that is a list": "x = a + [1]\na[0].append(b)",
    "by inplace": "x = a * 2\nx.fillna(b, inplace=True)",
    "by out": "x = a * 2\nnp.add(x, b, out=x)",
    "by a method that is not known": "x = a * 2\nx.shuffle(b)",
    "by the state of a library": "np.random.seed(b)\nx = a + np.random.rand()",
    "by a generator": "y = rng.normal(size=b)\nx = a + rng.normal()",
    "by a library's function": "remember(b)\nx = recall(a)",
    "by the user's function": "y = b\nx = f(a)",
    "by the user's function on what it is given": "x = a * 1\nf(x)\ny = x\nmodel.fit(b)",
    "by the user's object": "model.fit(b)\nx = a * 1",
    "by an attribute of a module": "torch.backends.cudnn.benchmark = b\nx = a @ a",
    "by a setting": "torch.set_default_dtype(b)\nx = torch.ones(3) * a",
    "by a function of the cell": "def g(): return b\nx = a + g()",
    "by a lambda": "g = lambda: b\nx = a + g()",
    "by a gradient": "y = (a * b).sum()\ny.backward()\nx = a.grad",
    "by an optimizer": "y = net(a).sum() * b\ny.backward()\nopt.step()\nx = net(a)",
    "by an object made here": "clf = Ridge().fit(a, b)\nx = clf.coef_.sum()",
    "by an object that another holds": "clf.fit(a, b)\nx = net.predict(a)",
    "by an attribute of an object": "clf.alpha = b\nx = clf.fit(a).coef_",
    "by what an object was given": "clf.memory = c\nc[0] = b\nx = clf.fit(a).coef_",
    "by a gradient of another": "y = (a * b).sum()\ny.backward()\nx = c.grad",
    "by a function in a list": "y = b\nx = c[0](a)",
    "by code as text": "y = b\nx = eval('a + y')",
    "by a handler": "try:\n    y = 1 / b\nexcept ZeroDivisionError:\n    x = a",
    "by a walrus": "if (y := b): pass\nx = a + y",
    "by an import of the user's": "y = b\nfrom helpers import *\nx = a",
    "by what is deleted": "y = b\ndel x\nx = a + y",
    "by a name of a loop": "for n in b: pass\nx = a + n",
}
"""Cells in which it may hang on both."""


@pytest.mark.parametrize("source", APART.values(), ids=APART)
def test_apart(source):
    """What acts on another result only is left out."""
    found = find_slice(source, {"x"}, KNOWN)
    assert not found.opaque
    assert "a" in found.names
    assert "b" not in found.names


INSIDE = {
    "by a name in it": ("y = b\nx = f(a)", "y"),
    "by a name that it sets": ("y = b\nf(y)\nx = a + d", "d"),
    "by what it keeps": ("y = a * 1\nf(y)\nmodel.go(b)\nx = y.sum()", "d"),
    "by a name in a method": ("y = b\nx = model.fit(a)", "y"),
    "by a function in a list": ("y = b\nx = c[0](a)", "y"),
}
"""Cells in which ``x`` may hang on ``b``, each with a name that the user's functions name."""


@pytest.mark.parametrize(("source", "name"), INSIDE.values(), ids=INSIDE)
def test_names_in_functions_of_the_users(source, name):
    """They are read, set and kept by whatever runs such a function."""
    found = find_slice(source, {"x"}, replace(KNOWN, inside={name}))
    assert "b" in found.names
    assert not found.opaque


def test_what_no_function_names():
    """It is neither read nor set by one."""
    for source in ("y = b\nx = f(a)", "x = model.fit(a)\ny = b > 3"):
        found = find_slice(source, {"x"}, replace(KNOWN, inside={"d"}))
        assert "b" not in found.names
        assert not found.opaque


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("def g(a): return a + b\nx = g(c)", ("g x", "a b")),
        ("%matplotlib inline\n!ls\nclass A:\n    v = b\nx = lambda: (lambda: c)()", ("A x v", "b c v")),
        ("x = sum(a for a in b)", ("x", "a b")),
        ("x = eval('b')", None),
        ("def g(v): torch.set_default_dtype(v)", None),
        ("def g(v): torch.backends.cudnn.benchmark = v", None),
        ("def g(v): os.environ['A'] = v", None),
        ("def g(ax): ax.set_title(b)", ("g", "ax b")),
        ("def g(): return globals()['b']", None),
        ("x = = 3", None),
    ],
)  # fmt: skip
def test_inside(source, found):
    """What a cell's functions name."""
    looked = look_inside(source)
    assert looked == (found and tuple({*names.split()} for names in found))


@pytest.mark.parametrize("source", TOGETHER.values(), ids=TOGETHER)
def test_together(source):
    """Whatever may act on a result is in."""
    found = find_slice(source, {"x"}, KNOWN)
    assert found is None or "b" in found.names


def test_goals():
    """The last expression, and what is shown, are results as well."""
    source = "print(a)\nb.head()\nc"
    shown = find_slice(source, {OUTPUT}, KNOWN)
    assert {"a", "b", "c"} <= shown.names
    assert find_slice(source, {RESULT}, KNOWN).names == {"c"}
    assert find_slice("a\nx = 1", {RESULT}, KNOWN) is None
    assert find_slice("y = a\nplt.plot(b)", {OUTPUT}, KNOWN).statements == ("plt.plot(b)",)


@pytest.mark.parametrize(
    "source",
    ["y = a", "%matplotlib inline\nx = a", "def g():\n    global x\n    x = a\ng()",
     "x = await a", "match a:\n    case 1: x = b", "", f"x = a{' + a' * 20_000}"],
    ids=lambda each: each[:9],
)  # fmt: skip
def test_nothing_is_said(source):
    """Where the text does not tell what sets a result."""
    assert find_slice(source, {"x"}, KNOWN) is None


@pytest.mark.parametrize(
    ("source", "quiet"),
    [("x = a.sum()", True), ("x = np.abs(a)\ny = np.random.rand()", True),
     ("x = a + np.random.rand()", False), ("x = torch.randn(3)", False), ("x = f(a)", False),
     ("x = a.sample(3)", False), ("x = rng.normal()", False), ("x = pd.read_csv(a)", False)],
)  # fmt: skip
def test_quiet(source, quiet):
    """Whether it hangs on what is drawn or read elsewhere."""
    assert find_slice(source, {"x"}, KNOWN).quiet == quiet


def test_statements():
    """They tell two cells apart in what acts on a result, and in nothing else."""
    first = find_slice("x = a + 1 # one\ny = 1", {"x"}, KNOWN)
    same = find_slice("y = 2\nx = (a + 1)", {"x"}, KNOWN)
    other = find_slice("x = a + 2\ny = 1", {"x"}, KNOWN)
    assert first.statements == same.statements != other.statements


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("y = a * 2\nx = y + 1", "z = a * 2\nx = z + 1", True),
        ("for n in a: y = n\nx = y", "for i in a: z = i\nx = z", True),
        ("y = a * 2\nx = y + b", "z = a * 2\nx = b + z", False),
        ("x = y + 1", "x = z + 1", False),  # from before the cell
        ("y = a\nx = f(a)", "z = a\nx = f(a)", False),  # the function may look it up
        ("y = 1\nz = 2\nx = y - z", "z = 1\ny = 2\nx = y - z", False),
        ("y = 1\nz = 2\nx = y - z", "z = 1\ny = 2\nx = z - y", True),
        ("y = a\nx = f'{y=}'", "z = a\nx = f'{z=}'", False),
        ("import math as y\nx = y.pi", "import math as z\nx = z.pi", False),
    ],
)
def test_names_of_steps(one, other, same):
    """How variables on the way are called does not matter, but to functions that look them up."""
    known = replace(KNOWN, inside={"y"})
    if "f(" not in one:
        known = replace(known, inside=set())
    texts = [find_slice(source, {"x"}, known).statements for source in (one, other)]
    assert (texts[0] == texts[1]) is same


STATEMENTS = """
{p} = {q}|{p} = {q} + {r}|{p} = {q} * 2|{p} = [{q}, {r}]|{p} = {q}[0]|{p} = {q}[1:]|{p}[0] = {q}
{p}[:] = {q}|{p} += {q}|{p} = {q}.copy()|{p} = list({q})|{p} = np.asarray({q})|{p} = np.ravel({q})
{p} = {q}.T|{p} = {q}.reshape(-1)|{p}.append({q})|{p}.extend(list({q}))|{p}.sort()|{p}.reverse()
{p} = [{r} for {r} in {q}]|{p}, {q} = {q}, {r}|np.copyto({p}, {q})|np.add({p}, {q}, out={r})
{p}.fill({q}[0])|del {p}[0]|{p} = {{'k': {q}}}|{p}['k'] = {q}|{p} = {q}['k']|{p} = sum({q})
for {p} in {q}: {r} = {p}|for {p} in list({q}): {r}.append({p})|for {p} in {q}: {p}[0] = {r}[0]
if {q}[0] > 1: {p} = {r}|while len({p}) < 6: {p}.append({q})|{p} = ({r} := {q})|{p}.insert(0, {q})
{p} = {q} if {r}[0] > 1 else {r}|{p} = max({q}, {r}, key=len)|{p} = len({q})|{p} = {q}.pop()
try: {p} = {q} / {r}\nexcept Exception: {p} = {r}|{p} = lambda: {q}|{p} = {q}()|{p}[0][0] = {q}
def {p}(): return {q}|np.random.seed(len({q}))|{p} = {q}[0] + np.random.rand()|{p}[0].append({q})
{p} = dict(k={q})|{p} = next(iter({q}))|{p} = iter({q})|{p} = next({q})|{p} = zip({q}, {r})
"""
TEMPLATES = [
    each.replace("\\n", "\n") for line in STATEMENTS.strip().split("\n") for each in line.split("|")
]
KINDS = (np.ndarray, np.generic, list, dict, tuple, int, float)
NAMES = st.sampled_from(["a", "b", "c", "x", "y"])
CELLS = st.lists(
    st.builds(
        lambda template, p, q, r: template.format(p=p, q=q, r=r),
        st.sampled_from(TEMPLATES), NAMES, NAMES, NAMES,
    ),
    min_size=2,
    max_size=6,
)  # fmt: skip


MOST_ITEMS = 10_000
"""Items of all values of a program: beyond that, or where a list holds itself, it is given up."""


class TooLargeError(Exception):
    """The values of a program have more than ``MOST_ITEMS`` items."""


def check_size(names):
    """Raise an error where values hold too many items, each counted as often as it is met."""
    left, count = [*names], 0
    while left:
        value = left.pop()
        if isinstance(value, dict):
            value = [*value.values()]
        elif isinstance(value, np.ndarray):
            value = value.ravel().tolist()
        count += len(value) if isinstance(value, (list, tuple, str)) else 1
        if count > MOST_ITEMS:
            raise TooLargeError
        if isinstance(value, (list, tuple)):
            left.extend(value)


def play(statements, value):
    """Run a cell over variables that share memory; return what each name holds."""
    shared = np.arange(4.0)
    names = {"np": np, "a": shared, "b": value, "c": [shared[1:], [1.0, 2.0]], "y": [3.0, 4.0]}
    np.random.seed(0)
    for statement in statements:
        exec(statement, names)  # noqa: S102
        held = {name: names[name] for name in "abcxy" if name in names}
        check_size(held.values())
    return held


def is_flat(value):
    """Return whether a value holds numbers alone."""
    if isinstance(value, list):
        return all(isinstance(each, (int, float)) for each in value)
    return not isinstance(value, (dict, tuple))


def observe(statements, kind):
    """Run a cell with two values of ``b``.

    Returns:
        What each name holds after either run, as text; the names of plain values, of those that
        hold others, and of the rest. None where the cell makes no sense.
    """
    first, second = {
        "array": (np.arange(4.0), np.arange(4.0) * 7 + 2),
        "list": ([1.0, 2.0], [5.0, 0.5]),
        "longer": ([1.0, 2.0], [1.0, 2.0, 3.0]),
    }[kind]
    try:
        then, now = play(statements, first), play(statements, second)
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001 -- many make no sense
        return None
    shown = [{n: repr(each) for n, each in held.items()} for held in (then, now)]
    plain = {n for n in then if all(isinstance(held.get(n), KINDS) for held in (then, now))}
    holders = {"b", "c"} - ({"b"} if kind == "array" else set())
    holders |= {n for n in plain if not all(is_flat(held[n]) for held in (then, now))}
    return shown, plain, holders, {*then} - plain


@pytest.fixture(scope="module")
def observed():
    """Run cells in a process with limits."""
    with LimitedCalls(observe) as calls:
        yield calls


@given(statements=CELLS, kind=st.sampled_from(["array", "list", "longer"]))
@settings(max_examples=300, deadline=None)
def test_what_is_left_out_never_acts(observed, statements, kind):
    """Run cells with two values of a variable: where results differ, it is in their slices."""
    seen = observed(statements, kind)
    if seen is None:
        return
    shown, plain, holders, others = seen
    looked = look_inside("\n".join(statements))
    known = Known(plain, holders, set(), others, looked and looked[1])
    for name in plain - {"b"}:
        if shown[0][name] != shown[1][name] and " at 0x" not in shown[0][name]:
            found = find_slice("\n".join(statements), {name}, known)
            assert found is None or found.opaque or "b" in found.names


def test_no_program_grows_without_bound(observed):
    """A list that holds itself is as deep as numpy goes: such a program is given up before."""
    holding = ["a = [b, b]", "a[0] = a", "a[1] = a"]
    assert observed([*holding, "x = np.asarray(a)"], "list") is None
    assert observed(["a = b", *["a = a + a"] * 40], "list") is None

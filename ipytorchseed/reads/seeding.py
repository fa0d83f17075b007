"""Which sources a cell seeds, or draws from before it does, from its text alone."""

from __future__ import annotations

import ast
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import chain, zip_longest

from ipytorchseed.introspection import values as introspection
from ipytorchseed.patterns import lazy_pattern
from ipytorchseed.reads.magics import parse_beside_magics
from ipytorchseed.reads.parsing import base_of, dotted_name, nodes_in, parse_text

_SEEDS = lazy_pattern(r"(.*_)?seed(_.*)?|set_?(rng_)?state")
"""The last parts of names of functions that seed, or set a state."""

_SETS_STATE = lazy_pattern(r"(?<!ipytorch)seed|set_?(rng_)?state|bit_generator")
"""What they have in them, or those of what else puts a source elsewhere than draws do."""

_LIBRARIES = {"np": "numpy", "numpy": "numpy", "random": "python", "torch": "torch"}
"""By the first part of a name, the library whose sources it is about."""

_LOOKS = frozenset({"getattr", "hasattr", "id", "isinstance", "len", "print", "repr", "type"})
"""Functions that draw from nothing that they are given."""

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)

_DRAWS = frozenset(
    {"rand", "randn", "randint", "randperm", "random", "dropout", "dropout1d", "dropout2d"}
    | {"dropout3d", "bernoulli", "multinomial", "normal", "uniform", "poisson", "exponential"}
    | {"geometric", "cauchy", "gumbel", "sample", "rsample", "shuffle", "binomial", "rrelu"}
    | {"orthogonal", "sparse", "permutation", "compile"}
)
"""Words in the last parts of names of torch's functions and methods that draw."""

_DRAW_TOO = ("reset_parameters", "scaled_dot_product_attention")


def may_set_state(source: str, name: str) -> bool:
    """Return whether a cell may put a source elsewhere than draws do: not only another library's.

    To import or define a function that does so is not enough, if the cell does not use it.

    Args:
        source: The cell's text.
        name: The source, or generator.
    """
    magics = [line for line in source.splitlines() if line.lstrip()[:1] == "%"]
    if any(map(_SETS_STATE.search, magics)):
        return True
    nodes = _without_idle(parse_beside_magics(source))
    used = _used(nodes)
    paths = [path for node in nodes for path in _names(node, used)]
    library = name.partition(".")[0]
    return any(
        _LIBRARIES.get(path.partition(".")[0], library) == library
        for path in paths
        if _SETS_STATE.search(path.rpartition(".")[2])
    )


_SETTERS = {
    "np.random.set_state": "numpy",
    "numpy.random.set_state": "numpy",
    "random.setstate": "python",
    "torch.random.set_rng_state": "torch.cpu",
    "torch.set_rng_state": "torch.cpu",
}
"""The sources that functions put in a state that they are given."""


def sets_state(source: str, name: str) -> bool:
    """Return whether a statement of a cell certainly restores a saved state of a source."""
    tree = parse_text(source)
    calls = (getattr(each, "value", None) for each in (tree.body if tree is not None else ()))
    return any(
        isinstance(each, ast.Call) and _SETTERS.get(dotted_name(each.func)) == name
        for each in calls
    )


_MADE = frozenset({
    "MT19937", "PCG64", "PCG64DXSM", "Philox", "Random", "RandomState", "SFC64", "default_rng",
})  # fmt: skip
"""What makes a generator, from entropy where it is given no seed."""


def as_if_seeded(statement: ast.stmt, following: ast.stmt | None) -> ast.stmt:
    """Return ``rng = default_rng()`` with a seed, where the next statement sets its state."""
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return statement
    made, name = statement.value, dotted_name(statement.targets[0])
    if not isinstance(made, ast.Call) or made.args or made.keywords or not name:
        return statement
    if dotted_name(made.func).rpartition(".")[2] not in _MADE:
        return statement
    called = following.value if isinstance(following, ast.Expr) else None
    if isinstance(called, ast.Call) and called.args:
        path = dotted_name(called.func)
        known = path in {f"{name}.{each}" for each in ("seed", "set_state", "setstate")}
    else:
        target = following.targets[0] if isinstance(following, ast.Assign) else following
        known = dotted_name(target or made) in {f"{name}.bit_generator.state", f"{name}.state"}
    seeded = ast.Call(made.func, [ast.Constant(0)], [])
    return (
        ast.copy_location(ast.Assign(statement.targets, seeded), statement) if known else statement
    )


def made_in_a_state(source: str) -> set[str]:
    """Return numpy's functions by which a cell makes generators whose states it sets at once."""
    tree = parse_text(source)
    if tree is None:
        return set()
    pairs = zip_longest(tree.body, tree.body[1:])
    return {
        f"numpy.random.{dotted_name(statement.value.func).rpartition('.')[2]}"
        for statement, following in pairs
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Call)
        if as_if_seeded(statement, following) is not statement
    }


def _without_idle(tree: ast.Module) -> list[ast.AST]:
    """Return the nodes of a cell but for functions that it defines and does not use itself."""
    used = _used(nodes_in(tree))
    idle = {
        id(node)
        for each in tree.body
        if isinstance(each, _FUNCTIONS) and each.name not in used and not each.decorator_list
        for node in nodes_in(each)
    }
    return [node for node in nodes_in(tree) if id(node) not in idle]


def _used(nodes: Iterable[ast.AST]) -> set[str]:
    return {node.id for node in nodes if isinstance(node, ast.Name)}


def _names(node: ast.AST, used: Collection[str]) -> list[str]:
    """Return the dotted names by which a node comes by a function: not those of numbers.

    Args:
        node: The node.
        used: The names that the cell uses: an import of others does nothing.
    """
    if isinstance(node, ast.Attribute):
        return [dotted_name(node) or node.attr]
    if isinstance(node, ast.ImportFrom):
        names = [each.name for each in node.names if (each.asname or each.name) in used]
        return [f"{node.module}.{each}" for each in names]
    called = node.func if isinstance(node, ast.Call) else None
    return [called.id] if isinstance(called, ast.Name) else []


def drawn_before_seeding(
    source: str, classes: Collection[str], helpers: Iterable[str] = ()
) -> set[str]:
    """Find the sources that a cell may draw from before the first statement that seeds any.

    Args:
        source: The cell's text.
        classes: Classes of the user's, whose objects may be models.
        helpers: Texts of the cells that defined the functions that it calls.

    Returns:
        Names of sources; none where no statement seeds.
    """
    tree = parse_text(source)
    if tree is None:
        return set()
    trees = [*filter(None, map(parse_text, helpers)), tree]
    functions = {
        each.name: each.body for part in trees for each in part.body if isinstance(each, _FUNCTIONS)
    }
    found = set[str]()
    for path in _calls(tree.body, functions):
        last = path.rpartition(".")[2]
        if _SEEDS.fullmatch(last):
            return found
        if path.startswith("random."):
            found.add("python")
        elif ".random." in path:
            found.add("numpy")
        elif path in classes or _may_draw(last):
            found.add("torch.cpu")
    return set()


def _may_draw(name: str) -> bool:
    """Return whether a function with this as the last part of its name may draw from torch."""
    if name[:1].isupper():  # a layer draws its first weights
        layers = introspection.module_names(sys.modules.get("torch.nn"))
        return not name.endswith("Loss") and introspection.is_class(layers.get(name))
    return not _DRAWS.isdisjoint(name.split("_")) or any(part in name for part in _DRAW_TOO)


def draws_before_it_sets(source: str, name: str) -> bool:
    """Return whether a cell may draw from a generator before the statement that seeds or sets it.

    Args:
        source: The cell's text.
        name: The generator, by the variable from which it is reached: ``g``, ``data.rng``.

    Returns:
        False where no statement of the cell itself does either.
    """
    tree = parse_text(source)
    if tree is None:
        return False
    root, drew = name.partition(".")[0], False
    for node in _in_order(tree.body):
        if isinstance(node, ast.Call):
            path = dotted_name(node.func)
            first, _, last = path.partition(".")
            if first == root and _SETS_STATE.search(last):
                return drew
            given = [*node.args, *(each.value for each in node.keywords)]
            drew |= first == root or (
                path not in _LOOKS and any(base_of(each) == {root} for each in given)
            )
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                path = dotted_name(target)
                if path == root or (base_of(target) == {root} and _SETS_STATE.search(path)):
                    return drew
    return False


def _in_order(statements: list[ast.stmt]) -> Iterator[ast.AST]:
    """Yield calls and assignments in the order in which they come about, each once."""
    for node in statements:
        if not isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            yield from _after_its_parts(node)


def _after_its_parts(node: ast.AST) -> Iterator[ast.AST]:
    for each in ast.iter_child_nodes(node):
        yield from _after_its_parts(each)
    if isinstance(node, (ast.Call, ast.Assign)):
        yield node


def _calls(statements: list[ast.stmt], functions: Mapping[str, list[ast.stmt]]) -> Iterator[str]:
    """Yield the dotted names that statements call, in their order.

    Args:
        statements: The statements. Those of functions that they define are left out.
        functions: Bodies of functions, which stand in place of the first calls of them.
    """
    rest = dict(functions)
    for each in statements:
        if isinstance(each, (*_FUNCTIONS, ast.ClassDef)):
            continue
        blocks = [getattr(each, field, []) for field in ("body", "orelse", "finalbody")]
        inner = [part for block in blocks for part in block]
        heads = [head for head in ast.iter_child_nodes(each) if head not in inner]
        for path in chain.from_iterable(map(_called, heads)):
            body = rest.pop(path, None)
            yield from (path,) if body is None else _calls(body, rest)
        yield from _calls(inner, rest)


def _called(node: ast.AST) -> Iterator[str]:
    """Yield the dotted names that an expression calls: those of arguments come before."""
    parts = _after_its_parts(node)
    return (dotted_name(each.func) for each in parts if isinstance(each, ast.Call))

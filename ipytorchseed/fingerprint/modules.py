"""Fingerprints of ``torch.nn.Module``.

They cover parameters, buffers, train or eval mode, hooks and plain attributes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Generator, Mapping
from operator import itemgetter
from typing import Any

from msgspec import Struct, field
from xxhash import xxh3_64_hexdigest

from ipytorchseed.fingerprint.elements import contents, dtype_of
from ipytorchseed.fingerprint.native import is_tensor_type, native
from ipytorchseed.fingerprint.objects import inner_parts
from ipytorchseed.fingerprint.scalars import count, join, name_bytes
from ipytorchseed.fingerprint.tensors import other_parts, shape_of
from ipytorchseed.fingerprint.walk import Bytes, Draft, Tokens, Walk, Writing, digest_of
from ipytorchseed.introspection.anatomy import Anatomy, anatomy, dictionary_of, module_of_class

# Up to this many parameters are listed one by one; more are one part. The same for buffers.
NAMED = 64

# The suffix of the names of dictionaries with hooks. Their keys are not content, because torch
# numbers the hooks of the process.
HOOKS = "_hooks"

# Attributes that are written separately, lists of them in recurrent layers, and options of hooks.
_TREE = frozenset({
    "_buffers", "_flat_weight_refs", "_flat_weights", "_forward_hooks_always_called",
    "_forward_hooks_with_kwargs", "_forward_pre_hooks_with_kwargs", "_modules",
    "_non_persistent_buffers_set", "_parameters", "training",
})  # fmt: skip

_UNSET = frozenset({"_compiled_call_impl", "_is_full_backward_hook"})

# Attributes of layers that only affect training, by the submodule of ``torch.nn.modules``.
_RATES = {"dropout": "p", "batchnorm": "momentum", "instancenorm": "momentum"}

# Parts that are one digest of all their tokens.
_WHOLE = ("grad", "hooks", "inside", "rates", "unsaved")

_MODES = {frozenset({b"1"}): "train", frozenset({b"0"}): "eval"}


Named = list[tuple[str, Any]]


class _Seen(Struct):
    """The data collected from a module and its submodules.

    Attributes:
        told: All content, as named tokens. The keys are names of parts, or letters for parts such
            as ``p:weight``.
        dtypes: The dtypes of all parameters and buffers.
        own: The plain attributes of the outermost module.
        numbers: The total number of elements of the parameters.
        tensors: The first name of each tensor, by its ``id``.
    """

    told: defaultdict[str, Tokens] = field(default_factory=lambda: defaultdict(list))
    dtypes: set[str] = set()
    own: Named = []
    numbers: int = 0
    tensors: dict[int, str] = {}


def entries(dictionary: Any) -> list[tuple[Any, Any]]:
    """Return the items of a dictionary, ignoring overrides of a subclass."""
    return [*dict.items(dictionary)] if issubclass(type(dictionary), dict) else []


def write_nn_module(value: Any, walk: Walk) -> Writing:
    """Encode a module and all its submodules."""
    original = dictionary_of(value).get("_modules")
    if type(original) is dict and "_orig_mod" in original:  # returned by torch.compile
        value = original["_orig_mod"]
    seen = _Seen()
    places: dict[int, int] = {}
    pending: Named = [("", value)]
    while pending:
        path, module = pending.pop()
        if module is None or id(module) in places:  # a module that is used twice, or a cycle
            seen.told["inside"].append((path, b"^%d;" % places.get(id(module), -1)))
            continue
        places[id(module)] = len(places)
        walk.tick()
        pending += (yield from _write_one(module, path, seen, walk))[::-1]
    told = {part: join(seen.told[part]) for part in sorted(seen.told)}
    content = b"".join([b"%b%d;%b" % (part.encode(), len(it), it) for part, it in told.items()])
    if not walk.top:
        return Draft(content, "module")
    size = count(len(seen.told["p"]), "parameter")
    summary = f"{anatomy(type(value)).title}, {size} ({count(seen.numbers, 'number')})"
    parts = yield from inner_parts(seen.own, walk)
    return Draft(content, "module", summary, _parts(seen, told) | parts)


def _write_one(module: Any, path: str, seen: _Seen, walk: Walk) -> Generator[object, bytes, Named]:
    """Encode a module without its submodules, and return their names and objects."""
    made, told = anatomy(type(module)), seen.told
    fields = dictionary_of(module)
    prefix = f"{path}." if path else ""
    package, _, family = module_of_class(type(module)).rpartition(".")
    within = path and package == "torch.nn.modules"
    told["inside"].append((path, name_bytes(made.name)))
    # An activation may be part of several models, and then has the mode of the last one switched.
    if not within or family != "activation":
        told["mode"].append((path, b"%d" % (fields.get("training") is True)))
    unsaved = fields.get("_non_persistent_buffers_set") or ()
    for held, letter in (("_parameters", "p"), ("_buffers", "b")):
        for name, tensor in entries(fields.get(held)):
            full = _full(prefix, name)
            if tensor is None:
                told["inside"].append((full, b"N"))
                continue
            token = yield from _write_tensor(tensor, full, letter, seen, walk)
            told[letter].append((full, token))
            if letter == "b" and name in unsaved:
                told["unsaved"].append((full, token))
    plain, hooks = _sort_fields(fields, made, module)
    rate = _RATES.get(family) if within else None
    tokens = yield from walk.named(plain)
    if rate is not None:
        told["rates"] += [(path, token) for name, token in tokens if name == rate]
        tokens = [each for each in tokens if each[0] != rate]
    if path:
        told["inside"].append((path, join(tokens)))
    else:
        told["a"], seen.own = tokens, plain
    if hooks:
        told["hooks"] += yield from walk.named([(f"{prefix}{name}", each) for name, each in hooks])
    return [(_full(prefix, name), inner) for name, inner in entries(fields.get("_modules"))]


def _full(prefix: str, name: object) -> str:
    return f"{prefix}{name}" if type(name) is str else prefix


def _sort_fields(fields: dict[Any, Any], made: Anatomy, module: Any) -> tuple[Named, Named]:
    """Return a module's plain attributes, sorted by name, and its hooks."""
    hooks, plain = [], []
    for name, item in [*fields.items()]:
        if type(name) is not str or name in _TREE or (item is None and name in _UNSET):
            continue
        if not name.endswith(HOOKS) or not issubclass(type(item), dict):
            plain.append((name, item))
        elif item:
            hooks.append((name, [hook for _, hook in entries(item)]))
    plain += made.slot_values(module)
    plain.sort(key=itemgetter(0))
    return plain, hooks


def _write_tensor(tensor: Any, name: str, letter: str, seen: _Seen, walk: Walk) -> Bytes:
    """Encode a parameter or buffer; collect its gradient and hooks as separate parts."""
    at, told = native(), seen.told
    first = seen.tensors.setdefault(id(tensor), name)
    if first != name:  # tied weights: training changes both
        told["inside"].append((name, b"^" + name_bytes(first)))
    if is_tensor_type(type(tensor)):
        seen.dtypes.add(dtype_of(tensor))
        if letter == "p":
            seen.numbers += at.numel(tensor)
            if not at.requires_grad(tensor):
                told["frozen"].append((name, b""))
    if id(type(tensor)) not in at.plain:
        token: bytes = yield tensor
        return token
    token = b"D" + contents(walk, tensor, with_grad_flag=letter == "b")
    told["inside"].append((name, shape_of(tensor).encode()))
    grad, rest = yield from other_parts(tensor, walk)
    for part, written in (("grad", grad), ("hooks", rest)):
        if written:
            told[part].append((name, written))
    return token


def _parts(seen: _Seen, told: Mapping[str, bytes]) -> dict[str, str]:
    """Return the parts of a module.

    Args:
        seen: The tokens of each part.
        told: The same tokens, joined.
    """
    parts = {"mode": _MODES.get(frozenset(mode for _, mode in seen.told["mode"]), "mixed")}
    whole = {word: told[word] for word in _WHOLE if told.get(word)}
    for letter, word in (("p", "parameters"), ("b", "buffers"), ("a", "attributes")):
        if len(seen.told[letter]) > NAMED:
            whole[word] = told[letter]
        else:
            parts |= {f"{letter}:{name}": digest_of(token) for name, token in seen.told[letter]}
    parts |= {word: xxh3_64_hexdigest(each) for word, each in whole.items()}
    if "frozen" in told:
        parts["frozen"] = f"{len(seen.told['frozen'])} {xxh3_64_hexdigest(told['frozen'])}"
    if seen.dtypes:
        parts["dtype"] = ", ".join(sorted(seen.dtypes))
    return parts

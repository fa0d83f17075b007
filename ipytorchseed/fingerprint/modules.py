"""Fingerprints of ``torch.nn.Module``.

Parameters, buffers, modes, hooks and plain attributes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Generator
from operator import itemgetter
from typing import Any
from weakref import ReferenceType

from msgspec import Struct, field
from xxhash import xxh3_128_digest

from ipytorchseed.fingerprint.builtin import referred
from ipytorchseed.fingerprint.elements import contents, dtype_of, note_strides
from ipytorchseed.fingerprint.native import is_tensor_type, native
from ipytorchseed.fingerprint.objects import (
    Attributes,
    attribute_tokens,
    count,
    inner_parts,
    join,
)
from ipytorchseed.fingerprint.scalars import name_bytes
from ipytorchseed.fingerprint.tensors import extras, shape_of
from ipytorchseed.fingerprint.walk import Bytes, Draft, Walk, Writing, digest_of
from ipytorchseed.introspection.anatomy import Anatomy, anatomy, module_of_class

# Parameters, or buffers, listed one by one; more are one part.
NAMED = 64

# Dictionaries of hooks. Their keys count all hooks of the process, and are not content.
HOOKS = frozenset({
    "_backward_hooks", "_backward_pre_hooks", "_forward_hooks", "_forward_pre_hooks",
    "_load_state_dict_post_hooks", "_load_state_dict_pre_hooks", "_state_dict_hooks",
    "_state_dict_pre_hooks",
})  # fmt: skip

# Dictionaries that say how some hooks are called, by the same keys.
_MARKS = frozenset({"_forward_hooks_always_called", "_forward_hooks_with_kwargs",
                    "_forward_pre_hooks_with_kwargs"})  # fmt: skip

_TREE = _MARKS | {"_buffers", "_modules", "_parameters", "_non_persistent_buffers_set", "training"}

_UNSET = frozenset({"_compiled_call_impl", "_is_full_backward_hook"})

# By the module of a layer's class in ``torch.nn.modules``, what matters only in training.
_RATES = {"dropout": "p", "batchnorm": "momentum", "instancenorm": "momentum"}

# Layers of ``torch.nn.modules.activation`` that depend on the mode. The others are shared by many
# models, and follow the one that was switched last.
_OF_ITS_MODE = frozenset({"MultiheadAttention", "RReLU"})

_BYTES = {True: b"1", False: b"0"}


class _Seen(Struct):
    """What is collected during the walk through the submodules.

    Attributes:
        stream: All of the content.
        told: Tokens with their names, by part or the letter of its parts.
        own: The attributes of the module itself.
        inside: Its layers and their settings.
    """

    stream: list[bytes] = []
    told: defaultdict[str, Attributes] = field(default_factory=lambda: defaultdict(list))
    own: list[tuple[str, Any]] = []
    inside: list[bytes] = []
    dtypes: set[str] = set()
    frozen: list[str] = []
    modes: set[bool] = set()
    numbers: int = 0
    tensors: dict[int, str] = {}


def entries(dictionary: Any) -> list[tuple[Any, Any]]:
    """Return the items of a dictionary, ignoring overrides of a subclass."""
    return [*dict.items(dictionary)] if issubclass(type(dictionary), dict) else []


def write_nn_module(value: Any, walk: Walk) -> Writing:
    """Write a module with all its submodules."""
    original = (anatomy(type(value)).dictionary(value) or {}).get("_modules")
    if type(original) is dict and "_orig_mod" in original:  # returned by torch.compile
        value = original["_orig_mod"]
    seen = _Seen()
    places: dict[int, int] = {}
    pending: list[tuple[str, Any]] = [("", value)]
    while pending:
        path, module = pending.pop()
        seen.stream.append(name_bytes(path))
        if id(module) in places:  # a module that is used twice, or a cycle
            seen.stream.append(b"^%d;" % places[id(module)])
            seen.inside.append(seen.stream[-1])
            continue
        places[id(module)] = len(places)
        if module is None:
            seen.stream.append(b"N")
            continue
        walk.tick()
        inner = yield from _write_one(module, path, seen, walk)
        pending.extend(reversed(inner))
    digest = xxh3_128_digest(b"".join(seen.stream))
    if not walk.top:
        return Draft(digest, "module")
    size = count(len(seen.told["p"]), "parameter")
    summary = f"{anatomy(type(value)).title}, {size} ({count(seen.numbers, 'number')})"
    parts = yield from inner_parts(seen.own, walk)
    return Draft(digest, "module", summary, _parts(seen) | parts)


def _write_one(
    module: Any, path: str, seen: _Seen, walk: Walk
) -> Generator[object, bytes, list[tuple[str, Any]]]:
    """Write a module without its submodules, and return those."""
    made = anatomy(type(module))
    fields = made.dictionary(module) or {}
    prefix = f"{path}." if path else ""
    package, _, family = module_of_class(type(module)).rpartition(".")
    within = path and package == "torch.nn.modules"
    training = fields.get("training") is True
    stream = seen.stream
    stream.append(name_bytes(made.name))
    if not within or family != "activation" or made.title in _OF_ITS_MODE:
        seen.modes.add(training)
        stream.append(_BYTES[training])
    unsaved = fields.get("_non_persistent_buffers_set") or ()
    for held, letter in (("_parameters", "p"), ("_buffers", "b")):
        for name, tensor in entries(fields.get(held)):
            full = f"{prefix}{name}" if type(name) is str else prefix
            token = yield from _write_tensor(tensor, full, seen, walk)
            stream += (name_bytes(full), token)
            if tensor is None:
                continue
            seen.told[letter].append((full, token))
            if letter == "b" and name in unsaved:
                seen.told["unsaved"].append((full, token))
            if is_tensor_type(type(tensor)):
                seen.dtypes.add(dtype_of(tensor))
                if letter == "p":
                    seen.numbers += native().numel(tensor)
                    seen.frozen += [] if native().requires_grad(tensor) else [full]
    plain, hooks = _sort_fields(fields, made, module)
    tokens = yield from attribute_tokens(plain, walk)
    stream.append(join(tokens))
    rate = _RATES.get(family) if within else None
    seen.told["rates"] += [(path, token) for name, token in tokens if name == rate]
    tokens = [each for each in tokens if each[0] != rate]
    if not path:
        seen.told["a"], seen.own = tokens, plain
    seen.inside += (name_bytes(path), name_bytes(made.name), join(tokens if path else ()))
    if hooks:
        tokens = yield from attribute_tokens(hooks, walk)
        stream.append(join(tokens))
        seen.told["hooks"] += [(f"{prefix}{name}", token) for name, token in tokens]
    return [
        (f"{prefix}{name}" if type(name) is str else prefix, inner)
        for name, inner in entries(fields.get("_modules"))
    ]


def _sort_fields(
    fields: dict[Any, Any], made: Anatomy, module: Any
) -> tuple[list[tuple[str, Any]], list[tuple[str, Any]]]:
    """Return plain attributes, by name, and hooks."""
    hooks, plain = [], []
    for name, item in [*fields.items()]:
        if name in _TREE:
            continue
        if name in HOOKS:
            if item:
                hooks.append((name, _hooks(item, fields)))
        elif type(name) is str and not (item is None and name in _UNSET):
            plain.append((name, _by_name(item, fields)))
    plain += made.slot_values(module)
    plain.sort(key=itemgetter(0))
    return plain, hooks


def _by_name(item: Any, fields: dict[Any, Any]) -> Any:
    """Return the names of a module's parameters in a list, or references to them."""
    if type(item) is not list or not item:
        return item
    names = {id(each): name for name, each in entries(fields.get("_parameters"))}
    held = [referred(each) if type(each) is ReferenceType else each for each in item]
    found = tuple([None if each is None else names.get(id(each)) for each in held])
    return item if None in found else found


def _hooks(hooks: object, fields: dict[Any, Any]) -> list[object]:
    """Return hooks in order, each with how it is called."""
    marks = [entries(fields.get(name)) for name in sorted(_MARKS)]
    return [
        (hook, [any(type(key) is int and key == handle for key, _ in mark) for mark in marks])
        for handle, hook in entries(hooks)
        if type(handle) is int
    ]


def _write_tensor(tensor: Any, name: str, seen: _Seen, walk: Walk) -> Bytes:
    """Write a parameter or buffer, with its gradient separate."""
    if tensor is None:
        return b"N"
    first = seen.tensors.setdefault(id(tensor), name)
    if first != name:  # tied weights: training changes both
        tied = b"^" + name_bytes(first)
        seen.stream.append(tied)
        seen.inside.append(tied)
    if id(type(tensor)) not in native().plain:
        token: bytes = yield tensor
        return token
    token = b"D" + contents(walk, tensor, flag=False)
    seen.inside += (name_bytes(name), name_bytes(shape_of(tensor)))
    if native().requires_grad(tensor):
        seen.stream.append(b"L")
    note_strides(walk, tensor)
    grad, rest = yield from extras(tensor, walk)
    if grad:
        seen.told["grad"].append((name, grad))
        seen.stream.append(grad)
    if rest:
        seen.told["hooks"].append((name, rest))
        seen.stream.append(rest)
    return token


def _parts(seen: _Seen) -> dict[str, str]:
    modes = {frozenset({True}): "train", frozenset({False}): "eval"}
    inside = xxh3_128_digest(b"".join(seen.inside))[:8].hex()
    parts = {"mode": modes.get(frozenset(seen.modes), "mixed"), "inside": inside}
    whole = {word: seen.told[word] for word in ("grad", "hooks", "rates", "unsaved")}
    for letter, word in (("p", "parameters"), ("b", "buffers"), ("a", "attributes")):
        if len(seen.told[letter]) > NAMED:
            whole[word] = seen.told[letter]
        else:
            parts |= {f"{letter}:{name}": digest_of(token) for name, token in seen.told[letter]}
    if seen.frozen:
        which = xxh3_128_digest(b"".join(map(name_bytes, seen.frozen)))[:8].hex()
        parts["frozen"] = f"{len(seen.frozen)} {which}"
    if seen.dtypes:
        parts["dtype"] = ", ".join(sorted(seen.dtypes))
    told = {word: xxh3_128_digest(join(each))[:8].hex() for word, each in whole.items() if each}
    return parts | told

"""One finder for each kind of cause, in the order in which causes are listed."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ipytorchseed.why.evidence import Evidence
from ipytorchseed.why.explanation import Cause, Cleared
from ipytorchseed.why.finders.calls import find_calls
from ipytorchseed.why.finders.entropy import find_entropy, find_places
from ipytorchseed.why.finders.files import find_files, find_other_files
from ipytorchseed.why.finders.forms import find_forms
from ipytorchseed.why.finders.generators import find_inherited, find_rng
from ipytorchseed.why.finders.inputs import find_inputs
from ipytorchseed.why.finders.names import find_names, find_own_names, find_replaced_names
from ipytorchseed.why.finders.operations import find_code, find_operations
from ipytorchseed.why.finders.settings import find_effects, find_libraries, find_settings
from ipytorchseed.why.finders.unseen import find_unseen

Finder = Callable[[Evidence], Iterator[Cause | Cleared]]

# Finders of differences. Differences that certainly affect results come first.
FINDERS: tuple[Finder, ...] = (
    find_code,
    find_inputs,
    find_names,
    find_files,
    find_rng,
    find_settings,
    find_operations,
    find_entropy,
    find_other_files,
    find_own_names,
    find_libraries,
    find_calls,
)

# Finders that run in turn until a cause is found.
LAST_RESORT: tuple[Finder, ...] = (
    find_forms,
    find_inherited,
    find_replaced_names,
    find_unseen,
    find_places,
    find_effects,
)

"""Members of a class that no code of a cell's calls."""

from __future__ import annotations

import types
from collections.abc import Collection

from ipytorchseed.introspection.anatomy import module_of_class, mro, own
from ipytorchseed.introspection.ownership import is_local_module

_MEMBERS = (types.FunctionType, property, classmethod, staticmethod)

_PLAIN_BASES = ("abc.", "builtins.", "torch.nn.", "torch.utils.data.", "typing.")
"""Modules whose classes call no method of another name than one that they have themselves."""

_BY_TEXT = frozenset(
    {"__dict__", "__getattribute__", "attrgetter", "dir", "eval", "exec", "getattr", "getmembers"}
    | {"hasattr", "methodcaller", "vars"}
)
"""Names by which code may come by members that it does not name."""

_NAMES = (
    "arccos arcsin arctan ceil classes_ close collate conjugate cos cosh decision_function default"
    " degrees emit exp fileno filter fit fit_predict fit_transform floor flush format get"
    " get_feature_names_out get_metadata_routing get_n_splits get_params handle inverse_transform"
    " isatty items keys load_state_dict log log10 log1p log2 n_features_in_ partial_fit pin_memory"
    " predict predict_log_proba predict_proba radians read readinto readline readlines rint score"
    " score_samples seek set_epoch set_output set_params sin sinh split sqrt square state_dict step"
    " tan tanh tell to_numpy tolist transform update values write writelines"
)
_ASKED = frozenset(_NAMES.split())
"""Methods that packages may call of whatever object they are given."""


def members_unused(made: type, named: Collection[str]) -> set[str] | None:
    """Return the methods and properties of a class of the user's that nobody calls.

    Args:
        made: The class.
        named: All names and texts in the code that may come by it.

    Returns:
        Their names; None where others may call any.
    """
    bases = mro(made)
    theirs = [base for base in bases if not is_local_module(module_of_class(base))]
    if not all(f"{module_of_class(base)}.".startswith(_PLAIN_BASES) for base in theirs):
        return None
    if len(theirs) == len(bases) or not _BY_TEXT.isdisjoint(named):
        return None
    return {
        name
        for name, member in [*own(made).items()]
        if type(member) in _MEMBERS
        and name[:1] != "_"
        and name not in _ASKED
        and name not in named
        and not any(name in own(base) for base in theirs)
    }

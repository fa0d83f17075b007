"""Support vector machines of scikit-learn, which draw a seed and mostly make no use of it.

Each fit takes one number from ``numpy`` (``BaseLibSVM.fit``, sklearn/svm/_base.py); libsvm asks for
it where it estimates probabilities, and nowhere else.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ipytorchseed.reads.parsing import parse_text

if TYPE_CHECKING:
    from ipytorchseed.why.evidence import Evidence

_MACHINES = frozenset({"NuSVC", "NuSVR", "OneClassSVM", "SVC", "SVR"})

_DRAW_NOTHING = frozenset({
    "ConfusionMatrixDisplay", "GridSearchCV", "MinMaxScaler", "Pipeline", "StandardScaler",
    "accuracy_score", "append", "array", "astype", "classification_report", "column_stack",
    "confusion_matrix", "cross_val_predict", "cross_val_score", "cross_validate", "dict",
    "f1_score", "fit", "fit_predict", "fit_transform", "float", "format", "int", "items", "len",
    "linspace", "list", "logspace", "make_pipeline", "max", "mean", "mean_squared_error", "min",
    "plot", "precision_score", "predict", "print", "r2_score", "range", "ravel", "recall_score",
    "reshape", "round", "roc_auc_score", "score", "set_params", "sorted", "std", "str", "sum",
    "to_numpy", "tolist", "transform", "tuple", "zip",
})  # fmt: skip
"""Last parts of names that stand beside them, and draw nothing from numpy."""


def draw_unused_seeds(case: Evidence) -> bool:
    """Tell whether all that a cell draws from numpy are seeds that its machines do not use."""
    tree = parse_text(case.run.source)
    if tree is None or case.run.code != case.against.code or "probability" in case.run.source:
        return False
    objects = [value for value in case.run.reads.values() if value.kind == "object"]
    calls = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    used = {value.summary.partition(",")[0] for value in objects}
    used |= {func.attr if isinstance(func, ast.Attribute) else _name(func) for func in calls}
    return not _MACHINES.isdisjoint(used) and used <= _MACHINES | _DRAW_NOTHING


def _name(func: ast.expr) -> str:
    return func.id if isinstance(func, ast.Name) else ""

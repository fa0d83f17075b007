"""Recognises scikit-learn's estimators that draw a seed and mostly do not use it.

Each fit takes one number from ``numpy`` where nobody gives it a ``random_state``. libsvm asks for
its seed where it estimates probabilities (``BaseLibSVM.fit``, sklearn/svm/_base.py), and coordinate
descent where it picks coordinates at random (sklearn/linear_model/_coordinate_descent.py).
"""

from __future__ import annotations

import ast
import re

from ipytorchseed.fingerprint.value import CLASSES, Fingerprint
from ipytorchseed.reads.parsing import parse_text
from ipytorchseed.why.evidence import Evidence

_UNLESS = {
    **dict.fromkeys(("NuSVC", "NuSVR", "OneClassSVM", "SVC", "SVR"), "probability"),
    **dict.fromkeys(("ElasticNet", "ElasticNetCV", "Lasso", "LassoCV"), "selection"),
    **dict.fromkeys(("MultiTaskElasticNet", "MultiTaskElasticNetCV"), "selection"),
    **dict.fromkeys(("MultiTaskLasso", "MultiTaskLassoCV"), "selection"),
}
"""By estimator, the argument by which it comes to use its seed."""

_NONE_UNLESS = dict.fromkeys(("LogisticRegression", "Ridge", "RidgeClassifier"), "solver")
"""By estimator that draws nothing, the argument by which it comes to draw."""

_DRAW_NOTHING = frozenset({
    "ColumnTransformer", "ConfusionMatrixDisplay", "DataFrame", "GaussianNB", "GridSearchCV",
    "GroupKFold", "KNeighborsClassifier", "KNeighborsRegressor", "LinearDiscriminantAnalysis",
    "LinearRegression", "MinMaxScaler", "MultinomialNB", "OneHotEncoder", "OrdinalEncoder",
    "Pipeline", "PolynomialFeatures", "RidgeCV", "RobustScaler", "RocCurveDisplay", "Series",
    "SimpleImputer", "StandardScaler", "abs", "accuracy_score", "append", "arange", "argmax",
    "argmin", "argsort", "array", "astype", "balanced_accuracy_score", "bar",
    "classification_report", "clone", "column_stack", "concat", "confusion_matrix", "copy",
    "cross_val_predict", "cross_val_score", "cross_validate", "cumsum", "decision_function",
    "describe", "dict", "drop", "dropna", "enumerate", "exp", "explained_variance_score",
    "f1_score", "figure", "fillna", "fit", "fit_predict", "fit_transform", "float", "format",
    "grid", "groupby", "head", "hstack", "int", "inverse_transform", "isin", "items", "join",
    "keys", "kneighbors", "legend", "len", "linspace", "list", "log", "log_loss", "logspace",
    "make_column_transformer", "make_pipeline", "max", "mean", "mean_absolute_error",
    "mean_absolute_percentage_error", "mean_squared_error", "mean_squared_log_error", "min",
    "ones", "pivot_table", "plot", "precision_score", "predict", "predict_log_proba",
    "predict_proba", "print", "r2_score", "range", "ravel", "read_csv", "recall_score", "reshape",
    "roc_auc_score", "root_mean_squared_error", "round", "scatter", "score", "set_params",
    "set_title", "set_xlabel", "set_ylabel", "show", "sort_values", "sorted", "sqrt", "stack",
    "std", "str", "subplots", "sum", "tail", "tight_layout", "title", "to_numpy", "tolist",
    "transform", "tuple", "unique", "update", "value_counts", "values", "vstack", "where",
    "xlabel", "ylabel", "zeros", "zip",
})  # fmt: skip
"""Last parts of names that stand beside them, and draw nothing from numpy."""


def draw_unused_seeds(case: Evidence) -> bool:
    """Tell whether all that a cell draws from numpy are seeds that its estimators do not use."""
    tree = parse_text(case.run.source)
    if tree is None or case.run.code != case.against.code:
        return False
    objects = [value for value in case.run.reads.values() if value.kind == "object"]
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    used = {value.summary.partition(",")[0] for value in objects}
    used |= {each for value in case.run.reads.values() for each in _held(value)}
    used |= {_name(call.func) for call in calls if not _has_seed(call)}
    unless = _UNLESS | _NONE_UNLESS
    texts = [run.source for run in case.states.latest(case.run)]
    return (
        not used.isdisjoint(_UNLESS)
        and used <= unless.keys() | _DRAW_NOTHING
        and not any(_sets(unless[each], text) for each in used & unless.keys() for text in texts)
    )


def _sets(argument: str, text: str) -> bool:
    """Tell whether a text may set an argument: ``solver=``, ``"solver":``, ``svc__solver=``."""
    return re.search(rf"(?:\b|__){argument}\b\s*[=\"']", text) is not None


def _held(value: Fingerprint) -> list[str]:
    """Name the classes of the objects in a list or dictionary."""
    return value.parts.get(CLASSES, "").split()


def _name(func: ast.expr) -> str:
    if isinstance(func, ast.Attribute):
        return func.attr
    return func.id if isinstance(func, ast.Name) else ""


def _has_seed(call: ast.Call) -> bool:
    """Tell whether a call is given a number for a seed, and takes none from numpy."""
    seeds = (word.value for word in call.keywords if word.arg == "random_state")
    return any(isinstance(each, ast.Constant) and type(each.value) is int for each in seeds)

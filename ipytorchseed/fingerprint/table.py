"""The table of writers: the function that fingerprints the objects of a class."""

from __future__ import annotations

import gc
import operator
import random
import types
import weakref
from collections import deque
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

from ipytorchseed.fingerprint import (
    arrays,
    builtin,
    containers,
    frames,
    functions,
    libraries,
    modules,
    objects,
    opaque,
    optimizers,
    tensors,
    texts,
)  # fmt: skip
from ipytorchseed.fingerprint.scalars import LEAVES
from ipytorchseed.fingerprint.walk import Writer
from ipytorchseed.introspection.anatomy import module_of_class, mro, per_object
from ipytorchseed.introspection.values import ITERATORS, ITERTOOLS, imported

_object, _state, _fields = objects.object_writer, objects.state_writer, functions.fields
_bounds = operator.attrgetter("start", "stop", "step")

_SEARCH_TIMES = (
    "cv_results_.mean_fit_time", "cv_results_.mean_score_time", "cv_results_.std_fit_time",
    "cv_results_.std_score_time", "refit_time_",
)  # fmt: skip
_WIDGET_WIRES = (
    "_cross_validation_lock", "_model_id", "_trait_notifiers", "_trait_validators",
    "_trait_values._comm", "_trait_values.comm", "_trait_values.log",
    # front ends set these some time after an ``Output`` has shown something
    "_trait_values.msg_id", "_trait_values.outputs",
)  # fmt: skip

_BAR_TIMES = (
    "_ema_dn", "_ema_dt", "_ema_miniters", "_time", "container", "disp", "displayed", "fp",
    "last_print_n", "last_print_t", "miniters", "pos", "sp", "start_t",
)  # fmt: skip

# Attributes of Lightning's checkpoints: times, and paths of folders that are numbered per run.
_CHECKPOINTS = (
    "_fs", "_last_checkpoint_saved", "_last_time_checked", "best_k_models", "best_model_path",
    "dirpath", "kth_best_model_path", "last_model_path",
)  # fmt: skip


def _of_lightning(*names: str) -> list[str]:
    packages = ("lightning.pytorch", "pytorch_lightning")
    return [f"{package}.{each}" for package in packages for each in names]


# A writer, and the classes whose objects it encodes, including subclasses. If several rows fit, the
# class that comes first in the MRO decides. ``module:name`` is a class that is looked up once its
# module is imported. Objects of all other classes are encoded by their attributes.
KINDS: tuple[tuple[Any, ...], ...] = (
    # Containers and texts
    (containers.sequence_writer(list), list),
    (containers.sequence_writer(tuple), tuple),
    (containers.write_dict, dict),
    (containers.set_writer(set), set),
    (containers.set_writer(frozenset), frozenset),
    (containers.sequence_writer(deque), deque),
    (objects.write_namespace, types.SimpleNamespace),
    *((texts.scalar_writer(kind), kind) for kind in (str, bytes, int, float, complex)),
    (texts.memory_writer("bytearray"), bytearray),
    (texts.memory_writer("memory"), memoryview, "array:array", "mmap:mmap",
     "_ctypes:Array", "_ctypes:Structure", "_ctypes:Union", "_ctypes:_SimpleCData"),
    # Small objects of the standard library
    (_state("range", lambda it: str(_bounds(it)), show=True), range),
    (_state("slice", _bounds), slice),
    (_state("proxy", gc.get_referents), types.MappingProxyType, types.CellType),
    (_state("view", builtin.viewed), type({}.keys()), type({}.values()), type({}.items())),
    (_state("reference", weakref.ref.__call__), "weakref:ref"),
    (_state("reference", lambda _: None), "weakref:ProxyType", "weakref:CallableProxyType"),
    (_state("pattern", operator.attrgetter("pattern", "flags")), "re:Pattern"),
    (_state("decimal", Decimal.__str__, show=True), Decimal),
    (_state("path", builtin.path), "pathlib:PurePath"),
    (_state("file", builtin.memory_file), "io:BytesIO", "io:StringIO"),
    (_state("text", builtin.captured), "IPython.utils.capture:CapturedIO"),
    (_state("zone", ZoneInfo.__str__), ZoneInfo),
    (_state("row", builtin.row), "sqlite3:Row"),
    (_state("context variable", lambda it: (it.name, it.get(None))), "_contextvars:ContextVar"),
    *((_state(name, builtin.moment), f"datetime:{name}")
      for name in ("datetime", "date", "time", "timedelta")),
    (_state("timezone", builtin.moment), "datetime:timezone"),
    (builtin.write_enum, "enum:Enum"),
    (_state("exception", builtin.raised), BaseException),
    # Code
    (functions.write_function, types.FunctionType),
    (_state("method", _fields("__func__", "__self__")), types.MethodType),
    (functions.write_builtin, types.BuiltinFunctionType, types.MethodDescriptorType,
     types.WrapperDescriptorType, types.MethodWrapperType, types.ClassMethodDescriptorType,
     types.GetSetDescriptorType, types.MemberDescriptorType, "numpy:ufunc",
     "numpy._core._multiarray_umath:_ArrayFunctionDispatcher"),
    (_state("partial", _fields("func", "args", "keywords", "__dict__")), "functools:partial"),
    (_state("loss", builtin.reduced), "sklearn._loss._loss:CyLossFunction",
     "sklearn._loss._loss:CyHalfMultinomialLoss"),
    (_state("getter", builtin.reduced), operator.attrgetter, operator.itemgetter,
     operator.methodcaller),
    (_state("function", _fields("__func__")), staticmethod, classmethod),
    (_state("function", _fields("fget", "fset", "fdel")), property),
    (functions.write_cached, "functools:_lru_cache_wrapper"),
    (_state("function", _fields("py_func", "targetoptions", "locals")),  # not the compiled code
     "numba.core.dispatcher:Dispatcher"),
    (_state("function", _fields("__wrapped__")), "numba.np.ufunc.dufunc:DUFunc",
     "numba.np.ufunc.gufunc:GUFunc"),
    (_state("type", _fields("__origin__", "__args__")), types.GenericAlias, types.UnionType),
    (_state("code", functions.code_digest), types.CodeType),
    (functions.write_class, type),
    (_state("namespace", functions.module_state, show=True), types.ModuleType),
    # Random numbers
    (builtin.write_generator_state, random.Random, "numpy.random:RandomState",
     "numpy.random:Generator", "torch:Generator", "keras.random:SeedGenerator"),
    (_state("rng", builtin.bits), "numpy.random:BitGenerator"),
    (_state("seed sequence", builtin.seeds), "numpy.random:SeedSequence"),
    # numpy
    (arrays.write_array, "numpy:ndarray"),
    (arrays.write_number, "numpy:generic"),
    (_state("dtype", str, show=True), "numpy:dtype"),
    # torch
    (tensors.write_tensor, "torch:Tensor"),
    (_state("storage", tensors.storage_state), "torch:UntypedStorage"),
    (_state("torch constant", str, show=True), "torch:dtype", "torch:device", "torch:layout",
     "torch:memory_format"),
    (modules.write_nn_module, "torch.nn.modules.module:Module"),
    (optimizers.write_optimizer, "torch.optim.optimizer:Optimizer"),
    (_object(kind="scheduler"), "torch.optim.lr_scheduler:LRScheduler"),
    (_object("_DataLoader__initialized", kind="dataloader"), "torch.utils.data:DataLoader"),
    (_object(kind="dataset"), "torch.utils.data:Dataset"),
    # pandas
    (frames.write_frame, "pandas:DataFrame"),
    (frames.write_series, "pandas:Series"),
    (_state("index", frames.index_state), "pandas:Index"),
    (_state("array", frames.extension_state), "pandas.api.extensions:ExtensionArray"),
    (_state("dtype", frames.dtype_state), "pandas.api.extensions:ExtensionDtype"),
    (_state("time", frames.moment_state), "pandas:Timestamp", "pandas:Timedelta"),
    (_state("missing", lambda _: None), "pandas._libs.tslibs.nattype:NaTType",
     "pandas._libs.missing:NAType"),
    (_state("array", frames.arrow_state), "pyarrow:Array", "pyarrow:ChunkedArray"),
    # Other libraries
    (_state("table", libraries.table_state), "pyarrow:Table", "pyarrow:RecordBatch"),
    (libraries.write_polars_series, "polars:Series"),
    (libraries.write_polars_frame, "polars:DataFrame"),
    (libraries.write_image, "PIL.Image:Image"),
    (libraries.write_jax_array, "jaxlib._jax:ArrayImpl", "jaxlib.xla_extension:ArrayImpl"),
    (_state("key", libraries.key_state), "jax._src.random.prng:PRNGKeyArray",
     "jax._src.prng:PRNGKeyArray"),
    (_state("tree", libraries.tree_state), "sklearn.tree._tree:Tree"),
    (_state("tree", libraries.points_state), "scipy.spatial:cKDTree"),
    (_state("tree", libraries.neighbors_state), "sklearn.neighbors:KDTree",
     "sklearn.neighbors:BallTree"),
    (_state("geometry", libraries.geometry_state), "shapely.lib:Geometry"),
    # Objects that record their own times, or identities
    (_object(*_SEARCH_TIMES), "sklearn.model_selection._search:BaseSearchCV"),
    (_object("_stop_words_id"), "sklearn.feature_extraction.text:_VectorizerMixin"),
    (_object(*_BAR_TIMES, kind="progress bar"), "tqdm.std:tqdm"),
    (_state("progress bar", lambda _: None), *_of_lightning(
        "callbacks.progress.progress_bar:ProgressBar", "loggers.logger:Logger",
        "profilers.profiler:Profiler")),
    (_object(*_CHECKPOINTS), *_of_lightning("callbacks.model_checkpoint:ModelCheckpoint")),
    (_object("_func_code_id", "_func_code_info", "timestamp"), "joblib.memory:Memory",
     "joblib.memory:MemorizedFunc"),
    (_object("cache"), "jinja2.environment:Environment"),  # of templates
    (_object("extra_dict_ref", "hooks_dict_ref", "id"), "torch.utils.hooks:RemovableHandle"),
    # copies of a hook lack the names of the function that it wraps
    (_state("function", _fields("hook", "module", "with_module")),
     "torch.nn.modules.module:_WrappedHook"),
    (_object("_base_seed"), "torch.utils.data.dataloader:_BaseDataLoaderIter"),
    (_object("_mhash", "_assumptions", "dummy_index"), "sympy.core.basic:Basic"),
    (_object("uuid"), "pandas.io.formats.style_render:StylerRenderer"),
    (_object(*_WIDGET_WIRES), "ipywidgets:Widget"),
    # Objects with attributes that are computed on demand, temporary, or unique to a process
    (_object("_has_canonical_format", "_has_sorted_indices", "has_canonical_format"),
     "scipy.sparse._base:_spbase"),
    (_object("_data"), "scipy.interpolate:UnivariateSpline"),  # scratch memory of FITPACK
    (_object("_tmp_like_exog"),  # uninitialized scratch memory
     "statsmodels.genmod.generalized_linear_model:GLM"),
    (_object("_summary_cache", "_summary_statistics_cache", "diagn"),  # caches of `summary()`
     "statsmodels.base.model:Results"),
    (_object("lifecycle_events", "total_train_time"), "gensim.utils:SaveLoad"),
    (_object("study_name"), "optuna.study.study:Study"),  # random by default
    (_object("_study_name_to_id"), "optuna.storages._in_memory:InMemoryStorage"),
    (_object("name"), "optuna.storages._in_memory:_StudyInfo"),
    (_object("_datetime_start", "datetime_complete"), "optuna.trial._frozen:FrozenTrial"),
    (_object("cls_ref"), "pydantic._internal._decorators:Decorator"),  # an address
    (_object("core_schema", "serializer", "validator"),  # compiled from its type
     "pydantic.type_adapter:TypeAdapter"),
    (_object("_document", "_temp_document", "_id"),  # where it was shown; a number per process
     "bokeh.model.model:Model"),
    # Each of lmfit's parameters has one, with the time, and all of numpy.
    (_state("evaluator", lambda _: None), "asteval.asteval:Interpreter"),
    # Opaque objects
    (_state("iterator", opaque.iterator_position, opaque=True), *ITERATORS),
    (_state("iterator", opaque.referents, opaque=True), *ITERTOOLS),
    (opaque.write_generator, types.GeneratorType, types.CoroutineType,
     types.AsyncGeneratorType),
    (_state("file", opaque.file_position, show=True, opaque=True), "io:FileIO",
     "io:BufferedReader", "io:BufferedWriter", "io:BufferedRandom", "io:TextIOWrapper"),
    (opaque.write_opaque, random.SystemRandom, "torch.jit:ScriptModule", "ctypes:py_object",
     "ctypes:c_void_p", "ctypes:c_char_p", "ctypes:c_wchar_p",  # pointers
     "torch.utils.tensorboard.writer:SummaryWriter", "tensorboardX.writer:SummaryWriter",
     "ipytorchseed.notebook.rng_magic:Inspection"),
    (_state("booster", libraries.booster_rounds, opaque=True), "xgboost.core:Booster"),
    (opaque.write_database, "sqlite3:Connection"),
)  # fmt: skip

_rows: dict[int, Writer] = {}
_waiting: list[Any] = []

for _write, *_types in KINDS:
    for _type in _types:
        if isinstance(_type, str):
            _waiting.append((*_type.split(":"), _write))
        else:
            _rows[id(_type)] = _write


def _arrive() -> None:
    """Activate the rows whose module was imported since the last call."""
    for row in [*_waiting]:
        found = imported(row[0], row[1])
        if issubclass(type(found), type):
            _rows.setdefault(id(found), row[2])
            if row[2] is arrays.write_number:
                LEAVES.update(arrays.number_leaves())
            _waiting.remove(row)


_CONTENT = (str, list, dict, tuple, set, frozenset)


def _is_machinery(kind: type) -> bool:
    """Return whether a class is in ``opaque.PACKAGES``, and extends no builtin type."""
    package = module_of_class(kind).partition(".")[0]
    return package in opaque.PACKAGES and not issubclass(kind, _CONTENT)


def _find(kind: type) -> Writer:
    _arrive()
    for base in mro(kind):
        row = _rows.get(id(base))
        if row is not None:
            return row
        if base is kind and _is_machinery(kind):
            return opaque.write_opaque
    return objects.write_object


# Returns the writer for objects of a class.
writer_of = per_object(_find)

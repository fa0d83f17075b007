"""Code for cells that changes each recorded setting, by the row of its table."""

from __future__ import annotations

import sys
import warnings

from ipytorchseed.determinism.libraries import SETTINGS, restore_libraries
from ipytorchseed.determinism.table import FLAGS

IMPORTS = """
import calendar, decimal, locale, logging, os, random, sys, time, warnings, argparse
import mpmath, numpy, pandas, polars, sklearn, threadpoolctl, torch, torch._inductor.config
import torch._dynamo.config
import matplotlib.pyplot as plt, matplotlib_inline.config
""".strip()

SETUP = """
get_ipython().run_line_magic('matplotlib', 'inline')
matplotlib_inline.config.InlineBackend.instance().close_figures = False
plt.figure(); plt.plot([1])
""".strip()

_INDUCTOR = {
    name: f"torch._inductor.config.{name} = True"
    for name in (
        "deterministic", "emulate_precision_casts", "eager_numerics.division_rounding",
        "eager_numerics.disable_ftz", "eager_numerics.use_pytorch_libdevice", "batch_invariant",
        "fallback_random",
    )
}  # fmt: skip

_BACKENDS = {
    "cudnn.enabled": False, "cudnn.benchmark": True, "cudnn.deterministic": True,
    "mkldnn.deterministic": True, "mkldnn.enabled": False, "cuda.matmul.allow_tf32": True,
    "cudnn.allow_tf32": False, "fp32_precision": "ieee", "cudnn.fp32_precision": "ieee",
    "mkldnn.fp32_precision": "ieee", "cuda.matmul.fp32_precision": "tf32",
    "cudnn.conv.fp32_precision": "ieee", "cudnn.rnn.fp32_precision": "ieee",
    "mkldnn.matmul.fp32_precision": "bf16", "mkldnn.conv.fp32_precision": "bf16",
    "mkldnn.rnn.fp32_precision": "bf16",
    "cuda.matmul.allow_fp16_reduced_precision_reduction": False,
    "cuda.matmul.allow_bf16_reduced_precision_reduction": False,
    "cuda.matmul.allow_fp16_accumulation": True,
}  # fmt: skip

_VARIABLES = (
    "CUBLAS_WORKSPACE_CONFIG", "FLASH_ATTENTION_DETERMINISTIC", "CUDA_LAUNCH_BLOCKING",
    "OMP_NUM_THREADS", "MKL_NUM_THREADS", "MKL_CBWR",
)  # fmt: skip

# Lines that change a setting, by the name of its row.
CHANGES = {
    "torch.use_deterministic_algorithms": "torch.use_deterministic_algorithms(True)",
    "torch.use_deterministic_algorithms.warn_only": (
        "torch.use_deterministic_algorithms(True, warn_only=True)"
    ),
    "torch.utils.deterministic.fill_uninitialized_memory": (
        "torch.utils.deterministic.fill_uninitialized_memory = False"
    ),
    **{f"torch._inductor.config.{name}": line for name, line in _INDUCTOR.items()},
    "torch.float32_matmul_precision": "torch.set_float32_matmul_precision('high')",
    **{f"torch.backends.{n}": f"torch.backends.{n} = {v!r}" for n, v in _BACKENDS.items()},
    **{name: f"os.environ[{name!r}] = '1'" for name in _VARIABLES},
    "torch.default_dtype": "torch.set_default_dtype(torch.float64)",
    "torch.default_device": "torch.set_default_device('cpu')",
    "torch.grad_enabled": "torch.set_grad_enabled(False)",
    "torch.autocast.cpu.enabled": "torch.set_autocast_enabled('cpu', True)",
    "torch.autocast.cpu.dtype": "torch.set_autocast_dtype('cpu', torch.float16)",
    "torch.autocast.cuda.enabled": "torch.set_autocast_enabled('cuda', True)",
    "torch.autocast.cuda.dtype": "torch.set_autocast_dtype('cuda', torch.bfloat16)",
    "torch.num_threads": "torch.set_num_threads(torch.get_num_threads() + 1)",
    "torch.backends.cuda.flash_sdp_enabled": "torch.backends.cuda.enable_flash_sdp(False)",
    "torch.backends.cuda.mem_efficient_sdp_enabled": (
        "torch.backends.cuda.enable_mem_efficient_sdp(False)"
    ),
    "torch.backends.cuda.math_sdp_enabled": "torch.backends.cuda.enable_math_sdp(False)",
    "torch.backends.cuda.cudnn_sdp_enabled": "torch.backends.cuda.enable_cudnn_sdp(False)",
    "torch.backends.cuda.fp16_bf16_reduction_math_sdp_allowed": (
        "torch.backends.cuda.allow_fp16_bf16_reduction_math_sdp(True)"
    ),
    "calendar.setfirstweekday": "calendar.setfirstweekday(6)",
    "decimal.getcontext": "decimal.getcontext().prec = 5",
    "mpmath.mp.prec": "mpmath.mp.prec = 99",
    "threadpoolctl.threadpool_limits": "threadpoolctl.threadpool_limits(1, 'blas')",
    "torch._dynamo.config": "torch._dynamo.config.suppress_errors = True",
    "polars.Config.engine": "polars.Config.set_engine_affinity('streaming')",
    "sys.argv": "sys.argv.append('--more')",
    "sklearn.set_config": "sklearn.set_config(assume_finite=True)",
    "sklearn.set_config.display": "sklearn.set_config(display='text')",
    "torch.backends.mha.fastpath_enabled": "torch.backends.mha.set_fastpath_enabled(False)",
    "torch.nn.modules.module.hooks": (
        "torch.nn.modules.module.register_module_forward_hook(lambda *_: None)"
    ),
    "torch.optim.optimizer.hooks": (
        "sys.modules['torch.optim.optimizer'].register_optimizer_step_pre_hook(lambda *_: None)"
    ),
    "torch.set_flush_denormal": "torch.set_flush_denormal(True)",
    "torch.autograd.set_detect_anomaly": "torch.autograd.set_detect_anomaly(True, False)",
    "numpy.set_printoptions": "numpy.set_printoptions(precision=3, formatter={'int': hex})",
    "torch.set_printoptions": "torch.set_printoptions(precision=3)",
    "pandas.options.display": "pandas.options.display.float_format = '{:.1f}'.format",
    "pandas.options": "pandas.options.compute.use_bottleneck = False",
    "polars.Config": "polars.Config.set_tbl_rows(3)",
    "matplotlib.rcParams": "plt.rcParams.update({'lines.linewidth': 7, 'axes.grid': True})",
    "matplotlib.pyplot.figure": "plt.plot([2]); plt.figure()",
    "InlineBackend": "matplotlib_inline.config.InlineBackend.instance().figure_formats = {'svg'}",
    "IPython.display_formatter": "get_ipython().run_line_magic('precision', '2')",
    "locale.setlocale": "locale.setlocale(locale.LC_NUMERIC, 'POSIX' if os.name == 'nt' else 'C.utf8')",
    "logging.levels": (
        "logging.getLogger('mine').setLevel(10); logging.root.addHandler(logging.NullHandler())"
    ),
    "time.tzname": "os.environ['TZ'] = 'Asia/Tokyo'; time.tzset()",
    "numpy.seterr": "numpy.seterr(all='ignore')",
    "sys.setrecursionlimit": "sys.setrecursionlimit(4321)",
    "warnings.filters": "warnings.simplefilter('error')",
}

# Rows that no cell changes, and why.
FIXED = {
    "PYTHONHASHSEED": "read when Python starts",
    "torch.num_interop_threads": "can be set once, before anything runs",
    "torch.inference_mode_enabled": "set around a block only, and named where it is left on",
    "torch._inductor.config.numerics": "of torch 2.14",
    **dict.fromkeys(
        (
            "accelerate.state.AcceleratorState",
            "cv2.setNumThreads",
            "cv2.setUseOptimized",
            "datasets.disable_caching",
            "jax.config",
            "keras.config",
            "keras.utils.clear_session",
            "mlflow.active_run",
            "mlflow.set_experiment",
            "mlflow.set_tracking_uri",
            "numba.set_num_threads",
            "pyro.get_param_store",
            "torch.backends.opt_einsum",
            "xarray.set_options",
        ),
        "of a library that is not imported here",
    ),
}


def read() -> dict[str, str]:
    """Return the value of each row, with details that only the library itself reports."""
    numpy, pandas, torch = (sys.modules[name] for name in ("numpy", "pandas", "torch"))
    pyplot = sys.modules["matplotlib.pyplot"]
    rows = {flag.name: flag.read() for flag in FLAGS}
    rows |= _read_libraries()
    raw = {
        "sys.argv": sys.argv,
        "numpy.set_printoptions": numpy.get_printoptions(),
        "pandas.options.display": pandas.get_option("display.float_format"),
        "matplotlib.rcParams": sorted(dict.items(pyplot.rcParams), key=lambda pair: pair[0]),
        "torch.autograd.set_detect_anomaly": torch.is_anomaly_check_nan_enabled(),
        "decimal.getcontext": sys.modules["decimal"].getcontext(),
        "warnings.filters": warnings.filters,
        "logging.levels": sys.modules["logging"].root.handlers,
    }
    return {name: repr((value, raw.get(name))) for name, value in rows.items()}


def _read_libraries() -> dict[str, object]:
    loaded = (each for each in SETTINGS if not each.package or each.package in sys.modules)
    return {each.name: each.read(sys.modules.get(each.package)) for each in loaded}


def set_to(recorded: dict[str, object]) -> list[str]:
    """Set the rows of libraries to recorded values; return those that did not change."""
    now = _read_libraries()
    restore_libraries(recorded)
    found = _read_libraries()
    assert found != now
    return sorted(name for name in found if found[name] != recorded[name])

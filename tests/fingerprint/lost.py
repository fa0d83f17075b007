"""Values whose memory can be given back behind their backs.

Reading it then kills the process.

Each maker returns a value that is well, and a function that gives its memory back.
"""

from __future__ import annotations

import collections
import ctypes
import functools
import itertools
import mmap
import multiprocessing.sharedctypes
import os
import tempfile
import types
from multiprocessing import shared_memory
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa
import torch
from numpy.lib.stride_tricks import as_strided, sliding_window_view
from PIL import Image

from ipytorchseed.fingerprint.elements import is_borrowed
from ipytorchseed.fingerprint.memory import owns_array
from tests.fingerprint.child import PREFIX

if TYPE_CHECKING:
    from collections.abc import Callable

Lost = tuple[Any, "Callable[[], object]"]

# Elements of 8 bytes in each: many pages, so that a shorter file loses some of them.
COUNT = 32768

# Elements of 8 bytes that the allocator gets from the system and returns to it. It does not do so
# if earlier tests of the process left a hole of that size in its heap.
LARGE = 16 * 2**20

MAKERS: dict[str, Callable[[], Lost]] = {}


def maker(function: Callable[[], Lost]) -> Callable[[], Lost]:
    """Add to the gallery."""
    MAKERS[function.__name__] = function
    return function


def each(**values: Callable[[Any], Any]) -> Callable[[Callable[[], Lost]], Callable[[], Lost]]:
    """Add several, by name: what each function makes of the value."""

    def add(function: Callable[[], Lost]) -> Callable[[], Lost]:
        def made(of: Callable[[Any], Any]) -> Lost:
            value, lose = function()
            return of(value), lose

        MAKERS.update({name: functools.partial(made, of) for name, of in values.items()})
        return function

    return add


# --------------------------------------------------------------------------------------------------
# Memory to give back


def numbers(dtype: Any = "f8", count: int = COUNT) -> Any:
    """Return elements that differ from one another."""
    return np.arange(count).astype(dtype)


def file_of(content: Any) -> str:
    """Write a file; the caller leaves it to the system to remove."""
    descriptor, path = tempfile.mkstemp(prefix=PREFIX)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
    return path


def shrinks(path: str, left: int = 0) -> Callable[[], object]:
    """Return what makes a file shorter."""
    return functools.partial(os.truncate, path, left)


_libc = ctypes.CDLL(None, use_errno=True)
_libc.mmap.restype = ctypes.c_void_p
_libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
_libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
_libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]


# Addresses that the system does not choose itself, so that nothing else fills the hole.
_places = itertools.count(0x1000_0000_0000, 2**24)


def pages(size: int = 8 * COUNT) -> tuple[int, Callable[[], object]]:
    """Ask the system for memory: its address, and what gives it back."""
    address = _libc.mmap(next(_places), size, mmap.PROT_READ | mmap.PROT_WRITE, 0x22, -1, 0)
    ctypes.memset(address, 7, size)
    return address, functools.partial(_libc.munmap, address, size)


class Pointing:
    """What tells numpy where elements lie."""

    def __init__(self, address: int) -> None:
        self.__array_interface__ = {
            "shape": (COUNT,), "typestr": "<f8", "data": (address, False), "version": 3,
        }  # fmt: skip


# --------------------------------------------------------------------------------------------------
# numpy


def _memmap(mode: str = "r", dtype: Any = "f8") -> Lost:
    content = numbers(dtype)
    path = file_of(content.tobytes())
    return np.memmap(path, dtype, mode), shrinks(path)


@each(
    memmap=lambda it: it,
    memmap_strided=lambda it: it[::3],
    memmap_backwards=lambda it: it[::-1],
    memmap_matrix=lambda it: it.reshape(128, -1),
    memmap_transposed=lambda it: it.reshape(128, -1).T,
    memmap_scalar=lambda it: it[20000:20001].reshape(()),
    memmap_masked=lambda it: np.ma.masked_array(it, it > 3),
    memmap_as_matrix=lambda it: it.reshape(128, -1).view(np.matrix),
    memmap_windows=lambda it: sliding_window_view(it, 5),
    memmap_broadcast=lambda it: np.broadcast_to(it, (2, COUNT)),
    memmap_complex=lambda it: it.view("c16"),
    memmap_imaginary=lambda it: it.view("c16").imag,
    memmap_dates=lambda it: it.view("M8[ns]"),
    memmap_texts=lambda it: it.view("S8"),
    memmap_in_list=lambda it: [1, it],
    memmap_in_dict=lambda it: {"x": it},
    memmap_in_partial=lambda it: functools.partial(print, it),
    memmap_in_closure=lambda it: lambda: it,
    memmap_in_generator=lambda it: _generator(it),  # noqa: PLW0108 -- it stands below
    memmap_in_dataset=lambda it: torch.utils.data.TensorDataset(torch.from_numpy(it)),
    memmap_in_loader=torch.utils.data.DataLoader,
    memmap_in_deque=lambda it: collections.deque([it]),
    memmap_in_namespace=lambda it: types.SimpleNamespace(data=it),
    memmap_flat=lambda it: it.flat,
)
def _plain() -> Lost:
    return _memmap("c")


def _generator(held: Any) -> Any:
    yield
    return held


@maker
def memmap_read_only() -> Lost:
    """As data sets are opened."""
    return _memmap("r")


@maker
def memmap_written() -> Lost:
    """As results are written."""
    return _memmap("r+")


@maker
def memmap_fortran() -> Lost:
    """Column by column."""
    path = file_of(numbers().tobytes())
    return np.memmap(path, "f8", "r", shape=(128, COUNT // 128), order="F"), shrinks(path)


@maker
def memmap_large() -> Lost:
    """More than is read at a time, and only its end is lost."""
    path = file_of(numbers(count=4 * 2**20).tobytes())
    return np.memmap(path, "f8", "r"), shrinks(path, 2**24)


@maker
def loaded_mapped() -> Lost:
    """``np.load`` with ``mmap_mode``."""
    descriptor, path = tempfile.mkstemp(".npy", PREFIX)
    os.close(descriptor)
    np.save(path, numbers())
    return np.load(path, mmap_mode="r"), shrinks(path)


_PAIR = np.dtype([("a", "i4"), ("b", "f4")])


@each(
    structured=lambda it: it,
    structured_field=lambda it: it["b"],
    structured_record=lambda it: it[20000],
    structured_recarray=lambda it: it.view(np.recarray),
)
def _structured() -> Lost:
    value, lose = _memmap()
    return value.view(_PAIR), lose


def _shared() -> tuple[Any, Callable[[], object]]:
    shared = shared_memory.SharedMemory(create=True, size=8 * COUNT)

    def lose() -> None:
        shared.close()
        shared.unlink()

    return shared, lose


@maker
def over_closed_shared_memory() -> Lost:
    """An array does not keep the buffer from being closed."""
    shared, lose = _shared()
    value = np.ndarray(COUNT, "f8", shared.buf)
    value[:] = numbers()
    return value, lose


@maker
def over_shrunk_shared_memory() -> Lost:
    """An array keeps the buffer from being closed here, but no one keeps its file."""
    shared, _ = _shared()

    def lose() -> None:
        os.truncate(f"/dev/shm/{shared.name}", 0)  # noqa: S108 -- where the system has it
        shared.unlink()

    return np.frombuffer(shared.buf, "f8"), lose


@maker
def over_cleared_bytearray() -> Lost:
    """An array does not keep it from being made shorter either."""
    held = bytearray(8 * LARGE)
    return np.ndarray(LARGE, "f8", held), held.clear


@maker
def over_closed_map() -> Lost:
    """A memory map that numpy does not keep open."""
    mapped = mmap.mmap(-1, 8 * COUNT)
    return np.ndarray(COUNT, "f8", mapped), mapped.close


@maker
def over_shrunk_map() -> Lost:
    """A memory map of a file, by way of ``frombuffer``."""
    path = file_of(numbers().tobytes())
    with open(path, "r+b") as file:  # noqa: PTH123 -- a descriptor is wanted
        mapped = mmap.mmap(file.fileno(), 0)
    return np.frombuffer(mapped, "f8"), shrinks(path)


@maker
def over_pointer() -> Lost:
    """A pointer of C's."""
    address, lose = pages()
    pointer = ctypes.cast(address, ctypes.POINTER(ctypes.c_double))
    return np.ctypeslib.as_array(pointer, (COUNT,)), lose


@maker
def over_protected_pages() -> Lost:
    """The memory is there, and must not be read."""
    address, _ = pages()
    return np.asarray(Pointing(address)), functools.partial(
        _libc.mprotect, address, 8 * COUNT, mmap.PROT_READ & 0
    )


@each(
    over_interface=lambda it: it,
    over_interface_strided=lambda it: it[1::2],
    over_interface_in_series=lambda it: pd.Series(it, copy=False),
    over_interface_in_tensor=torch.from_numpy,
    over_interface_by_dlpack=torch.from_dlpack,
    over_interface_viewed=memoryview,
)
def _interface() -> Lost:
    address, lose = pages()
    return np.asarray(Pointing(address)), lose


@maker
def beyond_its_base() -> Lost:
    """Strides lead out of the memory that numpy allocated."""
    return as_strided(np.ones(4), (2**36,), (8,)), int


@maker
def beyond_its_base_sparsely() -> Lost:
    """Few elements, far apart."""
    return as_strided(np.ones(4), (64,), (2**33,)), int


@maker
def view_of_shortened() -> Lost:
    """The memory of the array that it looks at was made smaller."""
    owner = np.ones(LARGE)
    return owner[16:], functools.partial(owner.resize, 1, refcheck=False)


@maker
def view_of_shortened_by_one_dimension_more() -> Lost:
    """Views of views look at the same owner."""
    owner = np.ones(LARGE)
    return owner.reshape(-1, 1024)[3:], functools.partial(owner.resize, 1, refcheck=False)


# --------------------------------------------------------------------------------------------------
# torch


@each(
    from_file=lambda it: it,
    from_file_to_numpy=lambda it: it.numpy(),
    from_file_by_dlpack=np.from_dlpack,
    from_file_strided=lambda it: it[::3],
    from_file_transposed=lambda it: it.reshape(128, -1).t(),
    from_file_scalar=lambda it: it[20000],
    from_file_short=lambda it: it[20000:20010],
    from_file_expanded=lambda it: it[20000].expand(4, 4),
    from_file_complex=lambda it: it.view(torch.complex128),
    from_file_conjugated=lambda it: it.view(torch.complex128).conj(),
    from_file_negated=lambda it: it.view(torch.complex128).conj().imag,
    from_file_storage=lambda it: it.untyped_storage(),
    from_file_typed_storage=lambda it: it.storage(),
    from_file_sparse=lambda it: torch.sparse_coo_tensor(
        torch.arange(COUNT)[None], it, check_invariants=False
    ),
    from_file_csr=lambda it: torch.sparse_csr_tensor(
        torch.arange(0, COUNT + 1, 128), torch.arange(128).repeat(COUNT // 128), it
    ),
    from_file_nested=lambda it: torch.nested.nested_tensor_from_jagged(
        it.reshape(-1, 8), torch.tensor([0, 100, COUNT // 8])
    ),
    from_file_parameter=torch.nn.Parameter,
    from_file_subclass=lambda it: it.as_subclass(type("Mine", (torch.Tensor,), {})),
)
def _from_file() -> Lost:
    path = file_of(numbers().tobytes())
    return torch.from_file(path, size=COUNT, dtype=torch.float64), shrinks(path)


@maker
def from_file_shared() -> Lost:
    """Writes go to the file."""
    path = file_of(numbers().tobytes())
    value = torch.from_file(path, shared=True, size=COUNT, dtype=torch.float64)
    return value, shrinks(path)


@maker
def from_memmap() -> Lost:
    """``torch.from_numpy`` of a memory map."""
    value, lose = _memmap("r+")
    return torch.from_numpy(value), lose


@maker
def from_memmap_large() -> Lost:
    """Large enough to be remembered, and only its end is lost."""
    path = file_of(numbers(count=4 * 2**20).tobytes())
    return torch.from_numpy(np.memmap(path, "f8", "r+")), shrinks(path, 2**24)


@maker
def from_closed_shared_memory() -> Lost:
    """``torch.frombuffer`` does not keep it open."""
    shared, lose = _shared()
    return torch.frombuffer(shared.buf, dtype=torch.float64), lose


@each(
    loaded_tensor=lambda it: it["weight"],
    loaded_dictionary=lambda it: it,
    loaded_module=lambda it: _loaded(it),  # noqa: PLW0108 -- it stands below
)
def _load() -> Lost:
    descriptor, path = tempfile.mkstemp(".pt", PREFIX)
    os.close(descriptor)
    torch.save({"weight": torch.randn(128, 256), "bias": torch.randn(128)}, path)
    return torch.load(path, mmap=True), shrinks(path)


def _loaded(state: Any) -> torch.nn.Module:
    model = torch.nn.Linear(256, 128)
    model.load_state_dict(state, assign=True)
    return model


@maker
def tensor_with_lost_gradient() -> Lost:
    """Its own memory is torch's."""
    grad, lose = _from_file()
    value = torch.zeros(COUNT, dtype=torch.float64, requires_grad=True)
    value.grad = grad
    return value, lose


@maker
def optimizer_with_lost_rate() -> Lost:
    """A learning rate may be a tensor."""
    rate, lose = _from_file()
    rate = rate[20000]
    return torch.optim.Adam([torch.nn.Parameter(torch.ones(3))], lr=rate, capturable=True), lose


@maker
def quantized_with_lost_scales() -> Lost:
    """What the elements are multiplied with is in its own tensor."""
    scales, lose = _from_file()
    plain = torch.ones(COUNT, 2)
    points = torch.zeros(COUNT, dtype=torch.int64)
    return torch.quantize_per_channel(plain, scales, points, 0, torch.qint8), lose


# Kept alive, because torch would write its reference count to the lost memory.
_KEPT: list[object] = []


@maker
def shared_between_processes() -> Lost:
    """``share_memory_``, by a file that others can make shorter."""
    value = torch.arange(COUNT, dtype=torch.float64)
    _, name, _ = value.untyped_storage()._share_filename_cpu_()
    _KEPT.append(value)
    return value, shrinks(f"/dev/shm{name.decode()}")  # noqa: S108 -- as above


# --------------------------------------------------------------------------------------------------
# Python


@each(
    mapped_file=lambda it: it,
    mapped_file_viewed=memoryview,
    mapped_file_viewed_strided=lambda it: memoryview(it)[::3],
    mapped_file_viewed_as_numbers=lambda it: memoryview(it).cast("d", (128, COUNT // 128)),
)
def _mapped() -> Lost:
    path = file_of(numbers().tobytes())
    with open(path, "r+b") as file:  # noqa: PTH123 -- a descriptor is wanted
        return mmap.mmap(file.fileno(), 0), shrinks(path)


@maker
def image_over_array() -> Lost:
    """An image of Pillow, and the file of the array that it was made from."""
    path = file_of(bytes(256 * 256))
    return Image.fromarray(np.memmap(path, np.uint8, "r", shape=(256, 256))), shrinks(path)


@maker
def polars_over_array() -> Lost:
    """A table of Polars that was made from an array in a file."""
    import polars as pl

    path = file_of(numbers())
    return pl.DataFrame({"a": np.memmap(path, "f8", "r")}), shrinks(path)


@maker
def polars_over_closed_shared_memory() -> Lost:
    """A column of Polars that was made from an array."""
    import polars as pl

    shared, lose = _shared()
    value = np.ndarray(COUNT, "f8", shared.buf)
    value[:] = numbers()
    return pl.Series(value), lose


@maker
def polars_file() -> Lost:
    """A table of Polars in a file that it has mapped."""
    import polars as pl

    path = file_of(b"")
    pl.DataFrame({"a": [f"a text that is long: {each}" for each in range(COUNT)]}).write_ipc(path)
    table = pa.ipc.open_file(pa.memory_map(path)).read_all()
    return pl.from_arrow(table), shrinks(path)


@maker
def image_file() -> Lost:
    """Pillow maps what is not compressed."""
    descriptor, path = tempfile.mkstemp(".bmp", PREFIX)
    os.close(descriptor)
    Image.new("L", (512, 512)).save(path)
    image = Image.open(path)
    image.load()
    return image, shrinks(path)


class Pair(ctypes.Structure):
    """Two numbers and many more."""

    _fields_ = [("a", ctypes.c_int), ("more", ctypes.c_double * 64)]


class Either(ctypes.Union):
    """One or the other."""

    _fields_ = [("a", ctypes.c_int), ("b", ctypes.c_double)]


@each(
    ctypes_array=(ctypes.c_double * COUNT).from_address,
    ctypes_structure=Pair.from_address,
    ctypes_array_inside=lambda it: Pair.from_address(it).more,
    ctypes_union=Either.from_address,
    ctypes_number=ctypes.c_double.from_address,
    ctypes_viewed=lambda it: memoryview((ctypes.c_double * COUNT).from_address(it)),
    ctypes_to_numpy=lambda it: np.ctypeslib.as_array((ctypes.c_double * COUNT).from_address(it)),
)
def _pages() -> Lost:
    return pages()


@each(
    multiprocessing_raw=lambda it: it,
    multiprocessing_array=multiprocessing.sharedctypes.synchronized,
    multiprocessing_to_numpy=np.ctypeslib.as_array,
)
def _multiprocessing() -> Lost:
    value = multiprocessing.sharedctypes.RawArray("d", COUNT)
    (arena, _, _), _ = value._wrapper._state
    return value, functools.partial(os.ftruncate, arena.fd, 0)


# --------------------------------------------------------------------------------------------------
# pandas and Arrow


def _frame(it: Any) -> Any:
    return pd.DataFrame(it.reshape(-1, 4), columns=[*"abcd"], copy=False)


@each(
    frame=_frame,
    frame_column=lambda it: _frame(it)["b"],
    frame_labels=lambda it: pd.DataFrame(
        np.ones((2, 16)), columns=pd.Index(it[-16:], copy=False), copy=False
    ),
    series=lambda it: pd.Series(it, copy=False),
    series_short=lambda it: pd.Series(it[20000:20010], copy=False),
    index=lambda it: pd.Index(it, copy=False),
    dates=lambda it: pd.DatetimeIndex(it.view("M8[ns]"), copy=False),
    nullable=lambda it: pd.arrays.FloatingArray(it, np.zeros(COUNT, bool)),
)
def _pandas() -> Lost:
    return _memmap("c")


@maker
def categories() -> Lost:
    """The codes of a categorical."""
    path = file_of(bytes(COUNT))
    codes = np.memmap(path, "i1", "r+")
    dtype = pd.CategoricalDtype(["a", "b"])
    return pd.Categorical._simple_new(codes, dtype), shrinks(path)


def _table(source: str) -> Any:
    with pa.memory_map(source) as file:
        return pa.ipc.open_file(file).read_all()


@each(
    arrow_table=lambda it: it,
    arrow_column=lambda it: it.column(0),
    arrow_array=lambda it: it.column(0).chunk(0),
    arrow_texts=lambda it: it.column(1),
    arrow_series=lambda it: pd.Series(it.column(0), dtype=pd.ArrowDtype(pa.float64())),
    arrow_frame=lambda it: it.to_pandas(types_mapper=pd.ArrowDtype),
    arrow_to_numpy=lambda it: it.column(0).chunk(0).to_numpy(),
    arrow_buffer=lambda it: it.column(0).chunk(0).buffers()[1],
)
def _arrow() -> Lost:
    descriptor, path = tempfile.mkstemp(".arrow", PREFIX)
    os.close(descriptor)
    table = pa.table({"x": numbers(), "text": [str(item) for item in range(COUNT)]})
    with pa.OSFile(path, "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)
    return _table(path), shrinks(path)


def may_be_gone(value: Any) -> bool:
    """Return whether a value counts as lying in memory that may be gone."""
    if isinstance(value, torch.Tensor):
        return is_borrowed(value)
    return not owns_array(value)

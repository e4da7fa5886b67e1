"""The device a run computes on: its arrays, its kernels, its memory.

`active(run)` is what a door asks: None means the CPU. "cuda" says so in words where there is no GPU; "auto" takes one
where it is and the CPU otherwise.
"""

from __future__ import annotations

import logging
import re
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowfold._core.errors import InvalidInput, MemoryBudgetExceeded
from lowfold._core.extras import load_extra
from lowfold._core.memory import pretty_bytes
from lowfold._core.parallel import block_slices, run_blocks
from lowfold._core.run import Run

log = logging.getLogger("lowfold")

SOURCES = Path(__file__).parent / "kernels"
UNFUSED = frozenset({"search", "patches", "ranks"})  # sums with the bits of the CPU's loops: no fused multiply-add
DEFAULT_SHARED = 48 * 1024  # bytes a block has without asking
LARGE, PAGE = 2**25, 4096  # bytes of an array, and of a page of the system's memory
SHARE = 0.9  # of the device's free memory may go into one step
_SIGNATURE = re.compile(r'extern "C" __global__ void(?:\s+__launch_bounds__\([^)]*\))?\s+(\w+)\s*\(([^)]*)\)')
_SCALARS: dict[str, type[np.generic]] = {
    "int": np.int32,
    "long long": np.int64,
    "float": np.float32,
    "double": np.float64,
}

Array = Any  # an array of the device: cupy.ndarray, or numpy.ndarray under emulation
Launch = Callable[..., None]


@dataclass(frozen=True)
class Parameter:
    """One argument of a kernel: its name, its C type without `const`, whether it is an array."""

    name: str
    type: str
    array: bool


@cache
def signatures(source: str) -> dict[str, tuple[Parameter, ...]]:
    """The kernels of a source file and what they take."""
    text = (SOURCES / f"{source}.cu").read_text()
    return {name: tuple(_parameter(part) for part in given.split(",")) for name, given in _SIGNATURE.findall(text)}


def _parameter(text: str) -> Parameter:
    words = text.replace("*", " ").replace("const ", " ").replace("__restrict__", " ").split()
    return Parameter(words[-1], " ".join(words[:-1]), "*" in text)


def scalar(parameter: Parameter, value: Any) -> Any:
    """A number as the kernel's parameter wants it."""
    return _SCALARS[parameter.type](value)


@dataclass(eq=False)
class Device(ABC):
    """Arrays (`xp`), kernels and memory of one device. `CudaDevice` is a GPU; tests have an emulated one."""

    xp: Any
    name: str
    shared_bytes: int  # the most that a block may have
    _resident: dict[tuple[int, int, str], Any] = field(default_factory=dict)

    @abstractmethod
    def launch(self, source: str, kernel: str, grid: Sequence[int], block: int, *args: Any, shared: int = 0) -> None:
        """Run a kernel of `kernels/<source>.cu`; numbers are cast to what it declares."""

    @abstractmethod
    def free_bytes(self) -> int:
        """Memory that can still be taken."""

    def get(self, array: Array) -> NDArray[Any]:
        """A copy on the host."""
        return np.asarray(array)

    def upload(self, array: NDArray[Any]) -> Array:
        return self.xp.asarray(array)

    def put(self, array: NDArray[Any], dtype: Any = None) -> Array:
        """The array on the device; one that was made there, or came from there, is not sent again."""
        known = self._resident.get(_address(array)) if array.flags.c_contiguous else None
        sent = self.upload(np.ascontiguousarray(array)) if known is None else known.reshape(array.shape)
        return sent if dtype is None or sent.dtype == dtype else sent.astype(dtype)

    def keep(self, host: NDArray[Any], array: Array) -> None:
        """Remember that `array` holds what the read-only `host` holds, for as long as the host's memory lives."""
        owner: Any = host
        while isinstance(getattr(owner, "base", None), np.ndarray):
            owner = owner.base
        key = _address(host)
        self._resident[key] = array
        _holders[key] = self
        weakref.finalize(owner, self._resident.pop, key, None)
        weakref.finalize(owner, _holders.pop, key, None)

    def remembered(self, array: Array) -> NDArray[Any]:
        """A read-only copy on the host; the device keeps the original as long as the copy lives."""
        host = self.get(array)
        host = host.copy() if host is array else host  # an emulated device has the host's own arrays
        host.flags.writeable = False
        self.keep(host, array)
        return host

    def require(self, n_bytes: float, what: str, way_out: str) -> None:
        """Raise, before anything is allocated, when `what` does not fit on the device."""
        free = self.free_bytes()
        if n_bytes > SHARE * free:
            raise MemoryBudgetExceeded(
                f"{what} needs {pretty_bytes(n_bytes)} on the device, {pretty_bytes(free)} are free there; {way_out}, "
                "or compute on the CPU with lowfold.set_config(device='cpu')"
            )

    def has_room(self, n_bytes: float, stage: str) -> bool:
        """Whether a stage fits; that it goes to the CPU instead is said at debug level."""
        fits = n_bytes <= SHARE * self.free_bytes()
        if not fits:
            on_cpu(stage, f"it needs {pretty_bytes(n_bytes)} on the device")
        return fits


@contextmanager
def refusals_in_words() -> Iterator[None]:
    """What a device refuses to allocate, as the error that names the way out; CuPy's own names bytes alone."""
    try:
        yield
    except MemoryError as error:
        if type(error).__module__.partition(".")[0] != "cupy":
            raise
        raise MemoryBudgetExceeded(
            f"the device has no room left ({error}); use fewer rows, landmarks or float32, or compute on the CPU with "
            "lowfold.set_config(device='cpu')"
        ) from error


_holders: dict[tuple[int, int, str], Device] = {}  # which device keeps what the host has at an address


def holding(array: NDArray[Any]) -> Device | None:
    """The device that keeps this array, if one does: what follows from it can be made there."""
    return _holders.get(_address(array))


def kept_on_device(array: NDArray[Any]) -> Array:
    """What a device keeps of this array, or the array itself."""
    device = holding(array)
    return array if device is None else device.put(array)


def on_host(array: Array) -> NDArray[Any]:
    """An array of either side, on the host."""
    if isinstance(array, np.ndarray):
        return array
    host = np.empty(array.shape, array.dtype, order="C" if array.flags.c_contiguous else "F")
    if not (array.flags.c_contiguous or array.flags.f_contiguous):
        return np.asarray(array.get())
    _touched(host)
    return np.asarray(array.get(out=host))


def _touched(host: NDArray[Any]) -> None:
    """Have the system find the pages of a large array, several at a time: alone that takes longer than the copy."""
    if host.nbytes < LARGE:
        return
    pages = host.reshape(-1, order="A").view(np.uint8)[::PAGE]
    parts = block_slices(len(pages), LARGE // PAGE)

    def work(i: int) -> None:
        pages[parts[i]] = 0

    run_blocks(work, len(parts))


def _address(array: NDArray[Any]) -> tuple[int, int, str]:
    return array.ctypes.data, array.nbytes, array.dtype.str


class CudaDevice(Device):
    """A GPU, by CuPy; kernels are compiled by NVRTC at first use and kept in CuPy's cache."""

    def __init__(self) -> None:
        cupy = load_extra("cupy", "cuda13", "device='cuda'")  # cuda12 for a driver of that generation
        properties = cupy.cuda.runtime.getDeviceProperties(cupy.cuda.Device().id)
        super().__init__(cupy, properties["name"].decode(), int(properties["sharedMemPerBlockOptin"]))
        self._functions: dict[tuple[str, str], tuple[Any, tuple[Parameter, ...]]] = {}

    def launch(self, source: str, kernel: str, grid: Sequence[int], block: int, *args: Any, shared: int = 0) -> None:
        function, parameters = self._function(source, kernel)
        if shared > max(DEFAULT_SHARED, function.max_dynamic_shared_size_bytes):
            function.max_dynamic_shared_size_bytes = shared
        values = tuple(a if p.array else scalar(p, a) for p, a in zip(parameters, args, strict=True))
        function(tuple(int(g) for g in grid), (block,), values, shared_mem=shared)

    def _function(self, source: str, kernel: str) -> tuple[Any, tuple[Parameter, ...]]:
        known = self._functions.get((source, kernel))
        if known is None:
            known = _module(source, self.xp).get_function(kernel), signatures(source)[kernel]
            self._functions[source, kernel] = known
        return known

    def free_bytes(self) -> int:
        free, _ = self.xp.cuda.runtime.memGetInfo()
        pool = self.xp.get_default_memory_pool()
        return int(free) + int(pool.free_bytes())

    def get(self, array: Array) -> NDArray[Any]:
        return on_host(array)


@cache
def _module(source: str, cupy: Any) -> Any:
    text = (SOURCES / "common.cuh").read_text() + (SOURCES / f"{source}.cu").read_text()
    options = ("--std=c++17", "--fmad=false") if source in UNFUSED else ("--std=c++17",)
    return cupy.RawModule(code=text, options=options)


@cache
def open_cuda() -> Device:
    """The GPU of this process, or an error in words."""
    cupy = load_extra("cupy", "cuda13", "device='cuda'")
    try:
        count = int(cupy.cuda.runtime.getDeviceCount())
    except cupy.cuda.runtime.CUDARuntimeError as error:
        raise InvalidInput(f"device='cuda' needs an NVIDIA GPU and its driver ({error}); use device='cpu'") from error
    if count == 0:
        raise InvalidInput("device='cuda' needs an NVIDIA GPU, and none was found; use device='cpu'")
    device = CudaDevice()
    log.info("computing on %s", device.name)
    return device


@cache
def _any_cuda() -> Device | None:
    try:
        return open_cuda()
    except (ImportError, ValueError) as error:
        log.debug("device='auto' computes on the CPU: %s", error)
        return None


def active(run: Run) -> Device | None:
    """The device of a run, None for the CPU."""
    if run.device == "cpu":
        return None
    return open_cuda() if run.device == "cuda" else _any_cuda()


def on_cpu(stage: str, why: str) -> None:
    """Say that a stage has no twin on the device, once for every call, at debug level."""
    log.debug("%s is computed on the CPU: %s", stage, why)


def without_twin(run: Run, stage: str, why: str) -> None:
    """The same for a stage of a run that has a device."""
    if active(run) is not None:
        on_cpu(stage, why)


def arrived(X: Any) -> tuple[Any, Callable[[NDArray[Any]], Any]]:
    """X as the host sees it, and what turns a result into the kind of array that X was.

    A CuPy array or a torch tensor on a GPU is copied to the host once, because a fitted model keeps its points there;
    the computation uses the original. Anything else is returned as it is.
    """
    if not _lives_on_gpu(X):
        return X, lambda result: result
    device = open_cuda()
    cupy = device.xp
    array = cupy.ascontiguousarray(cupy.from_dlpack(X))
    host = device.get(array)
    host.flags.writeable = False
    device.keep(host, array)
    return host, departing(X, cupy)


def departing(X: Any, cupy: Any) -> Callable[[NDArray[Any]], Any]:
    """What makes of a NumPy result an array of X's library on X's device."""
    if type(X).__module__.partition(".")[0] == "torch":
        import importlib

        torch = importlib.import_module("torch")
        return lambda result: torch.from_dlpack(cupy.asarray(result)).to(X.device)
    back: Callable[[NDArray[Any]], Any] = cupy.asarray
    return back


def _lives_on_gpu(X: Any) -> bool:
    """DLPack's device types 2 and 13 are CUDA and managed CUDA memory."""
    ask = getattr(X, "__dlpack_device__", None)
    return not isinstance(X, np.ndarray) and ask is not None and ask()[0] in (2, 13)


__all__ = [
    "Array",
    "Device",
    "active",
    "arrived",
    "departing",
    "holding",
    "on_cpu",
    "open_cuda",
    "refusals_in_words",
    "without_twin",
]

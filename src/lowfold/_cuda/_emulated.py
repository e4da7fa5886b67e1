"""A device made of the CPU: the kernels' own sources compiled as C++, arrays by NumPy. For tests without a GPU."""

from __future__ import annotations

import ctypes
import hashlib
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lowfold._core.errors import MissingExtra
from lowfold._cuda._device import SOURCES, Device, Parameter, scalar, signatures

_C_TYPES: dict[str, Any] = {
    "int": ctypes.c_int,
    "long long": ctypes.c_longlong,
    "float": ctypes.c_float,
    "double": ctypes.c_double,
}
_ITEMS = {
    "int": (4, "i"),
    "long long": (8, "i"),
    "unsigned long long": (8, "u"),
    "signed char": (1, "ib"),
    "unsigned short": (2, "fu"),
    "float": (4, "f"),
    "float2": (4, "f"),
    "float4": (4, "f"),
    "double": (8, "f"),
}
# Threads of a block take turns by jumps between stacks, which the checks that some systems compile in (Ubuntu) take for
# an attack and end the process.
UNFORTIFIED = ("-U_FORTIFY_SOURCE",)
SANITIZED = ("-O1", "-fsanitize=address,undefined", "-fno-omit-frame-pointer", "-g")


def compiler() -> str | None:
    """The C++ compiler of this machine, if it has one."""
    return shutil.which("g++")


class EmulatedDevice(Device):
    """Every launch is checked: types of arrays, contiguity, barriers that all threads reach."""

    def __init__(self, folder: Path, *, options: Sequence[str] = (), shared_bytes: int = 227 * 1024) -> None:
        super().__init__(np, "emulation", shared_bytes)
        if compiler() is None:
            raise MissingExtra("the emulation of a device needs the C++ compiler g++, which is not installed")
        self.folder, self.options, self.bytes = folder, tuple(options), 2**31
        self._libraries: dict[str, ctypes.CDLL] = {}
        self.launches: set[str] = set()

    def free_bytes(self) -> int:
        return self.bytes

    def launch(self, source: str, kernel: str, grid: Sequence[int], block: int, *args: Any, shared: int = 0) -> None:
        if shared > self.shared_bytes:
            raise ValueError(f"{kernel} asks for {shared} bytes of shared memory, a block has {self.shared_bytes}")
        if min(grid) < 1 or (len(grid) > 1 and max(grid[1:]) > 65535):
            raise ValueError(f"{kernel}: a grid of {grid} blocks cannot be launched")
        parameters = signatures(source)[kernel]
        values = [_value(kernel, p, a) for p, a in zip(parameters, args, strict=True)]
        sizes = [ctypes.c_uint(int(v)) for v in (*grid, *(1,) * (3 - len(grid)), block)]
        self.launches.add(kernel)
        if getattr(self._library(source), f"launch_{kernel}")(*sizes, ctypes.c_ulong(shared), *values):
            raise RuntimeError(f"{kernel}: threads of a block wait for one another forever")

    def _library(self, source: str) -> ctypes.CDLL:
        if source not in self._libraries:
            self._libraries[source] = ctypes.CDLL(str(self._build(source)))
        return self._libraries[source]

    def _build(self, source: str) -> Path:
        text = f'#include "{SOURCES}/common.cuh"\n' + (SOURCES / f"{source}.cu").read_text() + _entries(source)
        options = (*self.options, *UNFORTIFIED)
        parts = [text, (SOURCES / "common.cuh").read_text(), (SOURCES / "emulate.h").read_text(), *options]
        name = f"{source}-{hashlib.sha256(''.join(parts).encode()).hexdigest()[:16]}"
        library = self.folder / f"{name}.so"
        if not library.exists():
            self.folder.mkdir(parents=True, exist_ok=True)
            # other processes may do the same at this moment: each has files of its own, and the last one named stays
            cpp = self.folder / f"{name}-{os.getpid()}.cpp"
            made = cpp.with_suffix(".made")
            cpp.write_text(text)
            flags = ["-O2", "-std=c++17", "-w", "-ffp-contract=off", "-shared", "-fPIC", "-DLOWFOLD_EMULATED"]
            plain = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}  # the sanitizer's
            command = [str(compiler()), *flags, *options, "-o", str(made), str(cpp)]
            subprocess.run(command, check=True, env=plain)
            made.replace(library)
            cpp.unlink()
        return library


def _entries(source: str) -> str:
    """One C function for every kernel: grid, block, bytes of shared memory, then the kernel's own arguments."""
    out = []
    for kernel, parameters in signatures(source).items():
        given = ", ".join(f"{p.type} {'*' if p.array else ''}{p.name}" for p in parameters)
        names = ", ".join(p.name for p in parameters)
        out.append(
            f'\nextern "C" int launch_{kernel}(unsigned gx_, unsigned gy_, unsigned gz_, unsigned bx_, '
            f"unsigned long bytes_, {given}) {{ return emulated::launch({{gx_, gy_, gz_}}, {{bx_, 1, 1}}, bytes_, "
            f"[=] {{ {kernel}({names}); }}); }}"
        )
    return "".join(out)


def _value(kernel: str, parameter: Parameter, value: Any) -> Any:
    if not parameter.array:
        return _C_TYPES[parameter.type](scalar(parameter, value).item())
    size, kinds = _ITEMS[parameter.type]
    if not isinstance(value, np.ndarray) or value.dtype.itemsize != size or value.dtype.kind not in kinds:
        raise TypeError(f"{kernel}: {parameter.name} is {parameter.type} *, got {getattr(value, 'dtype', value)}")
    if not value.flags.c_contiguous:
        raise TypeError(f"{kernel}: {parameter.name} is not contiguous")
    return ctypes.c_void_p(value.ctypes.data)

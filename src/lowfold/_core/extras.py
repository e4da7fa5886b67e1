"""Optional dependencies: loaded when used, with an error that names the extra."""

from __future__ import annotations

import importlib
from types import ModuleType

from lowfold._core.errors import MissingExtra


def load_extra(module: str, extra: str, purpose: str) -> ModuleType:
    """Import `module`, or say which extra brings it and what it was needed for."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingExtra(
            f"{purpose} needs the package {module.partition('.')[0]!r}, which is not installed; "
            f"install it with: pip install 'lowfold[{extra}]'"
        ) from error

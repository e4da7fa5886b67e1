"""The reference of public names: `__all__` of every folder, each name with its signature and its docstring."""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path
from typing import Any

from markup import body, docstring, escape, fenced, fields, paragraphs

import lowfold
from lowfold.methods.registry import BY_NAME

SECTIONS = ("Parameters", "Returns", "Attributes", "Raises", "Notes")


def _signature(obj: Any) -> str:
    """Names and defaults; annotations would fill the line and are in the source."""
    try:
        found = inspect.signature(obj)
    except (TypeError, ValueError):
        return "()"
    bare = [one.replace(annotation=inspect.Parameter.empty) for one in found.parameters.values()]
    return str(inspect.Signature(bare))


def _sections(doc: Any) -> list[str]:
    parts = []
    for name in SECTIONS:
        text = paragraphs("\n".join(doc[name])) if name == "Notes" else fields(doc, name)
        if text:
            parts.append(f"**{name}**\n\n{text}")
    if doc["Examples"]:
        parts.append(fenced("\n".join(doc["Examples"]), "python"))
    return parts


def _methods(cls: type) -> str:
    """Public methods that the class defines itself, each with its first line."""
    lines = []
    for name, value in vars(cls).items():
        doc = inspect.getdoc(getattr(value, "fget", None) or getattr(value, "__func__", value))
        if not name.startswith("_") and doc and (callable(value) or isinstance(value, (property, classmethod))):
            lines.append(f"`{name}`\n: {escape(' '.join(doc.partition(chr(10) * 2)[0].split()))}")
    return "**Methods**\n\n" + "\n\n".join(lines) if lines else ""


def entry(module: str, name: str, obj: Any) -> str:
    """One name as a directive that Sphinx can link to."""
    kind = "class" if inspect.isclass(obj) else "function" if callable(obj) else "data"
    if kind == "data":
        return f"::::{{py:data}} {module}.{name}\n\n{_data(obj)}\n::::"
    doc = docstring(obj)
    parts = [body(doc), *_sections(doc), _methods(obj) if inspect.isclass(obj) else ""]
    return f"::::{{py:{kind}}} {module}.{name}{_signature(obj)}\n\n" + "\n\n".join(filter(None, parts)) + "\n::::"


def _data(obj: Any) -> str:
    names = [str(key) for key in obj] if isinstance(obj, (dict, frozenset, set)) else []
    return f"{type(obj).__name__} of {len(obj)}" + (": " + ", ".join(f"`{name}`" for name in names) if names else ".")


def _page(folder: str) -> str:
    module = importlib.import_module(folder)
    return "\n\n".join(
        [
            f"# {folder}",
            paragraphs(module.__doc__ or ""),
            *(entry(folder, name, getattr(module, name)) for name in sorted(module.__all__, key=str.lower)),
        ]
    )


def _top() -> str:
    names = [name for name in lowfold.__all__ if name not in BY_NAME and name != "__version__"]
    return "\n\n".join(
        [
            "# lowfold",
            "The methods have [pages of their own](methods.md); they are all loaded as `lowfold.NAME`.",
            *(entry("lowfold", name, getattr(lowfold, name)) for name in names),
        ]
    )


def write(folder: Path) -> dict[str, str]:
    """The page of the top, one per folder, and their list."""
    folders = [f"lowfold.{name}" for name in lowfold._FOLDERS if hasattr(getattr(lowfold, name), "__all__")]
    names = "\n".join(["api_lowfold", *(f"api/{name}" for name in folders)])
    rows = "\n".join(f"- [{name}](api/{name}.md)" for name in folders)
    index = (
        "# Reference\n\nThe public names; everything else may change without a word. Parameters after the first are "
        f"given by name.\n\n- [lowfold](api_lowfold.md)\n{rows}\n\n```{{toctree}}\n:hidden:\n\n{names}\n```\n"
    )
    return {"api.md": index, "api_lowfold.md": _top(), **{f"api/{name}.md": _page(name) for name in folders}}

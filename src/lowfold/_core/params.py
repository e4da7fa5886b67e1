"""Parameters of an estimator, declared in one line each: name, type, default, limits and what it does.

    class LTSA(AlignmentMethod):
        include_self: bool = param(True, Flag(), "Whether a point belongs to its own patch.")

The constructor, `limits` and the section Parameters of the docstring are made from these lines. Those of a base class
are inherited; a subclass repeats only what is different: another default, other limits, or another text.
"""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, dataclass_transform

from lowfold._core.limits import Limit, Limits

SIMPLE = str | bool | int | float | None  # values that are told from others by how they are written
ALIKE = 0.8  # share of letters that two names have in common, beyond which one is a slip for the other
WIDTH = 116  # of the generated docstring: that of the source less its indentation


@dataclass(frozen=True)
class Param:
    """One parameter as declared; empty limits or text are those of the base class."""

    default: Any
    limits: tuple[Limit, ...]
    text: str
    annotation: str = "Any"
    positional: bool = False

    def kind(self) -> str:
        """The types that are allowed and the default, as a docstring names them."""
        kinds = [limit.kind() for limit in self.limits] or ["any"]
        every = " or ".join(filter(None, [", ".join(kinds[:-1]), kinds[-1]]))
        return f"{every}, default={self.default!r}".replace("'", '"')

    def over(self, base: Param | None) -> Param:
        """This declaration with what it leaves out taken from the base class's."""
        if base is None:
            return self
        return replace(
            self,
            limits=self.limits or base.limits,
            text=self.text or base.text,
            positional=self.positional or base.positional,
        )


@dataclass(frozen=True)
class _Fixed:
    """A parameter of the base class that a subclass has settled."""

    value: Any


def param(default: Any, *spec: Limit | str) -> Any:
    """Declare a keyword parameter: its default, the limits of its values, and a sentence."""
    text = " ".join(part for part in spec if isinstance(part, str))
    return Param(default, tuple(part for part in spec if not isinstance(part, str)), text)


def positional(*, default: Any, limits: tuple[Limit, ...] = (), text: str = "", kw_only: bool = False) -> Any:
    """Declare the parameter that may be given by place."""
    return Param(default, limits, text, positional=not kw_only)


def fixed(*, default: Any, init: bool = False) -> Any:
    """Settle a parameter of the base class: it is an attribute of the class and can no longer be passed."""
    return _Fixed(default)


@dataclass_transform(kw_only_default=True, eq_default=False, field_specifiers=(positional, fixed))
class Declared:
    """Base of classes whose constructor is made from their declared parameters."""

    declared: ClassVar[Mapping[str, Param | _Fixed]] = {}  # by the class itself
    parameters: ClassVar[Mapping[str, Param]] = {}  # of the constructor
    limits: ClassVar[Limits] = {}
    elsewhere: ClassVar[Mapping[str, str]] = {}  # parameters of another library -> what to write instead
    elsewhere_values: ClassVar[Mapping[tuple[str, Any], str]] = {}  # and values that parameters of the same name have
    elsewhere_order: ClassVar[Mapping[str, tuple[str, ...]]] = {}  # and by class, what its constructor took by place

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        types = vars(cls).get("__annotations__", {})
        own = {name: value for name, value in vars(cls).items() if isinstance(value, (Param, _Fixed))}
        cls.declared = {
            name: replace(value, annotation=str(types.get(name, "Any"))) if isinstance(value, Param) else value
            for name, value in own.items()
        }
        for name, value in own.items():  # a class attribute as well: models saved before it existed have the default
            setattr(cls, name, value.value if isinstance(value, _Fixed) else value.default)
        written = _written(cls)
        cls.parameters = _merged(cls) if written is None else _signed(written, _merged(cls))
        cls.limits = {name: parameter.limits for name, parameter in cls.parameters.items()}
        if written is None:
            cls.__init__ = _constructor(cls)  # type: ignore[method-assign]
        if "__doc__" in vars(cls) and cls.__doc__:
            cls.__doc__ = _documented(inspect.cleandoc(cls.__doc__), cls.parameters)


def _merged(cls: type[Declared]) -> dict[str, Param]:
    """Positional parameters, then the class's own, then those of its bases from the nearest on.

    A parameter stands where it was declared first; the nearest declaration counts, and may settle it.
    """
    declared = [vars(base).get("declared", {}) for base in cls.__mro__]
    found: dict[str, Param] = {}
    for place, names in enumerate(declared):
        for name in names:
            chain = [other[name] for other in declared if name in other]
            if any(name in later for later in declared[place + 1 :]) or isinstance(chain[0], _Fixed):
                continue
            value: Param | None = None
            for part in reversed(chain):
                value = part.over(value) if isinstance(part, Param) else value
            if value is not None:
                found[name] = value
    return dict(sorted(found.items(), key=lambda item: not item[1].positional))


def _written(cls: type[Declared]) -> Callable[..., None] | None:
    """The constructor that a user's class, or one of its bases, wrote by hand, as classes of scikit-learn do."""
    found = next((vars(base)["__init__"] for base in cls.__mro__[:-1] if "__init__" in vars(base)), None)
    return None if found is None or hasattr(found, "__signature__") else found  # ours says its signature


def _signed(constructor: Callable[..., None], known: Mapping[str, Param]) -> dict[str, Param]:
    """The parameters that a constructor written by hand has; those that are known keep their limits."""
    signed = list(inspect.signature(constructor).parameters.values())[1:]
    named = [p for p in signed if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    return {p.name: replace(known.get(p.name, Param(None, (), "")), default=p.default) for p in named}


def _constructor(cls: type[Declared]) -> Callable[..., None]:
    kinds = {True: inspect.Parameter.POSITIONAL_OR_KEYWORD, False: inspect.Parameter.KEYWORD_ONLY}
    parameters = [
        inspect.Parameter(name, kinds[p.positional], default=p.default, annotation=p.annotation)
        for name, p in cls.parameters.items()
    ]
    itself = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
    signature = inspect.Signature([itself, *parameters], return_annotation="None")

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807 # this is the constructor
        try:
            bound = signature.bind(self, *args, **kwargs)
        except TypeError as error:
            known = foreign_words(cls, kwargs)
            if len(args) > 1 or "multiple values" in str(error):
                known += _by_place(cls, args)
            words = f"{cls.__name__}: {error}{known}"
            raise TypeError(f"{words}; its parameters are {', '.join(cls.parameters)}") from None
        for name, declared in cls.parameters.items():
            setattr(self, name, bound.arguments.get(name, declared.default))

    __init__.__signature__ = signature  # type: ignore[attr-defined]
    __init__.__qualname__ = f"{cls.__qualname__}.__init__"
    __init__.__module__ = cls.__module__
    return __init__


def foreign_words(cls: type[Declared], given: Mapping[str, Any]) -> str:
    """What to write for those names and values that are another library's; nothing for others."""
    unknown = {name: value for name, value in given.items() if name not in cls.parameters}
    told = {name: _foreign(cls, name, value) or _near(cls, name) for name, value in unknown.items()}
    refused = (_foreign_value(cls, name, value) for name, value in given.items() if name in cls.parameters)
    words = [*(f"for {name} use {words}" for name, words in told.items() if words), *filter(None, refused)]
    return "".join(f"; {word}" for word in words)


def _near(cls: type[Declared], name: str) -> str | None:
    """The parameter of nearly this spelling."""
    from difflib import get_close_matches

    near = get_close_matches(name, cls.parameters, n=1, cutoff=ALIKE)
    return f"{near[0]}=" if near else None


def _foreign_value(cls: type[Declared], name: str, value: Any) -> str | None:
    """What to write for a value that a parameter of the same name has in another library."""
    if not isinstance(value, SIMPLE) or any(limit.allows(value) for limit in cls.limits[name]):
        return None
    return cls.elsewhere_values.get((name, value))


def _by_place(cls: type[Declared], args: tuple[Any, ...]) -> str:
    """What may be given by place, and the names of what came, where another library's order is known."""
    order = cls.elsewhere_order.get(cls.__name__, ())
    named = [f"{name}={value!r}" for name, value in zip(order, args, strict=False) if isinstance(value, SIMPLE)]
    known = len(named) == len(args)
    written = f": in scikit-learn's order that is {', '.join(named)}" if known else ""
    return f"; only {next(iter(cls.parameters))} is given by place, the others by name{written}"


def _foreign(cls: type[Declared], name: str, value: Any) -> str | None:
    """What to write for a parameter of another library: for this value of it, of this class, or of any; None where the
    answer names a parameter that the class does not have.
    """
    ways = [f"{cls.__name__}.{name}", name]
    if isinstance(value, SIMPLE):
        ways = [f"{way}={value!r}" for way in ways] + ways
    told = next((cls.elsewhere[way] for way in ways if way in cls.elsewhere), None)
    bare = re.sub(r"\([^()]*\)", "", told or "")  # arguments of a function that the answer calls are its own
    return told if told is not None and set(re.findall(r"(\w+)=", bare)) <= set(cls.parameters) else None


def _documented(doc: str, parameters: Mapping[str, Param]) -> str:
    """The docstring with its section Parameters, before the first section that it has."""
    if not parameters:
        return doc
    section = "Parameters\n----------\n" + "\n".join(_entry(name, p) for name, p in parameters.items())
    for heading in ("\n\nAttributes\n---", "\n\nExamples\n---"):
        head, found, tail = doc.partition(heading)
        if found:
            return f"{head}\n\n{section}{found}{tail}"
    return f"{doc}\n\n{section}"


def _entry(name: str, declared: Param) -> str:
    body = textwrap.fill(declared.text, WIDTH, break_long_words=False, break_on_hyphens=False)
    return f"{name} : {declared.kind()}\n{textwrap.indent(body, '    ')}"

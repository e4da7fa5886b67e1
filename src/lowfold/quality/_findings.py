"""What a diagnosis is made of: one finding per question, with its figures and what they mean for the methods."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from lowfold._core.errors import InvalidInput
from lowfold._core.html import html_table

VERDICTS = ("yes", "no", "cannot tell")
WIDTH = 100
_GEODESIC = ("Isomap", "LandmarkIsomap", "KernelIsomap", "ConformalIsomap")
_ALIGNED = ("LTSA", "HessianLLE", "LLE", "ModifiedLLE")
# Question -> the methods that one of its answers speaks against.
DOUBTS: dict[str, tuple[str, ...]] = {
    "one piece": (*_GEODESIC, *_ALIGNED, "MVU", "LaplacianEigenmaps"),
    "linear": ("PCA", "LPP", "NPE", "LinearLTSA", "ClassicalMDS"),
    "shortcuts": (*_GEODESIC, "MVU", "LTSA", "HessianLLE"),
    "isometric": ("Isomap", "MVU", "HessianLLE"),
    "conformal": ("ConformalIsomap",),
    "convex": _GEODESIC,
    "closed": (*_ALIGNED, "Isomap", "MVU"),
    "with holes": _GEODESIC,
    "noisy": ("HessianLLE", "LTSA"),
    "enough samples": ("Isomap", "LandmarkIsomap", "LTSA", "HessianLLE", "MVU"),
    "even": ("LLE", "LaplacianEigenmaps"),
    "compact": ("LaplacianEigenmaps", "DiffusionMaps", "LLE", "ModifiedLLE"),
}


class Rule(NamedTuple):
    """One method and why it is, or is not, fit for the data."""

    method: str
    reason: str


@dataclass(frozen=True)
class Finding:
    """The answer to one question about the data.

    name       the question, as "linear" or "one piece"
    verdict    "yes", "no" or "cannot tell"
    value      the number that the verdict rests on; NaN where there is none
    saw        a sentence with the figures
    rules_in   methods that this speaks for, each with the reason
    rules_out  methods that this speaks against, each with the reason
    advice     what to do about it; "" where there is nothing to do
    """

    name: str
    verdict: str
    value: float
    saw: str
    rules_in: tuple[Rule, ...] = ()
    rules_out: tuple[Rule, ...] = ()
    advice: str = ""

    def __post_init__(self) -> None:
        if self.verdict not in VERDICTS:
            raise InvalidInput(f"verdict must be one of {', '.join(VERDICTS)}; got {self.verdict!r}")

    def __repr__(self) -> str:
        lines = [f"{self.name}: {self.verdict}", *_wrapped(self.saw)]
        for word, rules in (("for", self.rules_in), ("against", self.rules_out)):
            for reason, names in _by_reason(rules).items():
                lines += _wrapped(f"{word} {', '.join(names)}: {reason}")
        if self.advice:
            lines += _wrapped(f"advice: {self.advice}")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON; NaN is None."""
        return {
            "name": self.name,
            "verdict": self.verdict,
            "value": None if self.value != self.value else float(self.value),
            "saw": self.saw,
            "rules_in": [rule._asdict() for rule in self.rules_in],
            "rules_out": [rule._asdict() for rule in self.rules_out],
            "advice": self.advice,
        }


@dataclass(frozen=True)
class Diagnosis:
    """Findings about one data set; `print` shows them as a page, `diagnosis["linear"]` is one of them.

    findings      in the order in which they should be read
    n_points      points given
    n_used        points looked at; fewer where a sample was taken
    n_neighbors   of the neighbourhood graph
    n_components  the dimension d that the findings take the manifold to have
    given         whether that dimension was given, or estimated here
    dimensions    the least and the most that it may be, where none stands out
    """

    findings: tuple[Finding, ...]
    n_points: int = 0
    n_used: int = 0
    n_neighbors: int = 0
    n_components: int = 0
    given: bool = False
    dimensions: tuple[int, int] = (0, 0)

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def __len__(self) -> int:
        return len(self.findings)

    def __getitem__(self, name: str) -> Finding:
        for finding in self.findings:
            if finding.name == name:
                return finding
        names = ", ".join(finding.name for finding in self.findings)
        raise InvalidInput(f"name must be one of {names}; got {name!r}")

    def rules(self) -> dict[str, tuple[list[str], list[str]]]:
        """For every method that is named: the reasons for it and the reasons against it."""
        found: dict[str, tuple[list[str], list[str]]] = {}
        for side in (0, 1):
            for finding in self.findings:
                for rule in (finding.rules_in, finding.rules_out)[side]:
                    found.setdefault(rule.method, ([], []))[side].append(f"{finding.name}: {rule.reason}")
        return found

    @property
    def cleared(self) -> tuple[str, ...]:
        """Methods with something for them, nothing against them, and most of what could be against them answered."""
        told = {finding.name for finding in self.findings if finding.verdict != "cannot tell"}
        return tuple(name for name, (_, against) in self.rules().items() if not against and _known(name, told))

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {
            "n_points": self.n_points,
            "n_used": self.n_used,
            "n_neighbors": self.n_neighbors,
            "n_components": self.n_components,
            "n_components_given": self.given,
            "cleared": list(self.cleared),
            "findings": [finding.to_dict() for finding in self.findings],
        }

    def _repr_html_(self) -> str:
        rows = [
            (one.name, one.verdict, one.saw, _reasons(one.rules_in), _reasons(one.rules_out), one.advice)
            for one in self
        ]
        header = ("question", "answer", "seen", "speaks for", "speaks against", "advice")
        return html_table(header, rows, title=self._head(), notes=_summary(self).splitlines()[1:])

    def __repr__(self) -> str:
        return "\n\n".join([self._head(), *(str(finding) for finding in self.findings), _summary(self)])

    def _head(self) -> str:
        sample = "" if self.n_used == self.n_points else f", of which a random sample of {self.n_used} was looked at"
        low, high = self.dimensions
        known = "given" if self.given else "estimated" if low == high else f"of {low} to {high}, none stands out"
        return f"{self.n_points} points{sample}; {self.n_neighbors} neighbours; dimension {self.n_components} ({known})"


def rules_for(names: Sequence[str], reason: str) -> tuple[Rule, ...]:
    """One reason for several methods."""
    return tuple(Rule(name, reason) for name in names)


def judge(value: float, low: float, high: float) -> str:
    """A verdict: "yes" up to `low`, "no" from `high` on, "cannot tell" between them."""
    return "cannot tell" if value != value or low < value < high else "yes" if value <= low else "no"


def unknown(name: str, why: str) -> Finding:
    """A question that cannot be answered."""
    return Finding(name, "cannot tell", float("nan"), why)


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent="  ", subsequent_indent="    ", break_long_words=False)


def _reasons(rules: tuple[Rule, ...]) -> str:
    """One line for each reason, the methods first."""
    return "\n".join(f"{', '.join(names)}: {reason}" for reason, names in _by_reason(rules).items())


def _by_reason(rules: tuple[Rule, ...]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for rule in rules:
        found.setdefault(rule.reason, []).append(rule.method)
    return found


def _known(method: str, told: set[str]) -> bool:
    """Whether more than half of the questions that could speak against a method were answered; of all, where none."""
    asked = [question for question, names in DOUBTS.items() if method in names] or list(DOUBTS)
    return 2 * sum(question in told for question in asked) > len(asked)


def _summary(found: Diagnosis) -> str:
    """The methods that are cleared, those of which too little is known, and the others by what is against them."""
    rules, cleared = found.rules(), found.cleared
    open_ = [name for name, (_, against) in rules.items() if not against and name not in cleared]
    lines = ["in short"]
    if cleared:
        lines += _wrapped(f"nothing against {', '.join(cleared)}")
    if open_:
        lines += _wrapped(
            f"too little known of {', '.join(open_)}: most questions that could be against them have no answer; "
            "lowfold.compare tries them"
        )
    grouped: dict[str, list[str]] = {}
    for name, (_, against) in rules.items():
        if against:
            grouped.setdefault(", ".join(dict.fromkeys(reason.partition(":")[0] for reason in against)), []).append(
                name
            )
    for findings, names in grouped.items():
        lines += _wrapped(f"against {', '.join(names)}: {findings}")
    return "\n".join(lines)

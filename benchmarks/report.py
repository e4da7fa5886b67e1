"""From rows of results to words: one line per row, targets met or missed, growth over n, a Markdown page."""

from __future__ import annotations

import math
import os
import platform
import time
from importlib.metadata import PackageNotFoundError, version
from itertools import pairwise
from pathlib import Path
from typing import Any

from harness import THREADS, Case

PACKAGES = ("lowfold", "numpy", "scipy", "scikit-learn", "numba", "tapkee", "pyamg")

Row = dict[str, Any]


def describe_machine(start: float, *, quick: bool) -> dict[str, Any]:
    """Date, versions, processor and load: what a number is worth without."""
    versions = {}
    for name in PACKAGES:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            versions[name] = "not installed"
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    return {
        "date": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(start)),
        "seconds": round(time.time() - start),
        "quick": quick,
        "python": platform.python_version(),
        "machine": f"{_processor()}, {os.cpu_count()} cores, {platform.system()}",
        "load_at_end": load,
        "threads": THREADS,
        "versions": versions,
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())


def quality_words(quality: dict[str, float]) -> str:
    return ", ".join(f"{name} {value:.3g}" for name, value in quality.items())


def ratio_words(row: Row) -> str:
    """How many times our wall time this side took."""
    if row.get("ratio") is not None:
        return f"{row['ratio']:.2f}x"
    return f">{row['ratio_at_least']:.0f}x" if "ratio_at_least" in row else ""


def row_line(row: Row) -> str:
    if row["status"] != "ok":
        return f"{row['side']:18s} {row['status']} {ratio_words(row)}".rstrip()
    return (
        f"{row['side']:18s} {row['wall']:8.2f} s  cpu {row['cpu']:8.2f} s  peak {row['peak'] / 1e6:7.0f} MB  "
        f"{ratio_words(row):>8s}  {quality_words(row['quality'])}"
    ).rstrip()


def verdict(case: Case, rows: list[Row]) -> list[str]:
    """One line per part of the target: met or missed, with the number."""
    target, ours = case.target, rows[0]
    if ours["status"] != "ok":
        return [f"missed: lowfold {ours['status']}"] if target != type(target)() else []
    lines = []
    if target.speedup is not None:
        for row in rows[1:]:
            if target.over and row["side"] not in target.over:
                continue
            ratio = row.get("ratio") or row.get("ratio_at_least")
            if ratio is not None:
                lines.append(
                    f"{_met(ratio >= target.speedup)}: {ratio:.2f}x faster than {row['side']} ({target.speedup:g}x)"
                )
    if target.memory is not None:
        peak = ours["peak"] / 1e9
        lines.append(f"{_met(ours['peak'] <= target.memory)}: peak {peak:.2f} GB (at most {target.memory / 1e9:g} GB)")
    numbers = {**ours["quality"], "wall": ours["wall"]}
    for name, limit in target.at_most.items():
        lines.append(f"{_met(numbers[name] <= limit)}: {name} {numbers[name]:.3g} (at most {limit:g})")
    for name, limit in target.at_least.items():
        lines.append(f"{_met(numbers[name] >= limit - 1e-12)}: {name} {numbers[name]:.6g} (at least {limit:g})")
    return lines


def _met(yes: bool) -> str:
    return "met" if yes else "missed"


def growth(rows: list[Row]) -> list[tuple[str, str, int, int, float]]:
    """(group, side, n1, n2, p) with time ~ n^p between consecutive sizes of a group."""
    found = []
    done = [row for row in rows if row["status"] == "ok"]
    for group in dict.fromkeys(row["group"] for row in done):
        for side in dict.fromkeys(row["side"] for row in done if row["group"] == group):
            line = sorted((r["n"], r["wall"]) for r in done if r["group"] == group and r["side"] == side)
            for (n1, t1), (n2, t2) in pairwise(line):
                if n2 > n1:
                    found.append((group, side, n1, n2, math.log(t2 / t1) / math.log(n2 / n1)))
    return found


def markdown(about: dict[str, Any], cases: list[Case], rows: list[Row], verdicts: dict[str, list[str]]) -> str:
    """The page: machine, one table per case with its targets, growth."""
    packages = ", ".join(f"{name} {number}" for name, number in about["versions"].items())
    page = [
        "# Benchmarks",
        "",
        f"{about['date']}, {about['machine']}, {about['threads']} threads for every side.",
        f"Python {about['python']}, {packages}.",
        "",
        "One process per measurement. Each process first makes the same call on a small set, so that imports and",
        "compiling are not counted. Best wall time of the repeats; CPU time and peak memory (whole process, data",
        "included) of that run. The ratio is the side's wall time over lowfold's.",
    ]
    if about["quick"]:
        page += ["", "**Quick run: tiny sizes, the numbers mean nothing.**"]
    for case in cases:
        page += ["", f"## {case.name}", ""]
        if case.note:
            page += [f"{case.note[0].upper()}{case.note[1:]}.", ""]
        page += ["| side | n | wall s | CPU s | peak MB | ratio | quality |", "|---|---|---|---|---|---|---|"]
        page += [_table_row(row) for row in rows if row["case"] == case.name]
        if verdicts.get(case.name):
            page += ["", *(f"- {line}" for line in verdicts[case.name])]
    if lines := growth(rows):
        page += ["", "## Growth", "", "| group | side | from n | to n | time grows as |", "|---|---|---|---|---|"]
        page += [f"| {group} | {side} | {n1} | {n2} | n^{p:.2f} |" for group, side, n1, n2, p in lines]
    return "\n".join(page) + "\n"


def _table_row(row: Row) -> str:
    if row["status"] != "ok":
        return f"| {row['side']} | {row['n']} | {row['status'].replace('|', '/')} | | | {ratio_words(row)} | |"
    return (
        f"| {row['side']} | {row['n']} | {row['wall']:.3g} | {row['cpu']:.3g} | {row['peak'] / 1e6:.0f} | "
        f"{ratio_words(row)} | {quality_words(row['quality'])} |"
    )

"""Time, memory and quality of lowfold and of the best other packages, one process per measurement.

    python benchmarks/run.py --out benchmarks/results
    python benchmarks/run.py --only 'isomap*' --quick

Both sides get two threads. Short cases are repeated, the sides in turn, and the best time counts; a side that fails,
runs out of time or is left out is a row too. Results go to results.json and results.md.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from harness import HERE, THREADS, Case, Side, load_cases
from report import describe_machine, markdown, row_line, verdict

LONG = 20.0  # seconds; a side that takes longer is measured once


def environment() -> dict[str, str]:
    """The same number of threads for every library that reads one of these."""
    names = ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "VECLIB_MAXIMUM", "NUMBA")
    return {**os.environ, **{f"{name}_NUM_THREADS": str(THREADS) for name in names}}


def measure(case: Case, side: Side, *, n: int, warm: int) -> dict[str, Any]:
    """One measurement in a fresh process; what went wrong is an answer too."""
    task = {
        "file": case.file,
        "data": case.data,
        "call": side.call,
        "check": case.check,
        "options": case.options,
        "n": n,
        "warm": warm,
    }
    command = [sys.executable, str(HERE / "measure.py"), json.dumps(task)]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=case.timeout, env=environment(), check=False
        )
    except subprocess.TimeoutExpired:
        return {"status": f"timeout after {case.timeout:g} s"}
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines()
        words = lines[-1] if lines else f"ended by signal {-done.returncode}"
        return {"status": f"failed: {words}"}
    return {"status": "ok", **json.loads(done.stdout.strip().splitlines()[-1])}


def run_case(case: Case, *, quick: bool, everything: bool, repeat: int | None = None) -> list[dict[str, Any]]:
    """All sides of one case, in turn, the best wall time of each; CPU time and memory belong to that run."""
    n = min(case.n, case.quick) if quick else case.n
    warm = min(case.warm, n)
    best: dict[str, dict[str, Any]] = {}
    for turn in range(repeat or (1 if quick else case.repeat)):
        for side in case.sides:
            if side.skip and not everything:
                best[side.name] = {"status": f"skipped: {side.skip}"}
                continue
            last = best.get(side.name)
            if turn > 0 and last is not None and (last["status"] != "ok" or last["wall"] > LONG):
                continue
            now = measure(case, side, n=n, warm=warm)
            said = f"{now['wall']:.2f} s" if now["status"] == "ok" else now["status"]
            print(f"  {side.name} {turn + 1}: {said}", file=sys.stderr, flush=True)
            walls = [*(last or {}).get("walls", []), *([now["wall"]] if now["status"] == "ok" else [])]
            if last is None or now["status"] != "ok" or now["wall"] < last["wall"]:
                best[side.name] = now
            best[side.name]["walls"] = walls
    ours = best[case.sides[0].name].get("wall")
    rows = []
    for side in case.sides:
        found = best[side.name]
        ratio = found["wall"] / ours if ours and "wall" in found else None
        if ours and found["status"].startswith("timeout"):
            found["ratio_at_least"] = case.timeout / ours
        rows.append({"case": case.name, "group": case.group, "n": n, "side": side.name, "ratio": ratio, **found})
    return rows


def choose(cases: list[Case], pattern: str | None) -> list[Case]:
    """Cases whose name or group matches; a bare word matches anywhere in the name."""
    if pattern is None:
        return cases
    glob = pattern if any(c in pattern for c in "*?[") else f"*{pattern}*"
    return [case for case in cases if fnmatch.fnmatch(case.name, glob) or case.group == pattern]


def parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Benchmarks of lowfold against other packages.")
    parser.add_argument("--out", type=Path, default=HERE / "results", help="folder of results.json and results.md")
    parser.add_argument("--only", metavar="PATTERN", help="cases whose name has this in it, a glob, or a group")
    parser.add_argument("--quick", action="store_true", help="tiny sizes, once: does everything still run?")
    parser.add_argument("--repeat", type=int, help="measurements of each side, instead of the case's own number")
    parser.add_argument("--all", action="store_true", dest="everything", help="also the sides left out by default")
    parser.add_argument("--large", action="store_true", help="also the cases of a million points")
    parser.add_argument("--list", action="store_true", help="the cases, nothing is run")
    parser.add_argument("--cases", type=Path, default=HERE, help="folder of cases_*.py")
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    args = parse(arguments)
    cases = choose(load_cases(args.cases), args.only)
    if not cases:
        print(f"no case matches {args.only!r}; --list shows them", file=sys.stderr)
        return 2
    if args.list:
        for case in cases:
            note = f"{case.note}{' (--large)' if case.large else ''}"
            print(f"{case.name:22s} n={case.n:<8d} {', '.join(side.name for side in case.sides)}  {note}".rstrip())
        return 0
    if args.only is None and not args.large:
        cases = [case for case in cases if not case.large]
    start = time.time()
    rows: list[dict[str, Any]] = []
    verdicts: dict[str, list[str]] = {}
    for case in cases:
        print(f"{case.name}{'  (' + case.note + ')' if case.note else ''}", flush=True)
        found = run_case(case, quick=args.quick, everything=args.everything, repeat=args.repeat)
        rows += found
        for row in found:
            print("  " + row_line(row), flush=True)
        verdicts[case.name] = [] if args.quick else verdict(case, found)
        for line in verdicts[case.name]:
            print(f"  {line}", flush=True)
    about = describe_machine(start, quick=args.quick)
    args.out.mkdir(parents=True, exist_ok=True)
    (args.out / "results.json").write_text(json.dumps({**about, "rows": rows, "targets": verdicts}, indent=1) + "\n")
    (args.out / "results.md").write_text(markdown(about, cases, rows, verdicts))
    print(f"{args.out / 'results.md'} and results.json, {time.time() - start:.0f} s", flush=True)
    ours = {case.name: case.sides[0].name for case in cases}
    return int(any(row["status"] != "ok" for row in rows if row["side"] == ours[row["case"]]))


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # an exception, so that the measuring process ends too
    sys.exit(main())

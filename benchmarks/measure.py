"""One measurement, in a process of its own: warm up on small data, time one call on the real data, judge the answer.

The warm-up runs the same call on `warm` points, so that imports, compiled code and first allocations are not counted.
Peak memory is read right after the call, before the answer is judged; it includes the interpreter, the packages and the
data. The result is one line of JSON on stdout.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
import warnings
from pathlib import Path
from typing import Any

from harness import THREADS, find, load_module


def hold_to_threads() -> None:
    """At most THREADS cores for this process, whatever a package thinks it may use."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:THREADS])


def peak_bytes() -> int:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak


def measure(task: dict[str, Any]) -> dict[str, Any]:
    """Times, memory and quality of one side of one case."""
    module = load_module(Path(task["file"]))
    import data as builders

    build, side, check = getattr(builders, task["data"]), find(module, task["call"]), find(module, task["check"])
    if task["warm"]:
        side(build(task["warm"], task["options"]))()
    data = build(task["n"], task["options"])
    call = side(data)
    before = peak_bytes()
    wall, cpu = time.perf_counter(), time.process_time()
    answer = call()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    peak = peak_bytes()
    return {"wall": wall, "cpu": cpu, "peak": peak, "before": before, "quality": check(data, answer)}


def main() -> None:
    hold_to_threads()
    warnings.simplefilter("ignore")
    print(json.dumps(measure(json.loads(sys.argv[1]))), flush=True)


if __name__ == "__main__":
    main()

"""The studio, measured: a million points in the browser, answers under load, stopping, and hundreds of runs.

    python -m benchmarks.studio --out benchmarks/results/studio    # everything but the long run
    python -m benchmarks.studio frames                             # one of frames, answers, stop, start
    python -m benchmarks.studio soak --runs 500                    # memory, files and processes over many runs

Chromium draws without a GPU. The machine should have nothing else to do: medians are told, and the load beside them.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import statistics
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.studio_frames import frames
from tests.browser.studio_page import Address, Page, opened, studio

Result = dict[str, Any]
BUSY = "SNE"  # descends for as long as it is let, on every core
REQUESTS = 400
LOCAL = ("LaplacianEigenmaps", "Isomap", "LTSA", "DiffusionMaps", "LLE")
QUICK = ("PCA", "ClassicalMDS", *LOCAL)  # methods of the long run
COLUMNS = ("runs", "server MB", "with workers MB", "processes", "files")
SIZES = (2000, 20_000, 200_000, 1_000_000)  # points, until a method runs long enough to be stopped
OWN_DATA = {"SupervisedLLE": "moons", "NMF": "digits"}  # classes; nothing below 0
RUNNING = 0.1  # seconds that a run is left alone after its first stage has begun, before it is stopped


class Client:
    """The studio as the page sees it, without a page."""

    def __init__(self, address: Address) -> None:
        self.root, self.process = address.partition("/?")[0], address.process
        self.cookie, self.number = _cookie(address), 0
        self.runs: dict[str, Any] = {}
        self.stopped: dict[str, float] = {}
        self.methods: list[Any] = []

    async def __aenter__(self) -> Client:
        import websockets

        headers = {"Cookie": self.cookie, "Origin": self.root}
        where = self.root.replace("http", "ws") + "/ws"
        self.socket = await websockets.connect(where, additional_headers=headers, max_size=None)
        while not any(method["controls"] for method in self.methods):
            self._take(json.loads(await self.socket.recv()))
        return self

    async def __aexit__(self, *reason: object) -> None:
        await self.socket.close()

    def _take(self, event: Any) -> Any:
        if event["say"] in ("hello", "methods"):
            self.methods = event["methods"]
        elif event["say"] == "ran":
            self.runs[event["run"]["id"]] = event["run"]
        return event

    async def ask(self, do: str, **fields: Any) -> Any:
        """The result of a command."""
        self.number += 1
        await self.socket.send(json.dumps({"do": do, "id": self.number, **fields}))
        while True:
            event = self._take(json.loads(await asyncio.wait_for(self.socket.recv(), 600)))
            if event.get("id") == self.number:
                if event["say"] == "refused":
                    raise RuntimeError(event["words"])
                return event["result"]

    async def until(self, true: Callable[[], Any]) -> None:
        """Listen until something is so."""
        while not true():
            self._take(json.loads(await asyncio.wait_for(self.socket.recv(), 600)))

    def get(self, path: str) -> bytes:
        """What is at a path."""
        request = urllib.request.Request(self.root + path, headers={"Cookie": self.cookie})
        with urllib.request.urlopen(request) as answer:
            return bytes(answer.read())

    async def start(self, method: str, **params: Any) -> str:
        """A run."""
        run = str((await self.ask("start", method=method, params=params))["run"])
        self.runs.setdefault(run, {"status": "waiting", "stages": [], "picture": [], "measured": None})
        return run

    async def measured(self, run: str) -> None:
        """Wait for a run that is done."""
        await self.until(lambda: self.runs[run]["measured"] or self.runs[run]["status"] in ("failed", "stopped"))
        assert self.runs[run]["status"] == "done", self.runs[run]["reason"]

    async def make(self, name: str, n: int) -> None:
        """A built-in set as the data."""
        await self.ask("open", name=name, n=n, noise=0.0, seed=0)


class _Stay(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *given: Any, **more: Any) -> None:
        return None


def _cookie(address: str) -> str:
    try:
        urllib.request.build_opener(_Stay).open(address)
    except urllib.error.HTTPError as answer:
        return str(answer.headers["set-cookie"]).partition(";")[0]
    raise RuntimeError("no cookie was given")


def talking(work: Callable[[Client], Any], *args: str) -> Any:
    """Work with a studio of its own."""

    async def main(address: Address) -> Any:
        async with Client(address) as client:
            return await work(client)

    with studio(*args) as address:
        return asyncio.run(main(address))


# Answers while the cores are busy -----------------------------------------------------------------------------------


async def _answers(client: Client) -> Result:
    await client.make("swiss_roll", 5000)
    data = json.loads(json.dumps(await client.ask("colour", name="x1")))["hash"]
    runs = [await client.start(BUSY, max_iter=1_000_000, perplexity=p) for p in (20, 40)]
    await client.until(lambda: all(client.runs[run]["stages"] or client.runs[run]["picture"] for run in runs))
    ways: dict[str, Callable[[], Any]] = {
        "a row": lambda: asyncio.to_thread(client.get, f"/item/1/{random.randrange(5000)}"),
        "a column": lambda: asyncio.to_thread(client.get, f"/col/{data}"),
        "a command": lambda: client.ask("colour", name="x1"),
        "neighbours of a point (a worker's answer)": lambda: client.ask("near", row=random.randrange(5000), k=10),
    }
    took: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(REQUESTS):
        for name, way in ways.items():
            begun = time.perf_counter()
            await way()
            took[name].append(1000 * (time.perf_counter() - begun))
    for run in runs:
        await client.ask("stop", what=run)
    told = {name: _spread(times) for name, times in took.items()}
    server = [t for name, times in took.items() if "worker" not in name for t in times]
    return {"answers": told, "answers of the server": _spread(server), "unit": "ms", "target": "99 of 100 within 50 ms"}


def _spread(times: list[float]) -> dict[str, float]:
    ordered = sorted(times)
    return {
        "median": round(statistics.median(ordered), 1),
        "99 of 100": round(ordered[int(0.99 * len(ordered))], 1),
        "most": round(ordered[-1], 1),
    }


# Stopping every method ----------------------------------------------------------------------------------------------


async def _stops(client: Client) -> Result:
    took: dict[str, Any] = {}
    made = ("", 0)
    for n in SIZES:
        for method in [one["name"] for one in client.methods if not one["unusable"] and one["name"] not in took]:
            wanted = (OWN_DATA.get(method, "swiss_roll"), n)
            if made != wanted:
                await client.make(*wanted)
                made = wanted
            found = await _stop(client, method)
            if found is not None:
                took[method] = {"points": n, "seconds": round(found, 3)}
                print(f"{method:28s} {n:9,} points, stopped in {found:.3f} s", flush=True)
    missing = [one["name"] for one in client.methods if not one["unusable"] and one["name"] not in took]
    return {"stopped": took, "not stopped": missing, "most": max(one["seconds"] for one in took.values())}


async def _stop(client: Client, method: str) -> float | None:
    """Seconds from the command until the run is stopped and its process is gone; None where it was done before."""
    before = _children(client.process.pid)
    run = await client.start(method)
    await client.until(lambda: client.runs[run]["stages"] or client.runs[run]["status"] not in ("waiting", "running"))
    with suppress(asyncio.TimeoutError):
        await asyncio.wait_for(client.until(lambda: client.runs[run]["status"] != "running"), RUNNING)
    seconds = None
    if client.runs[run]["status"] == "running":
        begun = time.perf_counter()
        await client.ask("stop", what=run)
        await client.until(lambda: client.runs[run]["status"] != "running")
        while before <= _children(client.process.pid):
            await asyncio.sleep(0.005)
        seconds = time.perf_counter() - begun
        assert client.runs[run]["status"] == "stopped", client.runs[run]
    elif client.runs[run]["status"] == "failed":
        print(f"{method}: {client.runs[run]['reason']}", flush=True)
    await client.ask("remove", run=run)
    return seconds


# Many runs ----------------------------------------------------------------------------------------------------------


def _children(pid: int) -> set[int]:
    """Processes below one, however deep."""
    parents = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            parents[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
    found, edge = set(), {pid}
    while edge:
        edge = {child for child, parent in parents.items() if parent in edge}
        found |= edge
    return found


def _held(pid: int) -> float:
    """Megabytes that a process holds."""
    with suppress(OSError):
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
    return 0.0


def _files(folder: Path) -> int:
    return sum(file.is_file() for file in folder.rglob("*"))


async def _soak(client: Client, runs: int, folder: Path) -> Result:
    draw, seen, begun = random.Random(0), [], time.time()
    await client.make("swiss_roll", 600)
    for number in range(1, runs + 1):
        method = draw.choice(QUICK)
        run = await client.start(method, **({"n_neighbors": draw.randint(8, 14)} if method in LOCAL else {}))
        await client.measured(run)
        await client.ask("near", row=draw.randrange(600), k=10)
        taken = await client.ask("export", what=draw.choice(["csv", "model"]), run=run, rows=[])
        assert client.get(taken["address"])
        await client.ask("remove", run=run)
        if number % 100 == 0:
            await client.ask("open", name="swiss_roll", n=600, noise=0.0, seed=number)
        if number % 25 == 0 or number == 1:
            children = _children(client.process.pid)
            mine = _held(client.process.pid)
            seen.append([number, round(mine), round(mine + sum(map(_held, children))), len(children), _files(folder)])
            print(f"{time.time() - begun:.0f} s: {dict(zip(COLUMNS, seen[-1]))}", flush=True)
    first, last = seen[2] if len(seen) > 3 else seen[0], seen[-1]
    return {
        "runs": runs, "seconds": round(time.time() - begun), "columns": COLUMNS, "seen": seen,
        "growth of the server": last[1] / first[1] - 1, "growth with workers": last[2] / first[2] - 1,
    }  # fmt: skip


def soak(runs: int) -> Result:
    """Memory, files and processes over many runs; `studio` itself asserts that no file stays behind."""
    with studio() as address:

        async def main() -> Result:
            async with Client(address) as client:
                return await _soak(client, runs, address.folder)

        found = asyncio.run(main())
        children = _children(address.process.pid)
    return {**found, "processes left": [pid for pid in children if Path(f"/proc/{pid}").exists()], "files left": 0}


# From the command to the first embedding ----------------------------------------------------------------------------


@contextmanager
def _roll() -> Iterator[str]:
    from lowfold.datasets import swiss_roll, write_table

    with tempfile.TemporaryDirectory() as folder:
        file = f"{folder}/roll.csv"
        write_table(file, swiss_roll(1000, random_state=0).X, ["x", "y", "z"])
        yield file


def start(repeats: int = 4) -> Result:
    """Seconds until `lowfold studio roll.csv` shows its first embedding to somebody who clicks at once."""
    took = []
    with _roll() as file:
        for _ in range(repeats):
            begun = time.perf_counter()
            with studio(file) as address:
                served = time.perf_counter()
                with opened(address) as page:
                    launched = time.perf_counter()
                    _first_embedding(page)
                    shown = time.perf_counter()
            parts = (shown - begun, served - begun, launched - served, shown - launched)
            took.append([round(part, 2) for part in parts])
            print("{} s: server {}, browser and page {}, from the page on {}".format(*took[-1]), flush=True)
    middle = [statistics.median(one[i] for one in took[1:]) for i in range(4)]
    return {"seconds": took, "medians of the warm ones": middle, "target": 6.0}


def _first_embedding(page: Page) -> None:
    page.until("document.querySelector('#what').textContent.includes('roll.csv')")
    page.page.click("#tab-method")
    page.page.wait_for_selector("#param-n_neighbors")
    page.page.click("#run")
    page.until("document.querySelector('figure.active canvas.base')?.width > 50")
    page.shows(page.runs()[0], above=200)


PARTS: dict[str, Callable[[], Result]] = {
    "frames": frames,
    "answers": lambda: talking(_answers),
    "stop": lambda: talking(_stops),
    "start": start,
}


def main() -> None:
    """Run the parts that are named, and write what was found."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("parts", nargs="*", choices=[*PARTS, "soak", []], help="all but soak where none is named")
    parser.add_argument("--runs", type=int, default=500, help="of soak")
    parser.add_argument("--out", type=Path, help="folder for the results")
    given = parser.parse_args()
    for name in given.parts or PARTS:
        before = os.getloadavg()[0]
        found = soak(given.runs) if name == "soak" else PARTS[name]()
        found = {**found, "load before": round(before, 1), "load after": round(os.getloadavg()[0], 1)}
        print(json.dumps({name: found}, indent=1, default=float), flush=True)
        if given.out:
            given.out.mkdir(parents=True, exist_ok=True)
            found |= {"python": sys.version.split()[0], "numpy": np.__version__}
            (given.out / f"{name}.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

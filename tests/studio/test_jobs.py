"""Jobs in processes: what they say, how they are stopped, and what is told when one dies."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from lowfold._core.processes import resident
from lowfold.studio import _jobs
from lowfold.studio._jobs import JobFailed, Pool

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform != "linux", reason="processes are watched in /proc")]
ROLL = {"kind": "set", "name": "swiss_roll", "n": 200, "noise": 0.0, "seed": 0}


def with_pool(folder: Path, work: Any, memory: int = 4 * 10**9) -> Any:
    """Run a coroutine with a pool; afterwards no process may be left."""

    async def main() -> Any:
        for name in ("col", "stages"):
            (folder / name).mkdir(exist_ok=True)
        pool = Pool(folder, memory)
        try:
            return await work(pool)
        finally:
            pids = [worker.process.pid for worker in pool.workers]
            await pool.close()
            assert not any(Path(f"/proc/{pid}").exists() for pid in pids)

    return asyncio.run(main())


def reading(folder: Path, **options: Any) -> dict[str, Any]:
    return {"do": "read", "source": {**ROLL, **options}, "folder": str(folder / "data"), "columns": str(folder / "col")}


def fitting(folder: Path, method: str, **params: Any) -> dict[str, Any]:
    where = {name: str(folder / name) for name in ("stages", "out")}
    return {"do": "fit", "folder": str(folder / "data"), "columns": str(folder / "col"), **where,
            "method": method, "params": params}  # fmt: skip


async def running(pool: Pool, job: Any) -> Any:
    """The worker of a job, once it has one."""
    while job.worker is None:
        await asyncio.sleep(0.02)
    return job.worker


def test_a_task_answers_and_the_next_one_has_the_same_process(tmp_path: Path) -> None:
    async def work(pool: Pool) -> None:
        heard: list[dict[str, Any]] = []
        first = pool.submit("data", reading(tmp_path))
        assert (await first.done)["shown"] == 200
        job = pool.submit("run", fitting(tmp_path, "Isomap", n_neighbors=8), hear=heard.append)
        found = await job.done
        assert found["facts"]["neighbors"] == 8
        assert {"neighbours", "geodesics"} <= {said["name"] for said in heard}
        with pytest.raises(JobFailed, match="must be an int of at least 1"):
            await pool.submit("bad", fitting(tmp_path, "Isomap", n_neighbors=0)).done
        assert sum(worker.lane == "work" for worker in pool.workers) == 1

    with_pool(tmp_path, work)


def test_stopping_ends_the_process_in_the_midst_of_a_stage(tmp_path: Path) -> None:
    async def work(pool: Pool) -> None:
        await pool.submit("data", reading(tmp_path, n=3000)).done
        begun = asyncio.Event()
        job = pool.submit("run", fitting(tmp_path, "SNE", max_iter=100000), hear=lambda said: begun.set())
        await begun.wait()
        worker = await running(pool, job)
        pool.stop(job)
        with pytest.raises(JobFailed, match="stopped"):
            await job.done
        assert await worker.process.wait() == -signal.SIGKILL
        assert (await pool.submit("data", reading(tmp_path)).done)["shown"] == 200  # another worker takes its place

    with_pool(tmp_path, work)


def test_an_answer_that_nobody_waits_for_does_not_cost_a_process(tmp_path: Path) -> None:
    async def work(pool: Pool) -> None:
        await pool.submit("data", reading(tmp_path)).done
        near = {"do": "near", "folder": str(tmp_path / "data"), "k": 3}
        first = pool.submit("near", {**near, "row": 1}, lane="ask")
        worker = await running(pool, first)
        pool.leave(first)
        with pytest.raises(JobFailed, match="stopped"):
            await first.done
        second = pool.submit("near", {**near, "row": 2}, lane="ask")
        assert len((await second.done)["rows"]) == 3
        assert second.worker is worker

    with_pool(tmp_path, work)


def test_a_killed_job_is_told(tmp_path: Path) -> None:
    async def work(pool: Pool) -> None:
        job = pool.submit("data", reading(tmp_path, n=500_000))
        worker = await running(pool, job)
        os.kill(worker.process.pid, signal.SIGKILL)
        with pytest.raises(JobFailed, match="ended by SIGKILL"):
            await job.done

    with_pool(tmp_path, work)


def test_one_process_answers_until_it_is_busy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def work(pool: Pool) -> None:
        monkeypatch.setattr(_jobs, "LENT", 1e6)
        await pool.submit("data", reading(tmp_path, n=3000)).done
        near = {"do": "near", "folder": str(tmp_path / "data"), "row": 1, "k": 5}
        await pool.submit("near", near, lane="ask").done
        assert [worker.lane for worker in pool.workers] == ["work"]
        monkeypatch.setattr(_jobs, "LENT", 0.1)
        long = pool.submit("run", fitting(tmp_path, "SNE", max_iter=100000))
        answer = await pool.submit("near", {**near, "row": 2}, lane="ask").done
        assert len(answer["rows"]) == 5
        assert not long.done.done()
        assert sorted(worker.lane for worker in pool.workers) == ["ask", "work"]

    with_pool(tmp_path, work)


def test_a_job_over_its_memory_is_ended_with_the_figure(tmp_path: Path) -> None:
    async def work(pool: Pool) -> None:
        await pool.submit("data", reading(tmp_path)).done
        pool.memory = resident(pool.workers[0].process.pid) + 20_000_000
        with pytest.raises(JobFailed, match=r"more than the .* allowed"):
            await pool.submit("data", reading(tmp_path, n=2_000_000)).done

    with_pool(tmp_path, work)


def test_a_job_that_hangs_is_told_and_can_be_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lowfold.studio._jobs.SILENT", 0.5)

    async def work(pool: Pool) -> None:
        silent: list[float] = []
        job = pool.submit("data", reading(tmp_path, n=500_000), silent=silent.append)
        worker = await running(pool, job)
        os.kill(worker.process.pid, signal.SIGSTOP)
        while not silent:
            await asyncio.sleep(0.05)
        pool.stop(job)
        with pytest.raises(JobFailed, match="stopped"):
            await job.done
        await worker.process.wait()

    with_pool(tmp_path, work)


def test_a_job_that_hangs_on_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lowfold.studio._jobs.SILENT", 0.2)
    monkeypatch.setattr("lowfold.studio._jobs.HANGING", 0.5)

    async def work(pool: Pool) -> None:
        job = pool.submit("data", reading(tmp_path, n=500_000))
        worker = await running(pool, job)
        os.kill(worker.process.pid, signal.SIGSTOP)
        with pytest.raises(JobFailed, match="had not computed"):
            await job.done
        await worker.process.wait()

    with_pool(tmp_path, work)

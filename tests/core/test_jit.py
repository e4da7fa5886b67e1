"""Ctrl-C while a loop is compiled."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from typing import Any

import pytest

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals are POSIX")


class PressesCtrlC:
    """Sends SIGINT in the middle of every compilation: at the start of a pass of the compiler."""

    def __init__(self) -> None:
        self.times = 0

    def notify(self, event: Any) -> None:
        if event.is_start and self.times == 0:
            self.times += 1
            signal.raise_signal(signal.SIGINT)


@pytest.fixture
def pressed() -> Iterator[PressesCtrlC]:
    from numba.core import event

    listener = PressesCtrlC()
    event.Listener.register(PressesCtrlC)
    event.register("numba:run_pass", listener)
    yield listener
    event.unregister("numba:run_pass", listener)


def test_it_is_heard_when_the_loop_is_whole(
    pressed: PressesCtrlC, heard: None, capsys: pytest.CaptureFixture[str]
) -> None:
    from lowfold._core.jit import compiled

    compiled("lowfold.graph._path_loops")  # whatever is compiled by lowfold listens from then on
    import numba

    @numba.njit  # type: ignore[untyped-decorator]
    def twice(x: int) -> int:
        return 2 * x

    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        twice(2)
    assert pressed.times == 1
    assert "stops when what is being compiled is done" in capsys.readouterr().err
    assert signal.getsignal(signal.SIGINT) is before
    assert len(twice.signatures) == 1  # made, not torn: the next call compiles nothing
    assert twice(3) == 6


def test_words_come_while_another_thread_compiles(capsys: pytest.CaptureFixture[str]) -> None:
    from lowfold._core.jit import _Clock, tell_compiling

    clock, begun, done = _Clock(), threading.Event(), threading.Event()

    def compile_something() -> None:
        clock.on_start(None)
        begun.set()
        done.wait(10)
        clock.on_end(None)

    with pytest.MonkeyPatch.context() as change:
        change.setattr("lowfold._core.jit._clock", clock)
        thread = threading.Thread(target=compile_something)
        thread.start()
        begun.wait(10)
        tell_compiling()
        assert "stops when what is being compiled is done" in capsys.readouterr().err
        done.set()
        thread.join()
        tell_compiling()
        assert capsys.readouterr().err == ""


def test_blocks_that_are_interrupted_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    from lowfold._core import parallel

    told = []
    monkeypatch.setattr(parallel, "tell_compiling", lambda: told.append(True))

    def work(i: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        parallel.run_blocks(work, 4, n_jobs=2)
    assert told == [True]


def test_a_program_that_ignores_ctrl_c_goes_on_ignoring_it(pressed: PressesCtrlC) -> None:
    import numba

    @numba.njit  # type: ignore[untyped-decorator]
    def thrice(x: int) -> int:
        return 3 * x

    former = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        assert thrice(2) == 6
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, former)

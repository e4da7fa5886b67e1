"""The one public function; it loads the server when it is called."""

from __future__ import annotations

from pathlib import Path

from lowfold._core.config import get_config, parse_bytes
from lowfold._core.errors import FileProblem, InvalidInput, LowfoldWarning
from lowfold._core.extras import load_extra
from lowfold._core.warn import warn

HOST = "127.0.0.1"


def studio(
    file: str | Path | None = None,
    *,
    host: str = HOST,
    port: int = 0,
    memory: int | float | str | None = None,
    open_browser: bool = True,
) -> None:
    """Open the studio in the browser and serve it until interrupted.

    Parameters
    ----------
    file : a table, an array, a cube, a folder of images or texts, or a saved session (.studio); None opens the
        playground with the built-in sets.
    host : address to listen on. Any but 127.0.0.1 lets other machines reach it, which is warned about.
    port : 0 takes a free one.
    memory : what one job may hold, as "4GB"; None is the budget of `lowfold.get_config`.
    open_browser : False only prints the address.
    """
    for module in ("starlette", "uvicorn", "websockets"):
        load_extra(module, "studio", "the studio")
    if file is not None and not Path(file).exists():
        raise FileProblem(f"{file}: there is no such file")
    if not 0 <= port <= 65535:
        raise InvalidInput(f"port must lie in 0..65535; got {port}")
    if host in ("", "0.0.0.0", "::"):
        raise InvalidInput(
            f"host must be the address by which the page is reached, which every request is held against; got {host!r}"
        )
    if host not in (HOST, "localhost"):
        warn(
            f"listening on {host}: whoever can reach this machine and learns the address with its token can read the "
            "data and start jobs, and nothing is encrypted on the way; an SSH tunnel to 127.0.0.1 is safer",
            LowfoldWarning,
        )
    from lowfold.studio._server import serve

    allowed = get_config().memory if memory is None else parse_bytes(memory)
    serve(None if file is None else str(file), host=host, port=port, memory=allowed, browser=open_browser)

"""A target for Atheris: `python tests/fuzz/fuzz_readers.py [corpus folder] [libFuzzer options]`.

The first byte chooses the kind of file, the rest is its content. Anything but a Table or a FileProblem is a finding.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

NAMES = ("t.csv", "t.tsv", "x.npy", "x.npz", "x.mat", "x.idx", "x.parquet", "cube.hdr")


def check(data: bytes) -> None:
    from lowfold._core.errors import FileProblem
    from lowfold.datasets._readers import read

    if not data:
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / NAMES[data[0] % len(NAMES)]
        path.write_bytes(data[1:])
        if path.suffix == ".hdr":
            path.with_suffix(".dat").write_bytes(bytes(range(256)))
        try:
            read(path)
        except FileProblem:
            return


def main() -> None:
    try:
        import atheris
    except ImportError:
        sys.exit("atheris is not installed: pip install atheris")
    with atheris.instrument_imports(include=["lowfold"]):
        import lowfold.datasets._readers  # noqa: F401
    atheris.Setup(sys.argv, check)
    atheris.Fuzz()


if __name__ == "__main__":
    main()

"""Build sdist and wheel into ./dist, install the wheel alone in a new environment, and see that it works there.

    python tools/dist.py --constraints constraints.txt

The wheel is built from the sdist, so that the sdist has all it needs. The new environment is in a temporary folder
outside the checkout: nothing of the sources can be imported by accident. `tools/smoke.py` runs in it.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def built(folder: Path) -> Path:
    """The wheel, after emptying the folder of what earlier builds left."""
    for old in (*folder.glob("lowfold-*.whl"), *folder.glob("lowfold-*.tar.gz")):
        old.unlink()
    subprocess.run([sys.executable, "-m", "build", "--outdir", folder, ROOT], check=True)
    (wheel,) = folder.glob("lowfold-*.whl")
    return wheel


def try_out(wheel: Path, constraints: Path) -> None:
    """Install the wheel with the core dependencies, away from the checkout, and run the smoke test."""
    with tempfile.TemporaryDirectory(prefix="lowfold-dist-") as name:
        folder = Path(name)
        venv.create(folder / "env", with_pip=True)
        python = folder / "env" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
        pip = [python, "-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--prefer-binary"]
        subprocess.run([*pip, "--constraint", constraints, wheel], check=True)
        clean = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
        clean["LOWFOLD_CACHE"] = str(folder / "cache")
        subprocess.run([python, ROOT / "tools" / "smoke.py"], cwd=folder, env=clean, check=True)


def main() -> None:
    """Read the command line; build, install, try."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--constraints", type=Path, default=ROOT / "constraints.txt")
    parser.add_argument("--tag", help="must be v and the version that was built: v1.2.3")
    given = parser.parse_args()
    try:
        wheel = built(ROOT / "dist")
        version = wheel.name.split("-")[1]
        if given.tag not in (None, f"v{version}"):
            sys.exit(f"the tag is {given.tag}, the version in src/lowfold/_version.py is {version}; make them agree")
        try_out(wheel, given.constraints.resolve())
    except subprocess.CalledProcessError as error:
        sys.exit(f"failed: {' '.join(map(str, error.cmd))}; what it said is above")


if __name__ == "__main__":
    main()

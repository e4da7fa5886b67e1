"""Make a virtual environment complete, and do nothing when it already is.

    python tools/environment.py .venv --extras dev --constraints constraints.txt
    python tools/environment.py .venv --extras dev --constraints constraints.txt -- -m pytest tests/graph

With `--`, the environment's Python then runs what follows: the same words on every system. Needs only the standard
library. What was installed is remembered inside the environment as a digest of everything the answer depends on; the
lint settings in pyproject.toml are not among it. A complete environment needs no network.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def digest(constraints: Path) -> str:
    """One word that changes when the environment has to: dependencies, pins, place."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    parts = [
        project["project"],
        project["build-system"],
        constraints.read_text(encoding="utf-8"),
        str(ROOT),  # the editable install holds the path: a moved or copied checkout is installed again
    ]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def runs(python: Path) -> bool:
    """Whether this interpreter starts, belongs to its folder, and is new enough."""
    code = "import sys; print(sys.prefix); sys.exit(sys.version_info < (3, 11))"
    try:
        done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=False)
    except OSError:
        return False
    return done.returncode == 0 and Path(done.stdout.strip()).resolve() == python.parent.parent.resolve()


def create(folder: Path) -> Path:
    """The environment's interpreter; a new environment where there is none that works."""
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if runs(python):
        return python
    print(f"making {folder.name}", file=sys.stderr)
    done = subprocess.run(
        [sys.executable, "-m", "venv", "--clear", folder], check=False, capture_output=True, text=True
    )
    if done.returncode:
        sys.exit(
            f"{sys.executable} cannot make a virtual environment (on Debian and Ubuntu: install python3-venv):\n"
            f"{done.stdout}{done.stderr}"
        )
    return python


def complete(folder: Path, extras: str, constraints: Path) -> Path:
    """The interpreter of the environment, after installing what it lacks."""
    stamp = folder / "lowfold.stamp"
    python = create(folder)
    # First the digest, then one line for each set of extras that is complete with it (`make bench` adds a second).
    lines = stamp.read_text(encoding="utf-8").splitlines() if stamp.exists() else []
    wanted = digest(constraints)
    already = lines[1:] if lines[:1] == [wanted] else []
    if extras in already:
        return python
    print(f"installing into {folder.name} (a minute or two, once)", file=sys.stderr)
    pip = [python, "-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--prefer-binary"]
    pip += ["--no-compile"]  # half of the time of an install; what is imported is compiled then
    target = f"{ROOT}[{extras}]" if extras else str(ROOT)
    done = subprocess.run([*pip, "--constraint", constraints, "--editable", target], check=False)
    if done.returncode:
        sys.exit(f"pip could not install lowfold into {folder.name}; what it said is above")
    stamp.write_text("\n".join([wanted, *already, extras]) + "\n", encoding="utf-8")
    return python


def main() -> None:
    """Read the command line; create, install, remember; run what follows `--`."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--extras", default="")
    parser.add_argument("--constraints", type=Path, required=True)
    end = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    given, command = parser.parse_args(sys.argv[1:end]), sys.argv[end + 1 :]
    python = complete(ROOT / given.folder, given.extras, ROOT / given.constraints)
    if command:
        sys.exit(subprocess.run([python, *command], cwd=ROOT, check=False).returncode)


if __name__ == "__main__":
    main()

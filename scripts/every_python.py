"""Runs the unit tests on every Python that pyproject.toml names and this machine has, except the one in ``.venv``.

    python -m scripts.every_python [--newest] [PATH…]    --newest: only on the newest of them; PATH…: only these tests

Interpreters are searched for on the PATH and in the directories of pyenv and uv; none is downloaded. Each gets the
packages of uv.lock in ``build/python-3.NN``, and a lane ``unit-3.NN``.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
CLASSIFIER = "Programming Language :: Python :: 3."
PRINT_VERSION = "import sys; print('%d.%d' % sys.version_info[:2])"


def main(arguments: Sequence[str]) -> int:
    """Run the lanes; returns 1 if one of them is red."""
    parser = argparse.ArgumentParser(prog="python -m scripts.every_python", description="Unit tests on other Pythons.")
    parser.add_argument("--newest", action="store_true", help="only on the newest of them")
    parser.add_argument("paths", nargs="*", default=["tests/unit"], help="the tests; without any, all unit tests")
    options = parser.parse_args(arguments)
    here = "{}.{}".format(*sys.version_info[:2])
    found = interpreters(candidates(os.environ, Path.home()))
    others = [version for version in supported_versions() if version != here]
    installed = [version for version in others if version in found]
    chosen = newest(installed) if options.newest else installed
    green = [run_lane(version, found[version], options.paths) for version in chosen]
    for version in others:
        if version not in chosen:
            print(f"not tested on Python {version}: {'not the newest' if version in found else 'it is not installed'}")
    return 0 if all(green) else 1


def newest(versions: Iterable[str]) -> list[str]:
    """A list with the newest version; empty if there are no versions."""
    return sorted(versions, key=lambda version: [int(part) for part in version.split(".")])[-1:]


def supported_versions() -> list[str]:
    """The versions that the classifiers of pyproject.toml name, such as ``3.12``."""
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return [name.rpartition(" ")[2] for name in project["classifiers"] if name.startswith(CLASSIFIER)]


def candidates(environ: dict[str, str] | os._Environ[str], home: Path) -> Iterator[Path]:
    """Possible paths of interpreters."""
    for folder in environ.get("PATH", os.defpath).split(os.pathsep):
        yield from sorted(Path(folder).glob("python3.[0-9][0-9]"))
    pyenv = Path(environ.get("PYENV_ROOT", home / ".pyenv"))
    yield from sorted(pyenv.glob("versions/3.*/bin/python"))
    uv = Path(environ.get("UV_PYTHON_INSTALL_DIR", home / ".local/share/uv/python"))
    yield from sorted(uv.glob("cpython-3.*/bin/python3"))


def interpreters(paths: Iterable[Path]) -> dict[str, Path]:
    """The first working interpreter of each version: a version manager's shim may not have one behind it."""
    found: dict[str, Path] = {}
    for path in paths:
        done = subprocess.run([path, "-c", PRINT_VERSION], capture_output=True, text=True, check=False)
        if done.returncode == 0:
            found.setdefault(done.stdout.strip(), path)
    return found


def run_lane(version: str, interpreter: Path, paths: Sequence[str]) -> bool:
    """Run the tests of these paths with an interpreter; returns whether they are green."""
    print(f"\nPython {version}: {interpreter}", flush=True)
    target = PROJECT / "build" / f"python-{version}"
    uv = Path(sys.executable).with_name("uv")
    sync = [
        str(uv),
        "sync",
        "--frozen",
        "--all-extras",
        "--no-extra=gssapi",  # it may have to be built
        "--quiet",
        "--no-python-downloads",
        "--python",
        str(interpreter),
    ]
    subprocess.run(sync, cwd=PROJECT, env={**os.environ, "UV_PROJECT_ENVIRONMENT": str(target)}, check=True)
    tests = [
        str(target / "bin/python"),
        "-m",
        "scripts.run_tests",
        "--processes",
        "2",
        f"unit-{version}",
        *paths,
        "--",
        "-q",
        "-m",
        "not soak",
    ]
    return subprocess.run(tests, cwd=PROJECT, check=False).returncode == 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""``make compiled``: the package once more in ``build/compiled``, with its hot modules compiled by mypyc.

Which modules those are is said in pyproject.toml; the source is the very same. Needs a C compiler and Python's headers.
Use it with ``PYTHONPATH=build/compiled kafka-lite server-start …``; `make bench` measures it beside the plain one.

The build happens in a copy, for mypyc leaves its extension modules beside the sources, where Python would prefer them
from then on, whatever the sources say.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
TARGET = PROJECT / "build" / "compiled"
DIGEST = "source.sha256"
USE = "to use them: PYTHONPATH=build/compiled .venv/bin/kafka-lite server-start config/server.properties"
INPUTS = ("kafka_lite", "config", "pyproject.toml", "README.md", "LICENSE")


def main() -> int:
    """Build it, unless it is there and from today's source; returns the exit code."""
    digest = source_digest()
    if is_current():
        print(f"{TARGET} is up to date; {USE}")
        return 0
    if not any(map(shutil.which, ("cc", "gcc", "clang"))):
        print("make compiled needs a C compiler, such as Debian's package gcc; everything works without it, too")
        return 1
    with tempfile.TemporaryDirectory() as scratch:
        wheel = build_wheel(Path(scratch))
        shutil.rmtree(TARGET, ignore_errors=True)
        uv("pip", "install", "--quiet", "--no-deps", "--target", str(TARGET), str(wheel))
    (TARGET / DIGEST).write_text(digest)
    compiled = sorted(path.relative_to(TARGET) for path in TARGET.rglob("kafka_lite/**/*.so"))
    print(f"{len(compiled)} compiled modules in {TARGET}; {USE}")
    return 0


def build_wheel(scratch: Path) -> Path:
    """The wheel, built from a copy of the source."""
    copy = scratch / "source"
    copy.mkdir()
    for name in INPUTS:
        source = PROJECT / name
        if source.is_dir():
            shutil.copytree(source, copy / name, ignore=shutil.ignore_patterns("__pycache__", "*.so"))
        else:
            shutil.copy(source, copy / name)
    environment = os.environ | {"HATCH_BUILD_HOOK_ENABLE_MYPYC": "1"}
    uv("build", "--quiet", "--wheel", "--python", sys.executable, "-o", str(scratch), str(copy), env=environment)
    (wheel,) = scratch.glob("*.whl")
    return wheel


def uv(*arguments: str, env: dict[str, str] | None = None) -> None:
    """Run the uv of this environment; its error ends the program."""
    subprocess.run([str(Path(sys.executable).with_name("uv")), *arguments], check=True, env=env, cwd=PROJECT)


def source_digest() -> str:
    """What the compiled package depends on, as one number."""
    digest = hashlib.sha256((PROJECT / "pyproject.toml").read_bytes())
    for path in sorted((PROJECT / "kafka_lite").rglob("*.py")):
        digest.update(str(path.relative_to(PROJECT)).encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def is_current() -> bool:
    """Whether what is in ``build/compiled`` was made of the source as it is now."""
    kept = TARGET / DIGEST
    return kept.exists() and kept.read_text() == source_digest()


if __name__ == "__main__":
    raise SystemExit(main())

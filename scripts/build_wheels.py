"""``make wheel``: builds wheels in ``dist/``: always a plain one, and a compiled one if there is a C compiler.

The plain wheel (``py3-none-any``) runs on every Python from 3.11 on.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from scripts.compile_hot_modules import compiled_wheel
from scripts.wheel import PROJECT, build_wheel, missing_for_compiling

DIST = PROJECT / "dist"


def main() -> int:
    """Build the wheels and print how to install them; returns the exit code."""
    shutil.rmtree(DIST, ignore_errors=True)
    built = [build_wheel(DIST)]
    missing = missing_for_compiling()
    if missing:
        print(f"no compiled wheel, because {missing}; the plain wheel does the same, but more slowly")
    else:
        built.append(Path(shutil.copy(compiled_wheel(), DIST)))
    for wheel in built:
        print(f"pip install {wheel.relative_to(PROJECT)}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

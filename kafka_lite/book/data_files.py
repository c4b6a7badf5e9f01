"""The book's data: ``book.toml``, its table of contents, and ``classes.toml``, the classes that it discusses.

In a clone they lie in ``chapters/``, beside the text; a wheel has copies of them in this package.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).resolve().parents[1]
"""The folder ``kafka_lite``, whose docstrings say where each module stands."""


def book_data(name: str) -> Path:
    """The path of ``book.toml`` or ``classes.toml``. Raises FileNotFoundError if somebody has removed it."""
    for folder in (Path(__file__).parent, PACKAGE.parent / "chapters"):
        if (folder / name).is_file():
            return folder / name
    raise FileNotFoundError(f"{name} is missing from this installation of kafka_lite")


def read_toml(path: Path) -> dict[str, Any]:
    """The file as a dictionary. Raises TOMLDecodeError if it is not TOML."""
    return tomllib.loads(path.read_text(encoding="utf-8"))

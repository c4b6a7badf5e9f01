"""No folder of the source has more modules than a reader takes in at a glance: docs/design/architecture.md, *Size*."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
FOLDERS = ("kafka_lite", "pyspark_kafka_lite", "kafka_learn", "pipeline", "examples", "bench", "scripts", "chapters")
MAX_MODULES = 25
ONE_MODULE_PER_API = "kafka_lite/protocol/messages"


def test_no_folder_has_too_many_modules() -> None:
    files = [file for folder in FOLDERS for file in (REPOSITORY / folder).rglob("*.py") if file.name != "__init__.py"]
    sizes = Counter(file.parent.relative_to(REPOSITORY).as_posix() for file in files)
    too_large = {folder: size for folder, size in sizes.items() if size > MAX_MODULES and folder != ONE_MODULE_PER_API}

    assert not too_large, "give the modules that belong together a folder of their own"

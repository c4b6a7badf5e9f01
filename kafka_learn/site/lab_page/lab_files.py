"""The files that the labs' pages load: for each lab its text to begin with, its tasks and hints; tests; the editor."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any, Final

from kafka_learn.labs.in_page.lab_bundle import lab_bundle
from kafka_learn.labs.in_page.page_check import SLOWER
from kafka_learn.labs.lab import Lab, all_labs, working_file
from kafka_learn.labs.starter import starter
from kafka_learn.site.lab_page.editor_files import editor_files

NOTICE: Final = """labs.zip: parts of kafka_lite, its labs, and unmodified packages of the Python Package Index:
pytest, pluggy, iniconfig, rich (MIT License), packaging (Apache License 2.0 or BSD 2-Clause), Pygments (BSD 2-Clause).
"""
PLACE: Final = PurePosixPath("assets/labs")


def write(target: Path) -> Iterator[Path]:
    """Write the files into the folder of the labs' assets, if they have changed; yields them. Raises EngineError."""
    for name, data in _files():
        path = target / name
        if not path.exists() or path.read_bytes() != data:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        yield path


def _files() -> Iterator[tuple[str, bytes]]:
    for lab in all_labs():
        if lab.in_page:
            yield f"data/{lab.name}.json", json.dumps(lab_data(lab), ensure_ascii=False).encode()
    for name, data in editor_files():
        yield f"editor/{name}", data
    yield "engine/labs.zip", lab_bundle()
    yield "engine/NOTICE.txt", NOTICE.encode()


def lab_data(lab: Lab) -> dict[str, Any]:
    """All that a page shows before an interpreter runs; a check that says nothing for ``silence_s`` hangs."""
    return {
        "name": lab.name,
        "silence_s": 3 * SLOWER * lab.test_limit_s,
        "modules": [{"name": name, "file": working_file(name), "text": starter(lab, name)} for name in lab.modules],
        "tasks": [
            {
                "number": task.number,
                "title": {language: task.title_in(language) for language in ("en", "zh")},
                "functions": [function.split(":") for function in task.functions],  # module and name
                "hints": {language: task.hints_in(language) for language in ("en", "zh")},
            }
            for task in lab.tasks
        ],
    }

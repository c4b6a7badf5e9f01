"""What a page has kept of labs becomes modules for a broker; only functions of finished tasks count."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kafka_learn.labs.in_page.importing import FORMAT, ImportLabsError
from kafka_learn.labs.in_page.own_broker import own_modules
from kafka_learn.labs.lab import find_lab
from kafka_learn.source import module_path

LAB = find_lab("ch07-leader-selectors")
(MODULE,) = LAB.modules
DONE = {"number": 1, "mark": "✓", "earned": 45, "total": 45}
MINE = "    # mine\n    epoch = current.leader_epoch + 1\n    in_sync"


def answer() -> str:
    shipped = module_path(MODULE).read_text(encoding="utf-8")
    before = "    epoch = current.leader_epoch + 1\n    in_sync"
    assert before in shipped
    return shipped.replace(before, MINE, 1).replace("replica in current.isr]", "replica in set(current.isr)]", 1)


def exported(**labs: Any) -> str:
    return json.dumps({"format": FORMAT, "labs": {name.replace("_", "-"): row for name, row in labs.items()}})


def test_functions_of_finished_tasks_are_in_the_modules(tmp_path: Path) -> None:
    row = {"files": {MODULE: answer()}, "tasks": [DONE, {"number": 2, "mark": "·"}]}
    made = own_modules(exported(ch07_leader_selectors=row, ch99_of_tomorrow=row), tmp_path / "own")
    assert made["functions"] == 1
    assert made["notes"] == []
    assert list(made["files"]) == [MODULE]
    assert "in set(current.isr)]" in Path(made["files"][MODULE]).read_text(encoding="utf-8")


def test_without_a_finished_task_all_stays_as_it_is(tmp_path: Path) -> None:
    row = {"files": {MODULE: answer()}, "tasks": []}
    assert own_modules(exported(ch07_leader_selectors=row), tmp_path)["files"] == {}
    assert own_modules(exported(), tmp_path) == {"files": {}, "functions": 0, "notes": []}


def test_a_file_that_python_cannot_read_is_left_out_with_its_line(tmp_path: Path) -> None:
    row = {"files": {MODULE: "x = 1\ndef broken(:\n"}, "tasks": [DONE]}
    made = own_modules(exported(ch07_leader_selectors=row), tmp_path)
    assert made["files"] == {}
    assert "line 2" in made["notes"][0]


def test_another_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ImportLabsError):
        own_modules("[]", tmp_path)

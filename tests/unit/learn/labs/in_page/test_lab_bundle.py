"""The archive of the labs' pages has what their checks import, and nothing that the live cluster's has."""

from __future__ import annotations

import ast
import io
import zipfile
from pathlib import Path, PurePosixPath

from kafka_learn.labs.in_page.lab_bundle import lab_bundle, sources
from kafka_learn.labs.lab import all_labs
from kafka_learn.live import bundle
from kafka_learn.project import PROJECT_ROOT


def places() -> dict[PurePosixPath, Path]:
    return {**dict(bundle.sources()), **dict(sources())}


def test_the_files_are_packed_as_they_are_and_once() -> None:
    archive = zipfile.ZipFile(io.BytesIO(lab_bundle()))
    names = archive.namelist()
    test = "labs/ch06-timing-wheel/tests/test_1_a_bucket.py"
    assert archive.read(test) == (PROJECT_ROOT / test).read_bytes()
    assert {"labs/zh.toml", "labs/ch06-timing-wheel/zh.toml"} <= set(names)
    assert len(names) == len(set(names))
    assert not {PurePosixPath(name) for name in names} & {place for place, _ in bundle.sources()}
    assert "py.py" in names
    assert not any(name.startswith("pygments/lexers/java") for name in names)


def test_every_module_that_a_lab_or_its_tests_name_is_there() -> None:
    there = set(places())
    for lab in all_labs():
        if lab.in_page:
            assert {PurePosixPath(module.replace(".", "/") + ".py") for module in lab.modules} <= there, lab.name
            for test in lab.tests.glob("*.py"):
                for name in imported(test):
                    path = PurePosixPath(name.replace(".", "/"))
                    assert {path.with_suffix(".py"), path / "__init__.py"} & there, (lab.name, name)


def imported(file: Path) -> list[str]:
    nodes = [node for node in ast.walk(ast.parse(file.read_text("utf-8"))) if isinstance(node, ast.ImportFrom)]
    return [node.module for node in nodes if node.module and node.module.startswith(("kafka_", "examples", "pipeline"))]


def test_the_languages_that_pytest_colours_are_there() -> None:
    there = set(places())
    writer = next(file for place, file in places().items() if place == PurePosixPath("_pytest/_io/terminalwriter.py"))
    for node in ast.walk(ast.parse(writer.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("pygments."):
            path = PurePosixPath((node.module or "").replace(".", "/"))
            assert {path.with_suffix(".py"), path / "__init__.py"} & there

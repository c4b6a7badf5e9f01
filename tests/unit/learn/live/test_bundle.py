"""The archives of a page: the project's source, and files of the standard library."""

from __future__ import annotations

import ast
import io
import sys
import zipfile
from pathlib import Path, PurePosixPath

from kafka_learn.live import standard_library
from kafka_learn.live.bundle import LEFT_OUT, bundle, sources
from kafka_learn.project import PROJECT_ROOT
from kafka_lite.testing.simulation.system.modules import STANDARD_LIBRARY


def test_the_source_is_packed_as_it_is_and_the_same_source_gives_the_same_bytes() -> None:
    packed = bundle()
    archive = zipfile.ZipFile(io.BytesIO(packed))
    for module in ("kafka_lite/server/kafka_server.py", "kafka_learn/live/live_cluster.py"):
        assert archive.read(module) == (PROJECT_ROOT / module).read_bytes()
    assert "kazoo/client.py" in archive.namelist()
    assert packed == bundle()


def test_what_no_program_of_a_live_cluster_imports_is_left_out() -> None:
    places = [place for place, _ in sources()]
    assert not any(place.is_relative_to(PurePosixPath(folder)) for place in places for folder in LEFT_OUT)
    assert not any(place.is_relative_to(PurePosixPath("kafka_learn/site")) for place in places)
    assert all((PROJECT_ROOT / folder).is_dir() for folder in LEFT_OUT if folder.startswith("kafka_lite"))


def test_a_page_has_all_modules_of_the_workshop_that_its_modules_import() -> None:
    places = {place: file for place, file in sources() if place.parts[0] == "kafka_learn"}
    there = {place.as_posix().removesuffix(".py").removesuffix("/__init__").replace("/", ".") for place in places}
    wanted = {
        imported
        for file in places.values()
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        for imported in _imports(node)
        if imported.startswith("kafka_learn") and "bundle" not in file.name
    }
    assert wanted
    assert wanted <= there


def _imports(node: ast.AST) -> list[str]:
    if isinstance(node, ast.ImportFrom):
        return [node.module or ""]
    return [alias.name for alias in node.names] if isinstance(node, ast.Import) else []


def test_the_modules_that_each_process_copies_become_files(tmp_path: Path) -> None:
    """Packed here as Pyodide packs the standard library."""
    library = Path(sys.modules["os"].__file__ or "").parent
    with zipfile.ZipFile(tmp_path / "library.zip", "w") as archive:
        for name in ("threading.py", "json/__init__.py", "logging/__init__.py", "logging/handlers.py", "ast.py"):
            archive.write(library / name, name)
    standard_library.unpack(tmp_path / "library.zip", tmp_path / "files")
    found = {path.relative_to(tmp_path / "files").as_posix() for path in (tmp_path / "files").rglob("*.py")}
    assert found == {"threading.py", "logging/__init__.py", "logging/handlers.py"}
    assert {"threading", "logging"} <= set(STANDARD_LIBRARY)

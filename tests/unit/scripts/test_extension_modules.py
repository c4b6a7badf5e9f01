"""A build of the compiled package compiles again what has changed, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts.extension_modules import Objects


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    (tmp_path / "lib-rt").mkdir()
    for name, text in (("a.c", "int a;"), ("b.c", "int b;"), ("lib-rt/all.h", "int h;")):
        (tmp_path / name).write_text(text)
    return tmp_path


def compiled(sources: Path) -> list[str]:
    """What a build compiles: each object that it is told to make."""
    objects, made = Objects(sources), []
    for source in sorted(sources.glob("*.c")):
        file = source.with_suffix(".o")
        if objects.are_outdated(str(file), str(source)):
            file.write_text("object")
            made.append(source.name)
    return made


def test_objects_are_made_once(sources: Path) -> None:
    assert compiled(sources) == ["a.c", "b.c"]
    assert compiled(sources) == []


def test_a_changed_file_is_compiled_again(sources: Path) -> None:
    compiled(sources)
    (sources / "a.c").write_text("int other;")
    assert compiled(sources) == ["a.c"]


def test_a_changed_header_concerns_every_file(sources: Path) -> None:
    compiled(sources)
    (sources / "lib-rt/all.h").write_text("long h;")
    assert compiled(sources) == ["a.c", "b.c"]


def test_a_file_that_the_compiler_refused_is_compiled_again(sources: Path) -> None:
    compiled(sources)
    (sources / "a.c").write_text("int other")
    assert Objects(sources).are_outdated(str(sources / "a.o"), str(sources / "a.c"))  # and no object is made
    assert compiled(sources) == ["a.c"]

"""`make broker` runs the compiled build only while it was made from the current source, for this Python."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from scripts import compile_hot_modules
from scripts.compile_hot_modules import DIGEST, main, source_digest


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with one module, and a compiled build of it."""
    for name, text in (("kafka_lite/a.py", "x = 1\n"), ("config/server.properties", ""), ("pyproject.toml", "")):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    monkeypatch.setattr(compile_hot_modules, "PROJECT", tmp_path)
    monkeypatch.setattr(compile_hot_modules, "TARGET", tmp_path / "build" / "compiled")
    compile_hot_modules.TARGET.mkdir(parents=True)
    (compile_hot_modules.TARGET / DIGEST).write_text(source_digest())
    return tmp_path


def path_for_make(capsys: pytest.CaptureFixture[str]) -> str:
    assert main(["--path"]) == 0
    return capsys.readouterr().out.strip()


def test_a_build_of_the_current_source_is_used(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert path_for_make(capsys) == str(project / "build" / "compiled")


def test_without_a_build_the_plain_package_runs(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "build" / "compiled" / DIGEST).unlink()
    assert path_for_make(capsys) == ""


@pytest.mark.parametrize(
    "changed", ["kafka_lite/a.py", "kafka_lite/new.py", "config/server.properties", "pyproject.toml"]
)
def test_a_build_of_other_source_is_not_used(project: Path, changed: str, capsys: pytest.CaptureFixture[str]) -> None:
    (project / changed).write_text("x = 2\n")
    assert path_for_make(capsys) == ""


def test_a_build_for_another_python_is_not_used(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "implementation", SimpleNamespace(cache_tag="cpython-399"))
    assert path_for_make(capsys) == ""


def test_a_missing_compiler_is_reported(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "pyproject.toml").write_text("changed")
    monkeypatch.setenv("PATH", str(project))
    assert main([]) == 1
    assert "there is no C compiler" in capsys.readouterr().out

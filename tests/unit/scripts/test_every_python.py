from __future__ import annotations

from pathlib import Path

from scripts.every_python import candidates, interpreters, newest, supported_versions


def program(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def test_interpreters_are_found_on_the_path_and_with_pyenv_and_uv(tmp_path: Path) -> None:
    on_path = program(tmp_path / "bin/python3.12", "echo 3.12")
    shim = program(tmp_path / "bin/python3.13", "echo 'pyenv: command not found' >&2; exit 127")
    program(tmp_path / "bin/python3.12-config", "echo 3.12")
    home = tmp_path / "home"
    same = program(home / ".pyenv/versions/3.12.1/bin/python", "echo 3.12")
    of_pyenv = program(home / ".pyenv/versions/3.13.0/bin/python", "echo 3.13")
    of_uv = program(home / ".local/share/uv/python/cpython-3.14.0-linux/bin/python3", "echo 3.14")
    there = list(candidates({"PATH": f"{tmp_path}/bin:{tmp_path}/nowhere"}, home))
    assert there == [on_path, shim, same, of_pyenv, of_uv]
    assert interpreters(there) == {"3.12": on_path, "3.13": of_pyenv, "3.14": of_uv}


def test_supported_versions_match_the_classifiers() -> None:
    versions = supported_versions()
    assert versions[0] == "3.11"
    assert len(versions) >= 3


def test_the_newest_version_is_known_by_its_numbers() -> None:
    assert newest(["3.9", "3.14", "3.10", "3.13"]) == ["3.14"]
    assert newest([]) == []

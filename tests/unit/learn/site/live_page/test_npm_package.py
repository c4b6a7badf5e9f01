"""A package of npm is taken only if it is the one that was pinned."""

from __future__ import annotations

import hashlib
import io
import tarfile
from pathlib import Path

import pytest

from kafka_learn.site.live_page import npm_package
from kafka_learn.site.live_page.npm_package import EngineError

PINS = {"dist/index.js": hashlib.sha256(b"export {}").hexdigest()}


def archive(folder: Path, content: bytes) -> Path:
    path = folder / "crelt-1.0.7.tgz"
    with tarfile.open(path, "w:gz") as packed:
        entry = tarfile.TarInfo("package/dist/index.js")
        entry.size = len(content)
        packed.addfile(entry, io.BytesIO(content))
    return path


def npm(folder: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program npm that does this in the folder in which it runs."""
    (folder / "npm").write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    (folder / "npm").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")


def test_the_pinned_file_is_fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    npm(tmp_path, f"cp {archive(tmp_path, b'export {}')} . # $3", monkeypatch)
    assert npm_package.fetch("crelt@1.0.7", PINS) == {"dist/index.js": b"export {}"}


def test_another_file_and_a_failing_npm_are_errors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    npm(tmp_path, f"cp {archive(tmp_path, b'another')} .", monkeypatch)
    with pytest.raises(EngineError, match=r"dist/index.js of crelt@1.0.7 is not the file that was pinned"):
        npm_package.fetch("crelt@1.0.7", PINS)
    npm(tmp_path, "echo no network >&2; exit 1", monkeypatch)
    with pytest.raises(EngineError, match=r"npm pack crelt@1\.0\.7 failed: no network"):
        npm_package.fetch("crelt@1.0.7", PINS)

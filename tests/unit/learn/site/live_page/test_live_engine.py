"""The interpreter of the live cluster's page is exactly the one that was pinned."""

from __future__ import annotations

import hashlib
import io
import tarfile
from pathlib import Path

import pytest

from kafka_learn.site.live_page import live_engine
from kafka_learn.site.live_page.live_engine import EngineError

CONTENTS = {name: f"content of {name}".encode() for name in live_engine.FILES}


@pytest.fixture(autouse=True)
def pins(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(
        live_engine, "FILES", {name: hashlib.sha256(data).hexdigest() for name, data in CONTENTS.items()}
    )
    monkeypatch.setattr("platformdirs.user_cache_dir", lambda *_args, **_options: str(tmp_path / "cache"))


def package(folder: Path, **changed: bytes | None) -> Path:
    path = folder / "pyodide.tgz"
    with tarfile.open(path, "w:gz") as archive:
        for name, data in {**CONTENTS, "README.md": b"more", **changed}.items():
            if data is not None:
                entry = tarfile.TarInfo(f"package/{name}")
                entry.size = len(data)
                archive.addfile(entry, io.BytesIO(data))
    return path


def test_the_pinned_files_are_kept_and_shipped_with_a_notice(tmp_path: Path) -> None:
    live_engine.unpack(package(tmp_path), live_engine._cache())
    written = {path.name: path.read_bytes() for path in live_engine.write(tmp_path / "engine")}
    assert {name: written[name] for name in CONTENTS} == CONTENTS
    assert b"Mozilla Public License 2.0" in written["NOTICE.txt"]
    assert written["source.zip"].startswith(b"PK")
    assert "README.md" not in written


def test_a_second_build_writes_nothing(tmp_path: Path) -> None:
    live_engine.unpack(package(tmp_path), live_engine._cache())
    first = {path: path.stat().st_mtime_ns for path in live_engine.write(tmp_path / "engine")}
    assert {path: path.stat().st_mtime_ns for path in live_engine.write(tmp_path / "engine")} == first


@pytest.mark.parametrize("data", [b"another", None])
def test_another_file_is_rejected_and_nothing_is_kept(tmp_path: Path, data: bytes | None) -> None:
    with pytest.raises(EngineError, match=r"pyodide\.mjs of pyodide@.* is not the file that was pinned"):
        live_engine.unpack(package(tmp_path, **{"pyodide.mjs": data}), live_engine._cache())
    assert not live_engine._cache().exists()


def test_a_machine_without_npm_has_no_engine_unless_it_was_fetched_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert not live_engine.has_npm()
    live_engine.unpack(package(tmp_path), live_engine._cache())
    assert live_engine.has_npm()

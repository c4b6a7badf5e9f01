"""Where the files of tests are, while they run."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts import memory_folder


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in place of the tmpfs, with as much room as this machine's disk has, which is enough."""
    monkeypatch.setattr(memory_folder, "MEMORY", tmp_path)
    monkeypatch.setattr(memory_folder, "NEEDED_BYTES", 1)
    monkeypatch.delenv(memory_folder.ON_DISK, raising=False)
    return tmp_path


def test_the_folder_is_in_memory_and_removed_with_all_that_is_in_it(memory: Path) -> None:
    with memory_folder.temporary_folder() as folder:
        assert folder is not None
        assert folder.parent == memory
        (folder / "log").mkdir()
        (folder / "log" / "0.index").write_bytes(bytes(10))
    assert not list(memory.iterdir())


def test_there_is_none_if_memory_is_short(memory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory_folder, "NEEDED_BYTES", 1 << 60)
    with memory_folder.temporary_folder() as folder:
        assert folder is None


def test_there_is_none_without_a_tmpfs(memory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory_folder, "MEMORY", memory / "shm")
    with memory_folder.temporary_folder() as folder:
        assert folder is None


def test_there_is_none_on_request(memory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(memory_folder.ON_DISK, "1")
    with memory_folder.temporary_folder() as folder:
        assert folder is None
    assert not list(memory.iterdir())

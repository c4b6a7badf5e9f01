"""Whether a log directory has room."""

from __future__ import annotations

from pathlib import Path

from kafka_lite.log.dirs.room import has_room
from tests.support.full_disk import FullDisk


def test_a_directory_has_room_when_the_probe_fits(tmp_path: Path, full_disk: FullDisk) -> None:
    full_disk.fill()
    assert not has_room(tmp_path)
    full_disk.make_room()
    assert has_room(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_directory_that_is_gone_has_no_room(tmp_path: Path) -> None:
    assert not has_room(tmp_path / "gone")

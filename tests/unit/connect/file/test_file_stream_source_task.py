import io
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kafka_lite.common.time import MockTime
from kafka_lite.connect.api.data.schema import Schema
from kafka_lite.connect.api.errors import ConnectError
from kafka_lite.connect.file.file_stream_source_task import FileStreamSourceTask, split_lines


class Rig:
    def __init__(self, file: Path | None, offset: Any = None) -> None:
        self.time = MockTime()
        self.task = FileStreamSourceTask(self.time)
        reader = SimpleNamespace(offset=lambda partition: offset)
        self.task.initialize(SimpleNamespace(offset_storage_reader=reader))  # type: ignore[arg-type]
        self.task.start({"topic": "t"} if file is None else {"topic": "t", "file": str(file)})

    def lines(self) -> list[tuple[Any, Any]]:
        return [(each.value, each.source_offset and each.source_offset["position"]) for each in self.task.poll() or ()]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "source.txt"


@pytest.fixture
def rig(file: Path) -> Iterator[Rig]:
    rig = Rig(file)
    yield rig
    rig.task.stop()


def test_lines_become_records(file: Path, rig: Rig) -> None:
    file.write_text("one\ntwo\n")
    first, second = rig.task.poll() or ()
    assert (first.topic, first.key, first.value_schema, first.value) == ("t", None, Schema.STRING_SCHEMA, "one")
    assert first.source_partition == {"filename": str(file)}
    assert (first.source_offset, second.source_offset) == ({"position": 4}, {"position": 8})
    assert (first.kafka_partition, first.timestamp) == (None, rig.time.milliseconds())


def test_a_file_that_appears_later_and_grows(file: Path, rig: Rig) -> None:
    assert rig.lines() == []
    assert rig.time.hi_res_ms() == 1000
    file.write_text("a\nunfinished")
    assert rig.lines() == [("a", 2)]
    assert rig.lines() == []
    with file.open("a") as more:
        more.write(" line\r\n\nlast\r")
    assert rig.lines() == [("unfinished line", 19), ("", 20)]
    assert rig.lines() == []
    with file.open("a") as more:
        more.write("x\n")
    assert rig.lines() == [("last", 25), ("x", 27)]


def test_a_restart_continues_at_the_stored_byte(file: Path) -> None:
    file.write_bytes("vier\nfünf\n".encode())
    rig = Rig(file)
    assert rig.lines() == [("vier", 5), ("fünf", 11)]
    rig.task.stop()
    with file.open("a") as more:
        more.write("six\n")
    again = Rig(file, {"position": 11})
    assert again.lines() == [("six", 15)]
    again.task.stop()


@pytest.mark.parametrize("position", ["7", True, 1.5])
def test_a_stored_position_of_the_wrong_type(file: Path, position: object) -> None:
    file.write_text("a\n")
    with pytest.raises(ConnectError, match="Offset position is the incorrect type"):
        Rig(file, {"position": position}).task.poll()


def test_a_stored_offset_without_a_position_is_the_beginning(file: Path) -> None:
    file.write_text("a\n")
    rig = Rig(file, {"position": None})
    assert rig.lines() == [("a", 2)]
    rig.task.stop()


def test_a_large_file_takes_several_polls(file: Path, rig: Rig) -> None:
    file.write_text("x" * 99 + "\n")
    file.write_bytes(file.read_bytes() * 30_000)
    sizes = []
    while lines := rig.lines():
        sizes.append(len(lines))
    assert sum(sizes) == 30_000
    assert len(sizes) > 1


def test_a_stop_ends_a_wait(file: Path) -> None:
    task = FileStreamSourceTask()
    task.start({"topic": "t", "file": str(file)})
    threading.Timer(0.01, task.stop).start()
    assert task.poll() is None
    file.write_text("too late\n")
    task.initialize(SimpleNamespace(offset_storage_reader=SimpleNamespace(offset=lambda _: None)))  # type: ignore[arg-type]
    assert task.poll() is None


def test_a_poll_after_the_stop_returns_nothing(file: Path, rig: Rig) -> None:
    file.write_text("a\n")
    rig.lines()
    rig.task.stop()
    assert rig.task.poll() is None


def test_standard_input_has_no_offsets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"a\nb\n")))
    assert Rig(None).lines() == [("a", None), ("b", None)]


def test_what_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(ConnectError, match="cannot be read"):
        Rig(tmp_path).task.poll()
    with pytest.raises(ConnectError, match="missing topic setting"):
        FileStreamSourceTask().start({"file": "x"})


@pytest.mark.parametrize(
    ("data", "lines", "rest"),
    [
        (b"", [], b""),
        (b"a", [], b"a"),
        (b"a\n", [(b"a", 2)], b""),
        (b"a\r", [], b"a\r"),
        (b"a\rb", [(b"a", 2)], b"b"),
        (b"a\r\nb\n", [(b"a", 3), (b"b", 2)], b""),
        (b"\n\n", [(b"", 1), (b"", 1)], b""),
        (b"a\r\r\n", [(b"a", 2), (b"", 2)], b""),
    ],
)
def test_split_lines(data: bytes, lines: list[tuple[bytes, int]], rest: bytes) -> None:
    assert split_lines(data) == (lines, rest)

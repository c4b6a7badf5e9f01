"""Task 5: a worker copies files with your code."""

import pytest

from kafka_learn.labs.clients import create_topic, read_all
from kafka_learn.labs.connectors import LabWorker, settle
from kafka_lite.connect.runtime.storage.file_offset_backing_store import FileOffsetBackingStore

SOURCE = "FileStreamSource"


def lines(broker, topic):
    return [message.value().decode() for message in read_all(broker, topic=topic)[0]]


def stored(worker):
    return worker.offsets.read_bytes() if worker.offsets.exists() else b""


@pytest.mark.points(5, task=5)
def test_a_worker_continues(broker, tmp_path):
    """Two lives of a worker, and a file that grows"""
    create_topic(broker, "lives")
    file = tmp_path / "lines.txt"
    written = []
    for life in range(2):
        written += [f"{life}-{number}" for number in range(500)]
        file.write_text("".join(f"{line}\n" for line in written))
        with LabWorker(broker, tmp_path) as worker:
            worker.create("lives", SOURCE, {"file": file, "topic": "lives"})
            found = f"{len(written)} lines, each once, in {life + 1} lives"
            settle(lambda wanted=tuple(written): lines(broker, "lives") == [*wanted], found)
            worker.must_run("lives")


@pytest.mark.points(5, task=5)
def test_offsets_are_stored_while_the_task_reads(broker, tmp_path):
    """The file grows, and the offset follows"""
    create_topic(broker, "grows")
    file = tmp_path / "lines.txt"
    file.write_text("")
    with LabWorker(broker, tmp_path) as worker:
        worker.create("grows", SOURCE, {"file": file, "topic": "grows"})
        for number in range(3):
            with file.open("a") as growing:
                growing.write(f"line {number}\n")
            size = file.stat().st_size
            settle(
                lambda size=size: f'"position":{size}}}'.encode() in stored(worker), f"the stored position is {size}"
            )


@pytest.mark.points(5, task=5)
def test_a_store_that_fails(broker, tmp_path, monkeypatch):
    """The first three writes of the offset file fail"""
    create_topic(broker, "fails")
    file = tmp_path / "lines.txt"
    file.write_text("one\ntwo\n")
    save, failures = FileOffsetBackingStore._save, [OSError("full")] * 3

    def failing(self):
        if failures:
            raise failures.pop()
        save(self)

    monkeypatch.setattr(FileOffsetBackingStore, "_save", failing)
    with LabWorker(broker, tmp_path) as worker:
        worker.create("fails", SOURCE, {"file": file, "topic": "fails"})
        settle(
            lambda: b'"position":8}' in stored(worker), "position 8 is stored by a later flush, since the first fail"
        )
    assert not failures, "each failed flush is followed by another one"

"""Directories of tasks, their locks, and the file of checkpoints."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.streams.errors import ProcessorStateError
from kafka_lite.streams.kafka_streams import KafkaStreams
from kafka_lite.streams.kstream.kstream_builder import KStreamBuilder
from kafka_lite.streams.state.offset_checkpoint import OffsetCheckpoint
from kafka_lite.streams.task_id import TaskId
from kafka_lite.streams.tasks.state_directory import StateDirectory

TASK, OTHER = TaskId(0, 1), TaskId(1, 0)
CHANGELOG = TopicPartition("app-store-changelog", 1)


def directory_in(path: Path) -> StateDirectory:
    return StateDirectory("app", path, MockTime())


def is_lock_free(path: Path) -> bool:
    directory = directory_in(path)
    try:
        return directory.lock(TASK)
    finally:
        directory.unlock(TASK)


def test_one_directory_object_at_a_time_has_a_lock(tmp_path: Path) -> None:
    first, second = directory_in(tmp_path), directory_in(tmp_path)
    assert first.lock(TASK)
    assert first.lock(TASK), "it has it already"
    assert not second.lock(TASK, retries=3)
    assert second.lock(OTHER)
    first.unlock(TASK)
    assert second.lock(TASK)
    assert not first.lock(TASK), "it has it no more"
    first.unlock(OTHER)  # not its own
    assert not first.lock(OTHER)
    for task in (TASK, OTHER):
        second.unlock(task)


def test_directories_of_tasks(tmp_path: Path) -> None:
    directory = directory_in(tmp_path)
    assert directory.directory_for_task(TASK) == tmp_path / "app" / "0_1"
    directory.directory_for_task(OTHER)
    (tmp_path / "app" / "notes").mkdir()
    assert directory.task_ids() == [TASK, OTHER]
    (tmp_path / "app" / "1_0" / ".checkpoint").touch()
    assert directory.cached_tasks() == {OTHER}


def test_directories_that_nobody_has_locked_are_deleted(tmp_path: Path) -> None:
    first, second = directory_in(tmp_path), directory_in(tmp_path)
    first.lock(TASK)
    second.lock(OTHER)
    third = TaskId(2, 2)
    second.directory_for_task(third)
    first.clean_removed_tasks()
    assert first.task_ids() == [TASK, OTHER]
    second.unlock(OTHER)
    first.clean_removed_tasks()
    assert first.task_ids() == [TASK]
    first.unlock(TASK)


def test_a_directory_that_cannot_be_deleted_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    directory = directory_in(tmp_path)
    for task in (TASK, OTHER):
        directory.directory_for_task(task)
    rmtree = shutil.rmtree

    def refuse(path: Path) -> None:
        if path.name == str(TASK):
            raise OSError("read-only file system")
        rmtree(path)

    monkeypatch.setattr("shutil.rmtree", refuse)
    directory.clean_removed_tasks()
    assert directory.task_ids() == [TASK]
    assert is_lock_free(tmp_path)


def test_cleaning_up_spares_what_another_instance_has_locked(tmp_path: Path) -> None:
    """Two instances on one machine share the directory: one that is not running must not delete the other's state."""
    running = directory_in(tmp_path)
    running.lock(TASK)
    running.lock_global_state()
    running.directory_for_task(OTHER)
    stopped = KafkaStreams(
        KStreamBuilder(),
        {"application.id": "app", "bootstrap.servers": "127.0.0.1:1", "state.dir": str(tmp_path)},
    )
    stopped.clean_up()
    assert sorted(path.name for path in running.base.iterdir()) == [str(TASK), "global"]
    running.clean()
    assert sorted(path.name for path in running.base.iterdir()) == [str(TASK), "global"], "nor its own"
    running.unlock(TASK)
    running.unlock_global_state()
    stopped.clean_up()
    assert not running.base.exists()
    stopped.close()


def test_a_directory_that_is_cleared_stays_locked(tmp_path: Path) -> None:
    first, second = directory_in(tmp_path), directory_in(tmp_path)
    assert first.lock(TASK)
    (first.directory_for_task(TASK) / ".checkpoint").touch()
    first.clear(TASK)
    assert not first.cached_tasks()
    assert not second.lock(TASK)
    first.unlock(TASK)


def test_a_directory_that_cannot_be_created(tmp_path: Path) -> None:
    (tmp_path / "app").touch()
    with pytest.raises(ProcessorStateError, match=r"app\] doesn't exist and couldn't be created"):
        directory_in(tmp_path)


def test_checkpoint_file(tmp_path: Path) -> None:
    checkpoint = OffsetCheckpoint(tmp_path / ".checkpoint")
    assert checkpoint.read() == {}
    offsets = {CHANGELOG: 42, TopicPartition("a", 0): 0}
    checkpoint.write(offsets)
    assert checkpoint.path.read_text() == "0\n2\na 0 0\napp-store-changelog 1 42\n"
    assert checkpoint.read() == offsets
    assert [path.name for path in tmp_path.iterdir()] == [".checkpoint"]
    checkpoint.delete()
    assert checkpoint.read() == {}


@pytest.mark.parametrize(
    "text", ["", "0\n", "1\n0\n", "0\n1\n", "0\n1\na 0\n", "0\n1\na 0 x\n", "0\n2\na 0 1\n", "0\n0\na 0 1\n"]
)
def test_a_damaged_checkpoint_is_refused(tmp_path: Path, text: str) -> None:
    checkpoint = OffsetCheckpoint(tmp_path / ".checkpoint")
    checkpoint.path.write_text(text)
    with pytest.raises(ProcessorStateError, match=r"\.checkpoint"):
        checkpoint.read()

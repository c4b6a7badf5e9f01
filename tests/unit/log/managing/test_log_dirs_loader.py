"""A broker loads its logs when it starts: in parallel, from where they were flushed, or not at all."""

from __future__ import annotations

import errno
import logging
import os
import shutil
from pathlib import Path

import pytest

from kafka_lite.common.errors import ApiError, Errors, KafkaError
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.log_manager import SPARE_FILES, LogManager
from tests.support.log_managers import ManagedLogs
from tests.support.logs import read_records

T0 = TopicPartition("topic", 0)

T1 = TopicPartition("topic", 1)

DASHED = TopicPartition("my-dashed-topic", 12)

SMALL = {"segment.index.bytes": 1024}


@pytest.fixture
def one(tmp_path: Path) -> ManagedLogs:
    return ManagedLogs(tmp_path / "a")


def names(directory: Path) -> set[str]:
    return {path.name for path in directory.iterdir()}


def test_logs_are_loaded_after_a_restart(one: ManagedLogs, tmp_path: Path) -> None:
    for topic_partition in (T0, T1, DASHED):
        one.append(topic_partition, str(topic_partition).encode())
    one.manager.shutdown()
    manager = one.again()
    assert {log.topic_partition for log in manager.all_logs()} == {T0, T1, DASHED}
    assert not (tmp_path / "a" / ".kafka_cleanshutdown").exists()
    log = manager.get_log(DASHED)
    assert log is not None
    assert log.recovery_point == 1
    assert [record.value for record in read_records(log)] == [b"my-dashed-topic-12"]
    assert manager.get_log(TopicPartition("nothing", 0)) is None


def test_recovery_starts_at_the_recovery_point_checkpoint(one: ManagedLogs) -> None:
    one.append(T0, b"a", b"b")
    log = one.manager.get_log(T0)
    assert log is not None
    log.flush()
    one.append(T0, b"c")
    one.manager.maintenance.checkpoint_recovery_point_offsets()
    crash(one.manager)
    log = one.again().get_log(T0)
    assert log is not None
    assert (log.recovery_point, log.log_end_offset) == (2, 3)


def crash(manager: LogManager) -> None:
    """What the kernel does when a process ends: it releases the locks."""
    manager.dirs.unlock_all()


def test_one_log_line_summarises_the_recovery(
    one: ManagedLogs, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    for topic_partition in (T0, T1, DASHED):
        one.append(topic_partition, b"v" * 100)
    flushed = one.manager.get_or_create_log(T0)
    flushed.roll()
    flushed.flush()
    one.append(T0, b"new")
    one.manager.maintenance.checkpoint_recovery_point_offsets()
    crash(one.manager)
    torn = tmp_path / "a" / "topic-1" / f"{0:020}.log"
    size = torn.stat().st_size
    with torn.open("ab") as file:
        file.write(b"torn")
    caplog.clear()
    one.again()
    lines = [message for message in caplog.messages if "recover" in message.lower()]
    newest = one.manager.get_or_create_log(T0).active_segment.size
    read = 2 * size + 4 + newest
    assert lines == [
        f"{tmp_path / 'a'} was not shut down cleanly: its unflushed logs will be recovered",
        f"Recovered 3 logs after an unclean shutdown in 0.0 s: 3 segments, {read} bytes read, 4 bytes cut off",
    ]


def test_nothing_is_logged_about_recovery_after_a_clean_shutdown(
    one: ManagedLogs, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    one.append(T0, b"v")
    one.manager.shutdown()
    caplog.clear()
    one.again()
    assert [message for message in caplog.messages if "recover" in message.lower()] == []
    assert one.manager.get_or_create_log(T0).recovery.segments == 0


def test_logs_are_loaded_in_parallel(tmp_path: Path) -> None:
    setup = ManagedLogs(tmp_path / "a", tmp_path / "b", recovery_threads_per_data_dir=3)
    for i in range(12):
        setup.append(TopicPartition("t", i), b"%d" % i)
    crash(setup.manager)
    logs = setup.again().all_logs()
    assert sorted(log.topic_partition.partition for log in logs) == list(range(12))
    assert all(log.log_end_offset == 1 for log in logs)


def test_log_in_two_directories_is_rejected(tmp_path: Path) -> None:
    for directory in ("a", "b"):
        (tmp_path / directory / "topic-0").mkdir(parents=True)
    with pytest.raises(KafkaError, match="in two directories"):
        ManagedLogs(tmp_path / "a", tmp_path / "b")
    shutil.rmtree(tmp_path / "b" / "topic-0")
    ManagedLogs(tmp_path / "a", tmp_path / "b").manager.shutdown()


def test_unrelated_directories_are_ignored(tmp_path: Path) -> None:
    for name in ("lost+found", "topic", "-5", "topic-x", "x-delete", "topic--1"):
        (tmp_path / name).mkdir()
    (tmp_path / "some-file-0").write_bytes(b"")
    manager = ManagedLogs(tmp_path).manager
    assert [log.topic_partition for log in manager.all_logs()] == [TopicPartition("topic-", 1)]


@pytest.mark.parametrize("content", [b"", b"x\n", b"0\n3\n", b"0\n1\ntopic 0\n", b"\xff\xfe", b"1\n0\n"])
def test_a_malformed_checkpoint_only_makes_the_start_slower(one: ManagedLogs, tmp_path: Path, content: bytes) -> None:
    one.append(T0, b"a")
    one.manager.shutdown()
    for name in ("recovery-point-offset-checkpoint", "log-start-offset-checkpoint"):
        (tmp_path / "a" / name).write_bytes(content)
    log = one.again().get_log(T0)
    assert log is not None
    assert (log.log_start_offset, log.log_end_offset) == (0, 1)


def test_an_interrupted_deletion_is_completed_after_a_restart(one: ManagedLogs, tmp_path: Path) -> None:
    one.append(T0, b"old")
    log = one.manager.get_log(T0)
    assert log is not None
    one.manager.async_delete([T0])
    crash(one.manager)
    with open(log.active_segment.log.file, "ab") as file:
        file.write(b"\xff" * 100)  # a log that is to be deleted may be corrupt
    (tmp_path / "a" / "empty-0.0123456789abcdef0123456789abcdef-delete").mkdir()
    one.time = MockTime()
    manager = one.again()
    assert manager.all_logs() == []
    assert any(name.endswith("-delete") for name in names(tmp_path / "a"))
    one.time.sleep(60_000)
    assert not any(name.endswith("-delete") for name in names(tmp_path / "a"))


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EMFILE, errno.ENOMEM])
def test_start_fails_if_a_log_cannot_be_loaded_for_lack_of_resources(
    one: ManagedLogs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """If the start went on, these logs would be recreated, empty."""
    one.append(T0, b"x")
    one.append(T1, b"y")
    one.manager.shutdown()
    open_log = LogManager._open_log

    def refuse(manager: LogManager, directory: Path, *arguments: object) -> object:
        if directory.name == str(T1):
            raise OSError(number, os.strerror(number))
        return open_log(manager, directory, *arguments)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(LogManager, "_open_log", refuse)
        with pytest.raises(OSError, match=os.strerror(number)) as raised:
            one.again()
        assert raised.value.filename == str(tmp_path / "a")
    manager = one.again()
    assert {log.topic_partition: log.log_end_offset for log in manager.all_logs()} == {T0: 1, T1: 1}


def test_opening_logs_leaves_spare_file_descriptors(
    one: ManagedLogs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened, left = os.open, SPARE_FILES - 1

    def open_a_few(path: str, flags: int, *arguments: int, **named: int) -> int:
        nonlocal left
        if path == os.devnull:
            left -= 1
            if left < 0:
                raise OSError(errno.EMFILE, "Too many open files")
        return opened(path, flags, *arguments, **named)

    with monkeypatch.context() as patch:
        patch.setattr(os, "open", open_a_few)
        with pytest.raises(ApiError, match="Too many open files") as raised:
            one.manager.get_or_create_log(T0)
    assert raised.value.error is Errors.KAFKA_STORAGE_ERROR
    assert one.manager.is_log_dir_online(tmp_path / "a")
    assert one.manager.get_or_create_log(T0).log_end_offset == 0

"""Copies of logs in another directory: what they contain, and how they replace their logs."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import pytest

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.scheduler import MockScheduler
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log import log as log_module
from kafka_lite.log.checkpoints.partition_metadata_file import PartitionMetadataFile
from kafka_lite.log.cleaning.cleaner_config import CleanerConfig
from kafka_lite.log.log import Log
from kafka_lite.log.log_cleaning_state import LogCleaningState
from kafka_lite.log.log_config import LogConfig
from kafka_lite.log.log_file_utils import flush_file_or_directory
from kafka_lite.log.log_manager import LogManager
from kafka_lite.log.managing.future_logs import copy_next
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.memory_records_builder import MemoryRecordsBuilder
from kafka_lite.record.records import batches

TP = TopicPartition("orders", 0)


class Broker:
    """A log manager with two directories, and a log with batches of three records in the first one."""

    def __init__(self, folder: Path, *, cleans: bool = False) -> None:
        self.directories = [folder / "a", folder / "b"]
        self.time = MockTime()
        self.scheduler = MockScheduler(self.time)
        config = LogConfig({"segment.bytes": 1000, "file.delete.delay.ms": 100})
        self.manager = LogManager(
            self.directories, {}, config, self.scheduler, self.time, cleaner_config=CleanerConfig() if cleans else None
        )
        self.manager.startup()
        self.manager.dirs.prefer(TP, self.directories[0])
        self.manager.get_or_create_log(TP)

    @property
    def log(self) -> Log:
        log = self.manager.get_log(TP)
        assert log is not None
        return log

    @property
    def copy(self) -> Log:
        copy = self.manager.future_logs.get(TP)
        assert copy is not None
        return copy

    def append(self, *values: str, epoch: int = 0) -> None:
        builder = MemoryRecordsBuilder(2, CompressionType.NONE)
        for value in values:
            builder.append(1, None, value.encode())
        self.log.append_as_leader(builder.build(), epoch)

    def begin_move(self) -> None:
        self.manager.create_future_log(TP, self.directories[1])

    def copy_all(self) -> None:
        while copy_next(self.log, self.copy):
            pass


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Broker]:
    broker = Broker(tmp_path)
    for number in range(5):
        broker.append(*(f"{number}{letter}" * 100 for letter in "abc"))
    yield broker
    broker.manager.shutdown()


def records_at(offset: int) -> bytes:
    builder = MemoryRecordsBuilder(2, CompressionType.NONE, base_offset=offset)
    builder.append(1, None, b"late")
    return builder.build()


def values(log: Log) -> list[tuple[int, str]]:
    found, offset = [], log.log_start_offset
    while offset < log.log_end_offset:
        data = log.read(offset, 1 << 20, None, min_one_message=True).records
        payload = data if isinstance(data, bytes) else data.to_bytes()  # type: ignore[union-attr]
        records = [record for batch in batches(payload) for record in batch.records() if record.offset >= offset]
        found += [(record.offset, (record.value or b"")[:2].decode()) for record in records]
        offset = records[-1].offset + 1
    return found


def test_a_copy_gets_everything_in_steps_and_replaces_its_log(broker: Broker) -> None:
    expected = values(broker.log)
    broker.log.assign_topic_id(UUID(int=7))
    broker.begin_move()
    assert copy_next(broker.log, broker.copy)
    assert 0 < broker.copy.log_end_offset < 15, "one segment"
    assert broker.manager.replace_current_with_future_log(TP) is None, "it is not complete"
    broker.copy_all()
    old, copy = broker.log, broker.copy
    assert broker.manager.replace_current_with_future_log(TP) is copy
    assert broker.log is copy
    assert copy.dir == broker.directories[1] / "orders-0"
    assert values(copy) == expected
    assert copy.topic_id == PartitionMetadataFile.read(copy.dir) == UUID(int=7)
    assert TP not in broker.manager.future_logs
    broker.append("more")
    assert copy.log_end_offset == 16
    assert values(old) == expected, "a response may still be sent from it"
    with pytest.raises(ApiError) as refused:
        old.append_as_follower(records_at(15))
    assert refused.value.error is Errors.KAFKA_STORAGE_ERROR
    broker.time.sleep(200)
    assert [each.name for each in broker.directories[0].glob("orders*")] == []


def test_a_copy_loses_what_its_log_loses(broker: Broker) -> None:
    """Otherwise it would keep records of an old leader below those of the new one."""
    broker.begin_move()
    broker.copy_all()
    broker.manager.truncate_to({TP: 6})
    assert broker.copy.log_end_offset == 6
    for number in range(4):
        broker.append(*(f"n{number}" for _ in range(3)), epoch=1)
    broker.copy_all()
    assert values(broker.copy) == values(broker.log)
    broker.manager.truncate_fully_and_start_at(TP, 100)
    assert (broker.copy.log_start_offset, broker.copy.log_end_offset) == (100, 100)


def test_a_copy_follows_the_start_of_its_log(broker: Broker) -> None:
    broker.begin_move()
    assert copy_next(broker.log, broker.copy)
    broker.log.maybe_increment_log_start_offset(10)
    broker.copy_all()
    assert broker.copy.log_start_offset == 10
    assert values(broker.copy) == values(broker.log)
    assert values(broker.copy)[0][0] == 10


def test_a_log_that_starts_within_a_batch_is_copied_from_the_beginning_of_the_batch(broker: Broker) -> None:
    broker.log.maybe_increment_log_start_offset(4)
    broker.begin_move()
    broker.copy_all()
    assert broker.copy.log_start_offset == 4
    assert values(broker.copy) == values(broker.log)


@pytest.mark.parametrize("cleanly", [True, False])
def test_a_move_survives_a_restart(broker: Broker, tmp_path: Path, cleanly: bool) -> None:
    expected = values(broker.log)
    broker.begin_move()
    copy_next(broker.log, broker.copy)
    end = broker.copy.log_end_offset
    broker.manager.shutdown() if cleanly else broker.manager.abandon()
    if not cleanly:
        broker.manager.shutdown()
    second = Broker(tmp_path)
    assert second.log.dir.parent == broker.directories[0]
    assert second.copy.log_end_offset == end
    second.copy_all()
    assert second.manager.replace_current_with_future_log(TP) is not None
    assert values(second.log) == expected
    second.manager.shutdown()


def test_a_crash_between_the_two_renames_loses_nothing(broker: Broker, tmp_path: Path) -> None:
    expected = values(broker.log)
    broker.begin_move()
    broker.copy_all()
    broker.log.rename_dir(broker.log.dir.with_name("orders-0.0123456789abcdef0123456789abcdef-delete"))
    broker.manager.shutdown()
    second = Broker(tmp_path)
    assert second.log.dir == broker.directories[1] / "orders-0"
    assert values(second.log) == expected
    assert TP not in second.manager.future_logs
    second.manager.shutdown()


def test_a_copy_does_not_replace_a_log_that_is_missing_for_another_reason(broker: Broker, tmp_path: Path) -> None:
    broker.begin_move()
    copy_next(broker.log, broker.copy)
    shutil.rmtree(broker.log.dir)
    broker.manager.abandon()
    broker.manager.shutdown()
    second = Broker(tmp_path)
    assert second.log.dir == broker.directories[0] / "orders-0"
    assert TP in second.manager.future_logs
    second.manager.shutdown()


def test_a_flush_goes_on_if_the_directory_is_renamed_meanwhile(broker: Broker, monkeypatch: pytest.MonkeyPatch) -> None:
    """Segments are flushed in the background. A directory that has moved must not look like a failed disk."""
    renamed = broker.log.dir.with_name("orders-0.0123456789abcdef0123456789abcdef-delete")
    flushed: list[Path] = []

    def flush(path: Path) -> None:
        if path == broker.directories[0] / "orders-0" and not renamed.exists():
            broker.log.rename_dir(renamed)
        flush_file_or_directory(path)
        flushed.append(path)

    monkeypatch.setattr(log_module, "flush_file_or_directory", flush)
    broker.log.flush()
    assert flushed[-1] == renamed
    assert broker.log.recovery_point == 15
    assert broker.manager.is_log_dir_online(broker.directories[0])


def test_a_copy_that_is_given_up_is_deleted(broker: Broker) -> None:
    broker.begin_move()
    copy_next(broker.log, broker.copy)
    broker.manager.remove_future_log(TP)
    assert TP not in broker.manager.future_logs
    broker.time.sleep(200)
    assert [each.name for each in broker.directories[1].glob("orders*")] == []


@pytest.mark.parametrize("failed", [0, 1])
def test_a_failed_directory_ends_the_move(broker: Broker, failed: int) -> None:
    broker.begin_move()
    directory = broker.directories[failed]
    broker.manager.log_dir_failure_channel.maybe_add_offline_log_dir(directory, "reading", OSError(5, "I/O error"))
    assert broker.manager.handle_log_dir_failure(directory) == ([TP] if failed == 0 else [])
    assert TP not in broker.manager.future_logs
    assert (broker.manager.get_log(TP) is None) is (failed == 0)


def test_a_log_is_not_compacted_while_it_moves(tmp_path: Path) -> None:
    broker = Broker(tmp_path, cleans=True)
    cleaner = broker.manager.cleaner
    assert cleaner is not None
    broker.append("one")
    broker.begin_move()
    assert cleaner.cleaner_manager.cleaning_state(TP) is LogCleaningState.LOG_CLEANING_PAUSED
    broker.manager.shutdown()
    broker = Broker(tmp_path, cleans=True)
    cleaner = broker.manager.cleaner
    assert cleaner is not None
    assert cleaner.cleaner_manager.cleaning_state(TP) is LogCleaningState.LOG_CLEANING_PAUSED, "after a restart"
    broker.copy_all()
    broker.manager.replace_current_with_future_log(TP)
    assert cleaner.cleaner_manager.cleaning_state(TP) is LogCleaningState.NONE
    broker.manager.shutdown()


def test_a_copy_is_deleted_with_its_log(broker: Broker) -> None:
    broker.begin_move()
    assert broker.manager.async_delete([TP]) == {}
    assert TP not in broker.manager.future_logs
    broker.time.sleep(100)
    assert not [path for directory in broker.directories for path in directory.iterdir() if path.is_dir()]


def test_a_copy_is_flushed_when_its_time_has_come(broker: Broker) -> None:
    broker.manager.update_topic_config(TP.topic, LogConfig({"flush.ms": 100, "segment.bytes": 100_000}))
    broker.begin_move()
    broker.copy_all()
    unflushed = []
    for wait_ms in (99, 1):
        broker.time.sleep(wait_ms)
        broker.manager.maintenance.flush_dirty_logs()
        unflushed.append(broker.copy.local.unflushed_messages)
    assert unflushed == [15, 0]


def test_a_copy_gets_the_topics_new_configuration(broker: Broker) -> None:
    broker.begin_move()
    broker.manager.update_topic_config(TP.topic, LogConfig({"segment.bytes": 5000}))
    assert broker.copy.config.segment_bytes == broker.log.config.segment_bytes == 5000

"""The cleaner threads, and how they work together with the log manager."""

from __future__ import annotations

import errno
import threading
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from kafka_lite.common.config_def import ConfigError
from kafka_lite.common.scheduler import MockScheduler
from kafka_lite.common.time import SYSTEM_TIME, MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.cleaning.cleaned_segment import CleanedSegment
from kafka_lite.log.cleaning.cleaner_config import CleanerConfig
from kafka_lite.log.cleaning.log_cleaner import LogCleaner
from kafka_lite.log.dirs.log_dir_failure_channel import LogDirFailureChannel
from kafka_lite.log.log import Log
from kafka_lite.log.log_cleaning_state import LogCleaningState
from kafka_lite.log.log_config import LogConfig
from kafka_lite.log.log_manager import LogManager
from kafka_lite.log.log_segment import LogSegment
from tests.support.compaction import all_records, append
from tests.support.eventually import eventually
from tests.support.logs import open_log
from tests.support.patience import patient_s

TP = TopicPartition("topic", 0)
SMALL = {"dedupe_buffer_size": 1 << 16, "backoff_ms": 5}
COMPACT = LogConfig({"cleanup.policy": "compact", "segment.bytes": 300, "segment.index.bytes": 4096})


def fill(log: Log, messages: int = 40, keys: int = 4) -> None:
    for n in range(messages):
        append(log, (b"%d" % (n % keys), b"%d" % n), timestamp=1_000_000)
    log.roll()


# -- the threads -------------------------------------------------------------------------------------------------------


@pytest.fixture
def logs() -> dict[TopicPartition, Log]:
    return {}


@pytest.fixture
def start_cleaner(tmp_path: Path, logs: dict[TopicPartition, Log]) -> Iterator[Callable[..., LogCleaner]]:
    started: list[LogCleaner] = []

    def start(*, throttled_at_once: bool = False, **config: Any) -> LogCleaner:
        failures = LogDirFailureChannel()
        cleaner = LogCleaner(CleanerConfig(**{**SMALL, **config}), [tmp_path], logs, failures, SYSTEM_TIME)
        if throttled_at_once:  # throttle from the first byte, or everything may be cleaned before
            cleaner.throttler._check_interval_ms = -1
        cleaner.startup()
        started.append(cleaner)
        return cleaner

    yield start
    for cleaner in started:
        cleaner.shutdown()


def new_log(tmp_path: Path, logs: dict[TopicPartition, Log], name: str = "topic-0", **config: Any) -> Log:
    log = open_log(tmp_path, name=name, **{"cleanup_policy": "compact", "segment_bytes": 300, **config})
    logs[log.topic_partition] = log
    return log


def test_logs_are_cleaned_by_several_threads(
    tmp_path: Path, logs: dict[TopicPartition, Log], start_cleaner: Callable[..., LogCleaner]
) -> None:
    for number in range(4):
        fill(new_log(tmp_path, logs, f"topic-{number}"))
    cleaner = start_cleaner(num_threads=2)
    for topic_partition, log in logs.items():
        assert cleaner.await_cleaned(topic_partition, 40)
        assert [record.offset for record in all_records(log)] == [36, 37, 38, 39]
    assert cleaner.max_buffer_utilization_percent == 0  # 4 of 1365 slots
    assert 0 < cleaner.cleaner_recopy_percent < 50
    assert (cleaner.dead_thread_count, cleaner.max_compaction_delay_secs) == (0, 0)
    assert 0 <= cleaner.max_clean_time_secs < 60
    # Later dirty records are cleaned, too. (One append: a small rest would not exceed the dirty ratio.)
    cleaner.abort_and_pause_cleaning(TP)
    fill(logs[TP])
    cleaner.resume_cleaning([TP])
    assert cleaner.await_cleaned(TP, 80)


def test_shutdown_interrupts_a_throttled_cleaning(
    tmp_path: Path, logs: dict[TopicPartition, Log], start_cleaner: Callable[..., LogCleaner]
) -> None:
    fill(new_log(tmp_path, logs))
    cleaner = start_cleaner(max_io_bytes_per_second=0.0, throttled_at_once=True)
    eventually(lambda: cleaner.cleaner_manager.cleaning_state(TP) is LogCleaningState.LOG_CLEANING_IN_PROGRESS)
    cleaner.shutdown()  # otherwise the cleaning would never end
    assert cleaner.cleaner_manager.cleaning_state(TP) is LogCleaningState.NONE
    assert not list(logs[TP].dir.glob("*.cleaned"))


def test_an_abort_interrupts_a_throttled_cleaning(
    tmp_path: Path, logs: dict[TopicPartition, Log], start_cleaner: Callable[..., LogCleaner]
) -> None:
    fill(new_log(tmp_path, logs))
    cleaner = start_cleaner(max_io_bytes_per_second=0.0, throttled_at_once=True)
    eventually(lambda: cleaner.cleaner_manager.cleaning_state(TP) is LogCleaningState.LOG_CLEANING_IN_PROGRESS)
    aborting = threading.Thread(target=cleaner.abort_and_pause_cleaning, args=(TP,))
    aborting.start()
    aborting.join(patient_s(60))
    assert not aborting.is_alive()
    assert cleaner.cleaner_manager.cleaning_state(TP) is LogCleaningState.LOG_CLEANING_PAUSED


def test_reconfigure_interrupts_a_throttled_cleaning_and_restarts_it(
    tmp_path: Path, logs: dict[TopicPartition, Log], start_cleaner: Callable[..., LogCleaner]
) -> None:
    fill(new_log(tmp_path, logs))
    paused = new_log(tmp_path, logs, "paused-0")
    cleaner = start_cleaner(max_io_bytes_per_second=0.0, backoff_ms=60_000, throttled_at_once=True)
    eventually(lambda: cleaner.cleaner_manager.cleaning_state(TP) is LogCleaningState.LOG_CLEANING_IN_PROGRESS)
    cleaner.abort_and_pause_cleaning(paused.topic_partition)
    old = list(cleaner.cleaners)
    cleaner.reconfigure(CleanerConfig(**SMALL, num_threads=2))
    assert not any(thread.is_alive() for thread in old)
    assert (len(cleaner.cleaners), cleaner.dead_thread_count) == (2, 0)
    assert cleaner.await_cleaned(TP, 40)
    assert [record.offset for record in all_records(logs[TP])] == [36, 37, 38, 39]
    assert cleaner.cleaner_manager.cleaning_state(paused.topic_partition) is LogCleaningState.LOG_CLEANING_PAUSED
    cleaner.reconfigure(CleanerConfig(**SMALL, num_threads=1))
    assert len(cleaner.cleaners) == 1


def test_an_invalid_reconfiguration_keeps_the_old_threads_running(
    tmp_path: Path, logs: dict[TopicPartition, Log], start_cleaner: Callable[..., LogCleaner]
) -> None:
    cleaner = start_cleaner()
    config, old = cleaner.config, list(cleaner.cleaners)
    with pytest.raises(ValueError, match="cannot hold a slot"):
        cleaner.reconfigure(CleanerConfig(dedupe_buffer_size=1, max_io_bytes_per_second=1.0))
    assert (cleaner.config, cleaner.cleaners, cleaner.dead_thread_count) == (config, old, 0)
    assert cleaner.throttler.desired_rate_per_second == config.max_io_bytes_per_second
    cleaner.abort_and_pause_cleaning(TP)
    fill(new_log(tmp_path, logs))
    cleaner.resume_cleaning([TP])
    assert cleaner.await_cleaned(TP, 40)


def test_reconfigure_after_shutdown_starts_no_threads(start_cleaner: Callable[..., LogCleaner]) -> None:
    cleaner = start_cleaner()
    cleaner.shutdown()
    cleaner.reconfigure(CleanerConfig(**SMALL, num_threads=2))
    assert cleaner.cleaners == []


@pytest.mark.parametrize(
    ("now", "wanted", "says"),
    [
        (1, 2, None),
        (4, 8, None),
        (5, 2, None),
        (1, 0, "at least 1"),
        (1, 3, "increased to more than double the current value 1"),
        (5, 1, "reduced to less than half the current value 5"),
        (0, 1, "increased to more than double the current value 0"),
    ],
)
def test_the_number_of_threads_may_at_most_double_or_halve(
    tmp_path: Path, now: int, wanted: int, says: str | None
) -> None:
    cleaner = LogCleaner(CleanerConfig(num_threads=now), [tmp_path], {}, LogDirFailureChannel(), SYSTEM_TIME)
    expectation = nullcontext() if says is None else pytest.raises(ConfigError, match=says)
    with expectation:
        cleaner.validate_reconfiguration(CleanerConfig(num_threads=wanted))


def test_an_uncleanable_log_does_not_hold_up_the_others(
    tmp_path: Path, logs: dict[TopicPartition, Log], start_cleaner: Callable[..., LogCleaner]
) -> None:
    broken = new_log(tmp_path, logs, "broken-0")
    fill(broken)
    file = broken.segments.first.log.file
    content = bytearray(file.read_bytes())
    content[8:12] = b"\x7f\0\0\0"  # the size of the first batch
    file.write_bytes(content)
    fill(new_log(tmp_path, logs))
    cleaner = start_cleaner()
    assert cleaner.await_cleaned(TP, 40)
    eventually(lambda: cleaner.cleaner_manager.uncleanable_partitions(tmp_path) == {TopicPartition("broken", 0)})
    assert cleaner.dead_thread_count == 0
    assert bytes(content) == file.read_bytes()


@pytest.mark.parametrize("error", [MemoryError(), OSError(errno.ENOSPC, "No room"), OSError(errno.ENOMEM, "No memory")])
def test_a_cleaning_that_ran_out_of_memory_or_disk_is_retried(
    tmp_path: Path,
    logs: dict[TopicPartition, Log],
    start_cleaner: Callable[..., LogCleaner],
    monkeypatch: pytest.MonkeyPatch,
    error: Exception,
) -> None:
    fill(new_log(tmp_path, logs))
    complete, failures = CleanedSegment.complete, iter([error] * 3)

    def complete_at_last(cleaned: CleanedSegment) -> LogSegment:
        failure = next(failures, None)
        if failure is not None:
            raise failure
        return complete(cleaned)

    monkeypatch.setattr(CleanedSegment, "complete", complete_at_last)
    cleaner = start_cleaner()
    assert cleaner.await_cleaned(TP, 40)
    assert next(failures, None) is None
    assert not cleaner.cleaner_manager.uncleanable_partitions(tmp_path)
    assert not list(tmp_path.glob("*/*.cleaned"))


def test_compact_and_delete_applies_retention_too(
    tmp_path: Path, logs: dict[TopicPartition, Log], start_cleaner: Callable[..., LogCleaner]
) -> None:
    later = MockTime(SYSTEM_TIME.milliseconds() + 60_000)  # an empty segment is as old as its file
    log = new_log(tmp_path, logs, cleanup_policy="compact,delete", retention_ms=1_000, time=later)
    fill(log)
    start_cleaner()
    eventually(lambda: log.log_start_offset == 40)
    eventually(lambda: all_records(log) == [])


def test_segments_below_the_log_start_are_deleted_from_a_compacted_log(
    tmp_path: Path, logs: dict[TopicPartition, Log], start_cleaner: Callable[..., LogCleaner]
) -> None:
    log = new_log(tmp_path, logs, retention_ms=1_000, min_cleanable_dirty_ratio=1.0)
    fill(log)
    log.maybe_increment_log_start_offset(20)
    start_cleaner()
    eventually(lambda: log.segments.first.base_offset > 0)
    assert {record.offset for record in all_records(log)} >= set(range(20, 40))


# -- the log manager ---------------------------------------------------------------------------------------------------


@pytest.fixture
def time() -> MockTime:
    return MockTime()


@pytest.fixture
def manager(tmp_path: Path, time: MockTime) -> Iterator[LogManager]:
    log_manager = LogManager(
        [tmp_path / "logs"],
        {"topic": COMPACT},
        LogConfig({"retention.ms": 1_000, "segment.index.bytes": 4096}),
        MockScheduler(time),
        time,
        cleaner_config=CleanerConfig(num_threads=0, **SMALL),
    )
    log_manager.startup()
    yield log_manager
    log_manager.shutdown()


def cleaned_up_to(manager: LogManager) -> int | None:
    assert manager.cleaner is not None
    return manager.cleaner.cleaner_manager.all_cleaner_checkpoints().get(TP)


def pretend_cleaned(manager: LogManager, offset: int) -> None:
    assert manager.cleaner is not None
    manager.cleaner.cleaner_manager.update_checkpoints(manager.log_dirs[0], {TP: offset})


def test_retention_does_not_delete_from_compacted_logs(manager: LogManager, time: MockTime) -> None:
    log = manager.get_or_create_log(TP)
    other = manager.get_or_create_log(TopicPartition("other", 0))
    fill(log)
    fill(other)
    time.sleep(10_000)
    manager.maintenance.cleanup_logs()
    assert len(all_records(log)) == 40
    assert all_records(other) == []
    assert manager.cleaner is not None
    assert manager.cleaner.cleaner_manager.cleaning_state(other.topic_partition) is LogCleaningState.NONE


def test_retention_does_not_delete_from_compacted_logs_without_a_cleaner(tmp_path: Path, time: MockTime) -> None:
    retention = LogConfig({"retention.ms": 1_000, "cleanup.policy": "compact,delete", "segment.index.bytes": 4096})
    disabled = CleanerConfig(enable_cleaner=False)
    manager = LogManager([tmp_path], {}, retention, MockScheduler(time), time, cleaner_config=disabled)
    manager.startup()
    assert manager.cleaner is None
    log = manager.get_or_create_log(TP)
    fill(log)
    time.sleep(10_000)
    manager.maintenance.cleanup_logs()
    assert len(all_records(log)) == 40
    manager.shutdown()


def test_truncation_lowers_the_cleaner_checkpoint(manager: LogManager) -> None:
    log = manager.get_or_create_log(TP)
    fill(log)
    pretend_cleaned(manager, 30)
    append(log, (b"k", b"v"), (b"k", b"v"))
    manager.truncate_to({TP: 41})
    assert cleaned_up_to(manager) == 30, "only the active segment was truncated"
    manager.truncate_to({TP: 10})
    assert log.active_segment.base_offset < 10
    assert cleaned_up_to(manager) == log.active_segment.base_offset
    manager.truncate_fully_and_start_at(TP, 3)
    assert (cleaned_up_to(manager), log.log_end_offset) == (3, 3)
    assert manager.cleaner is not None
    assert manager.cleaner.cleaner_manager.cleaning_state(TP) is LogCleaningState.NONE


@pytest.mark.parametrize("what", ["delete", "truncate", "truncate fully", "another policy"])
def test_truncation_and_deletion_wait_for_a_running_cleaning(manager: LogManager, what: str) -> None:
    log = manager.get_or_create_log(TP)
    fill(log)
    assert manager.cleaner is not None
    cleaner_manager = manager.cleaner.cleaner_manager
    assert cleaner_manager.grab_filthiest_compacted_log() is not None
    actions: dict[str, Callable[[], object]] = {
        "delete": lambda: manager.async_delete([TP]),
        "truncate": lambda: manager.truncate_to({TP: 5}),
        "truncate fully": lambda: manager.truncate_fully_and_start_at(TP, 0),
        "another policy": lambda: manager.update_topic_config("topic", manager.configs.default),
    }
    acting = threading.Thread(target=actions[what])
    acting.start()
    eventually(lambda: cleaner_manager.cleaning_state(TP) is LogCleaningState.LOG_CLEANING_ABORTED)
    assert acting.is_alive()
    assert log.dir.name == "topic-0"
    assert log.log_end_offset == 40
    cleaner_manager.done_cleaning(TP, log.dir.parent, 40)
    acting.join(patient_s(60))
    assert not acting.is_alive()
    assert cleaner_manager.cleaning_state(TP) is LogCleaningState.NONE
    assert cleaned_up_to(manager) is None


def test_deletion_removes_the_cleaner_checkpoint(manager: LogManager) -> None:
    fill(manager.get_or_create_log(TP))
    pretend_cleaned(manager, 30)
    manager.async_delete([TP])
    assert cleaned_up_to(manager) is None
    assert "topic" not in (manager.log_dirs[0] / "cleaner-offset-checkpoint").read_text()

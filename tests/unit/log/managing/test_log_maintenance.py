"""The background tasks by themselves: when they run, and that one bad log does not keep the others from its turn."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.common.scheduler import MockScheduler
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.log import Log
from kafka_lite.log.log_config import MAX_LONG, LogConfig
from kafka_lite.log.managing.log_maintenance import INITIAL_TASK_DELAY_MS, LogMaintenance, MaintenancePeriods
from kafka_lite.record.memory_records_builder import MemoryRecordsBuilder

SMALL = {"segment.bytes": 1_000, "file.delete.delay.ms": 100, "flush.ms": 1_000}


class Checkpoints:
    """Notes what is written."""

    def __init__(self) -> None:
        self.written: list[tuple[str, Path]] = []

    def write_recovery_points(self, directory: Path) -> None:
        self.written.append(("recovery points", directory))

    def write_log_start_offsets(self, directory: Path) -> None:
        self.written.append(("start offsets", directory))


class Dirs:
    """One directory, which may be offline."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.online = True

    @property
    def live(self) -> list[Path]:
        return [self.directory] if self.online else []

    def is_online(self, _directory: Path) -> bool:
        return self.online


class Maintained:
    """Logs of the topic t, and the maintenance of them."""

    def __init__(self, directory: Path, count: int, **periods: int) -> None:
        self.time = MockTime()
        self.scheduler = MockScheduler(self.time)
        self.logs = [self.new_log(directory, number) for number in range(count)]
        self.dirs, self.checkpoints = Dirs(directory), Checkpoints()
        never = dict.fromkeys(MaintenancePeriods.__dataclass_fields__, MAX_LONG)
        self.maintenance = LogMaintenance(
            lambda: list(self.logs), list, cast(Any, self.dirs), cast(Any, self.checkpoints), None,
            self.scheduler, self.time, MaintenancePeriods(**never | periods),
        )  # fmt: skip

    def new_log(self, directory: Path, number: int) -> Log:
        log = Log(directory / f"t-{number}", LogConfig(SMALL), 0, self.scheduler, self.time)
        builder = MemoryRecordsBuilder()
        builder.append(self.time.milliseconds(), None, b"x")
        log.append_as_leader(builder.build(), 0)
        return log


def test_a_task_runs_after_the_initial_delay_and_then_once_per_period(tmp_path: Path) -> None:
    maintained = Maintained(tmp_path, 0, recovery_points_ms=1_000, start_offsets_ms=2_000)
    maintained.maintenance.startup()
    maintained.time.sleep(INITIAL_TASK_DELAY_MS - 1)
    assert maintained.checkpoints.written == []
    maintained.time.sleep(1)
    assert sorted(name for name, _ in maintained.checkpoints.written) == ["recovery points", "start offsets"]
    maintained.time.sleep(1_000)
    assert [name for name, _ in maintained.checkpoints.written[2:]] == ["recovery points"]


def test_a_directory_that_is_offline_gets_no_checkpoint(tmp_path: Path) -> None:
    maintained = Maintained(tmp_path, 0)
    maintained.dirs.online = False
    maintained.maintenance.checkpoint_recovery_point_offsets()
    maintained.maintenance.checkpoint_log_start_offsets()
    assert maintained.checkpoints.written == []


def test_an_error_in_one_log_does_not_affect_the_others(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    maintained = Maintained(tmp_path, 2)
    broken, sound = maintained.logs
    broken.local.dir = tmp_path / "gone"  # its files are there, but the directory cannot be flushed
    maintained.time.sleep(1_000)
    maintained.maintenance.flush_dirty_logs()
    assert (sound.recovery_point, broken.recovery_point) == (1, 0)
    assert f"Error in flush of {TopicPartition('t', 0)}" in caplog.text


def test_a_log_is_flushed_once_its_time_has_come(tmp_path: Path) -> None:
    maintained = Maintained(tmp_path, 1)
    maintained.time.sleep(999)
    maintained.maintenance.flush_dirty_logs()
    assert maintained.logs[0].recovery_point == 0
    maintained.time.sleep(1)
    maintained.maintenance.flush_dirty_logs()
    assert maintained.logs[0].recovery_point == 1


def test_files_of_a_deleted_log_go_after_the_delay(tmp_path: Path) -> None:
    maintained = Maintained(tmp_path, 1)
    (log,) = maintained.logs
    maintained.maintenance.delete_later(log)
    maintained.time.sleep(99)
    assert log.dir.exists()
    maintained.time.sleep(1)
    assert not log.dir.exists()


class UndeletableLog:
    """Cannot be deleted at first."""

    topic_partition, dir, config = TopicPartition("t", 0), Path("/logs/t-0"), LogConfig(SMALL)

    def __init__(self) -> None:
        self.attempts = 0

    def delete(self) -> None:
        self.attempts += 1
        if self.attempts == 1:
            raise Errors.KAFKA_STORAGE_ERROR.exception("no space left")


@pytest.mark.parametrize(("online", "attempts"), [(True, 2), (False, 1)])
def test_a_deletion_that_fails_is_tried_again_while_the_directory_is_online(
    tmp_path: Path, online: bool, attempts: int
) -> None:
    maintained, log = Maintained(tmp_path, 0), UndeletableLog()
    maintained.dirs.online = online
    maintained.maintenance.delete_later(cast(Any, log))
    for _ in range(3):
        maintained.time.sleep(100)
    assert log.attempts == attempts

"""The directories of log.dirs: locked, chosen for new logs, taken offline when their disk fails."""

from __future__ import annotations

import errno
import subprocess
import sys
from pathlib import Path

import pytest

from kafka_lite.common.errors import KafkaError
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.dirs.file_lock import FileLock
from kafka_lite.log.log_manager import LogManager
from tests.support.log_managers import ManagedLogs

T0 = TopicPartition("topic", 0)

T1 = TopicPartition("topic", 1)

SMALL = {"segment.index.bytes": 1024}


@pytest.fixture
def one(tmp_path: Path) -> ManagedLogs:
    return ManagedLogs(tmp_path / "a")


def test_new_logs_go_to_the_directory_with_the_fewest_logs(tmp_path: Path) -> None:
    setup = ManagedLogs(tmp_path / "a", tmp_path / "b")
    for i in range(5):
        setup.append(TopicPartition("t", i), b"x")
    counts = [len([log for log in setup.manager.all_logs() if log.dir.parent == directory]) for directory in setup.dirs]
    assert sorted(counts) == [2, 3]


def test_directory_locked_by_this_process_is_rejected(one: ManagedLogs, tmp_path: Path) -> None:
    with pytest.raises(KafkaError, match=r"Stop that broker, or give this one another log\.dirs"):
        ManagedLogs(tmp_path / "a")
    one.manager.shutdown()
    ManagedLogs(tmp_path / "a").manager.shutdown()


def test_directory_locked_by_another_process_is_rejected(tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from kafka_lite.log.dirs.file_lock import FileLock\n"
        f"assert FileLock(Path({str(tmp_path / '.lock')!r})).try_lock()\nprint('locked', flush=True)\nsys.stdin.read()"
    )
    other = subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    with other:
        assert other.stdout is not None
        assert other.stdout.readline() == "locked\n"
        with pytest.raises(KafkaError, match="failed to acquire the lock"):
            ManagedLogs(tmp_path)
        other.kill()
    ManagedLogs(tmp_path).manager.shutdown()


def test_directory_listed_twice_is_rejected(tmp_path: Path) -> None:
    with pytest.raises(KafkaError, match="twice"):
        ManagedLogs(tmp_path / "a", tmp_path / "b" / ".." / "a")


def test_unusable_directory_goes_offline(tmp_path: Path) -> None:
    (tmp_path / "bad").write_bytes(b"not a directory")
    setup = ManagedLogs(tmp_path / "bad", tmp_path / "good")
    assert setup.manager.live_log_dirs == [tmp_path / "good"]
    setup.append(T0, b"x")
    setup.append(T1, b"x")
    assert {log.dir.parent for log in setup.manager.all_logs()} == {tmp_path / "good"}


def test_start_fails_if_no_directory_is_usable(tmp_path: Path) -> None:
    (tmp_path / "bad").write_bytes(b"not a directory")
    with pytest.raises(KafkaError, match=r"set log\.dirs to directories that this user may write to"):
        ManagedLogs(tmp_path / "bad")


def break_disk(manager: LogManager, directory: Path) -> None:
    manager.log_dir_failure_channel.maybe_add_offline_log_dir(directory, "test", OSError(errno.EIO, "broken"))


def test_another_process_may_use_a_failed_directory(tmp_path: Path) -> None:
    setup = ManagedLogs(tmp_path / "a", tmp_path / "b")
    break_disk(setup.manager, tmp_path / "a")
    setup.manager.handle_log_dir_failure(tmp_path / "a")
    locks = [FileLock(directory / ".lock") for directory in setup.dirs]
    assert [lock.try_lock() for lock in locks] == [True, False]
    locks[0].unlock()


def test_a_preferred_directory_that_has_failed_is_not_used(tmp_path: Path) -> None:
    setup = ManagedLogs(tmp_path / "a", tmp_path / "b")
    setup.manager.dirs.prefer(T0, tmp_path / "a")
    break_disk(setup.manager, tmp_path / "a")
    assert setup.manager.get_or_create_log(T0).dir.parent == tmp_path / "b"

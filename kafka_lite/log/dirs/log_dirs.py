"""The directories of ``log.dirs``: locked against other brokers, taken offline if their disk fails.

Kafka 0.10.2: core/.../log/LogManager.scala (createAndValidateLogDirs, lockLogDirs) · book 6.1.5
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from kafka_lite.common.errors import Errors, KafkaError
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.dirs.file_lock import FileLock
from kafka_lite.log.dirs.log_dir_failure_channel import LogDirFailureChannel

LOCK_FILE = ".lock"


class LogDirs:
    """Normally one directory per disk. A directory whose disk fails goes offline; the others remain available."""

    def __init__(self, directories: Sequence[Path], failure_channel: LogDirFailureChannel) -> None:
        self.all = list(directories)
        self._failure_channel = failure_channel
        self._opened: list[Path] = []
        self._locks: dict[Path, FileLock] = {}
        self._preferred: dict[TopicPartition, Path] = {}
        """Where logs are to be created that do not exist yet."""
        self.is_abandoned = False

    @property
    def live(self) -> list[Path]:
        """The directories that are online."""
        return [directory for directory in self._opened if self.is_online(directory)]

    def is_online(self, directory: Path) -> bool:
        """Whether the directory's disk has not failed."""
        return not self._failure_channel.has_offline_log_dir(directory)

    def find(self, path: str) -> Path:
        """The directory of ``log.dirs`` with this absolute path.

        Raises ApiError LOG_DIR_NOT_FOUND, and KAFKA_STORAGE_ERROR if it is offline.
        """
        for directory in self.all:
            if str(directory.absolute()) == path:
                if not self.is_online(directory):
                    raise Errors.KAFKA_STORAGE_ERROR.exception(f"log directory {path} is offline")
                return directory
        raise Errors.LOG_DIR_NOT_FOUND.exception(f"log directory {path} is not in log.dirs")

    def prefer(self, topic_partition: TopicPartition, directory: Path) -> None:
        """Create the log of a partition there, if it does not exist yet."""
        self._preferred[topic_partition] = directory

    def next_for(self, topic_partition: TopicPartition, of_logs: Iterable[str]) -> list[Path]:
        """Where to create the log of a partition, the best place first: the preferred directory if there is one.

        Otherwise the live directories, fewest logs first; ``of_logs`` are the directories of all logs.
        """
        preferred = self._preferred.get(topic_partition)
        if preferred is not None and self.is_online(preferred):
            return [preferred]
        if len(self.all) == 1:
            return self.live
        counts = Counter(of_logs)
        return sorted(self.live, key=lambda directory: counts[str(directory)])

    def open(self) -> None:
        """Create missing directories and take the locks; unusable directories go offline.

        Raises KafkaError if a directory is listed twice or locked by another broker, or if none is usable. Raises
        OSError, naming the directory, if its disk is full.
        """
        if len({directory.resolve() for directory in self.all}) < len(self.all):
            raise KafkaError(f"log.dirs lists a directory twice: {', '.join(map(str, self.all))}")
        for directory in self.all:
            try:
                directory.mkdir(parents=True, exist_ok=True)
                self._lock(directory)
                self._opened.append(directory)
            except OSError as error:
                if not self.fail(directory, "Cannot use the log directory", error):
                    self.unlock_all()
                    raise in_directory(error, directory) from error
            except KafkaError:
                self.unlock_all()
                raise
        if not self._opened:
            raise KafkaError(
                f"none of the log directories {', '.join(map(str, self.all))} can be created and written to; "
                "see the errors above, or set log.dirs to directories that this user may write to"
            )

    def _lock(self, directory: Path) -> None:
        lock = FileLock(directory / LOCK_FILE)
        if not lock.try_lock():
            raise KafkaError(
                f"failed to acquire the lock on {lock.file}: another broker, in this process or another one, uses the "
                "directory. Stop that broker, or give this one another log.dirs"
            )
        self._locks[directory] = lock

    def fail(self, directory: Path, message: str, error: OSError) -> bool:
        """Report an error; returns whether the directory is offline now."""
        self._failure_channel.maybe_add_offline_log_dir(directory, message, error)
        return not self.is_online(directory)

    def abandon(self) -> None:
        """Treat all directories as closed, so that nothing is written; the locks are kept."""
        self.is_abandoned = True
        self._opened.clear()

    def check_any_is_live(self) -> None:
        """Raises KafkaError if all directories are offline: a broker cannot work without a disk."""
        if not self.live:
            raise KafkaError(f"all log directories have failed: {', '.join(map(str, self.all))}")

    def unlock(self, directory: Path) -> None:
        """Release the lock of a directory, if it is held."""
        lock = self._locks.pop(directory, None)
        if lock is not None:
            lock.unlock()

    def unlock_all(self) -> None:
        """Release all locks."""
        for directory in list(self._locks):
            self.unlock(directory)


def in_directory(error: OSError, directory: Path) -> OSError:
    """The error with a file name: the directory's if it has none."""
    return OSError(error.errno, error.strerror, str(error.filename or directory))

"""This user's running brokers on this machine: each has a file that it keeps locked while it runs.

Kafka 0.10.2: bin/kafka-server-stop.sh · book 1.4.1

Kafka's script searches the process list for ``kafka.Kafka``. A lock is more reliable: it cannot be mistaken for another
program, it never outlives the broker, however the broker ends, and it shows when the broker is gone.
"""

from __future__ import annotations

import fcntl
import logging
import os
import signal
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from platformdirs import user_state_dir

from kafka_lite.common.properties import PropertiesError, dump_properties, load_properties

logger = logging.getLogger(__name__)

_SUFFIX = ".properties"


def default_directory() -> Path:
    """``kafka-lite/brokers`` in the user's state directory (Linux: ``~/.local/state``)."""
    return Path(user_state_dir("kafka-lite", appauthor=False)) / "brokers"


@dataclass(frozen=True)
class RunningBroker:
    """A running broker: its process id and the facts in its file (``broker.id``, ``listeners``, ``log.dirs``, …)."""

    pid: int
    facts: Mapping[str, str]
    file: Path

    def stop(self) -> None:
        """Send SIGTERM. Raises ProcessLookupError if the broker has just exited."""
        os.kill(self.pid, signal.SIGTERM)

    def is_running(self) -> bool:
        """Whether the broker still holds the lock on its file."""
        return _is_held(self.file)


class RunningBrokers:
    """The directory of these files, named ``<pid>.properties``."""

    def __init__(self, directory: Path | None = None) -> None:
        self.directory = directory or default_directory()
        self._file = self.directory / f"{os.getpid()}{_SUFFIX}"
        self._fd = -1

    def enter(self, facts: Mapping[str, str]) -> None:
        """Register this process. If the directory is not writable, ``server-stop`` will not find the broker."""
        try:
            self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.find()
            # The file gets its name last: find() removes a file that is not locked.
            unfinished = self._file.with_suffix(".starting")
            self._fd = os.open(unfinished, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
            fcntl.flock(self._fd, fcntl.LOCK_EX)
            os.write(self._fd, dump_properties(facts).encode())
            unfinished.rename(self._file)
        except OSError as error:
            logger.warning(
                "Cannot write %s (%s); `kafka-lite server-stop` will not find this broker", self._file, error.strerror
            )

    def leave(self) -> None:
        """Unregister this process; no-op if it is not registered."""
        if self._fd >= 0:
            self._file.unlink(missing_ok=True)
            os.close(self._fd)
            self._fd = -1

    def find(self) -> list[RunningBroker]:
        """The running brokers. Removes files left behind by killed brokers."""
        found = []
        for file in sorted(self.directory.glob(f"*{_SUFFIX}")):
            if not file.stem.isdigit():
                continue
            if _is_held(file):
                found.append(RunningBroker(int(file.stem), _facts(file), file))
            else:
                file.unlink(missing_ok=True)
        return found


def _is_held(file: Path) -> bool:
    """Whether a process holds the lock; False if the file does not exist."""
    try:
        fd = os.open(file, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(fd)
    return False


def _facts(file: Path) -> Mapping[str, str]:
    try:
        return load_properties(file)
    except (OSError, PropertiesError):  # being written, or just removed
        return {}

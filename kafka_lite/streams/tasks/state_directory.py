"""The directories of tasks and of global stores on disk, and their locks.

Kafka 0.10.2: streams/.../processor/internals/StateDirectory.java · book 9.1.4
"""

from __future__ import annotations

import fcntl
import logging
import shutil
from contextlib import suppress
from pathlib import Path
from typing import IO

from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.streams.errors import ProcessorStateError, TaskIdFormatError
from kafka_lite.streams.task_id import TaskId

logger = logging.getLogger(__name__)

LOCK_FILE_NAME = ".lock"
CHECKPOINT_FILE_NAME = ".checkpoint"
GLOBAL_STATE_DIR_NAME = "global"
_RETRY_BACKOFF_MS = 200


class StateDirectory:
    """``<state.dir>/<application id>/<task id>/``: a directory per task, with its ``.lock`` and its ``.checkpoint``.
    ``<state.dir>/<application id>/global/``: the same for the global stores of an instance.

    Each thread has its own object. A task's directory is locked by the thread that has the task, against other threads
    and processes. The lock ends with its process. Two applications, or two instances on one machine, need different
    directories or a different ``application.id`` only if they are to have the same tasks at once.
    """

    def __init__(self, application_id: str, state_dir: str | Path, time: Time = SYSTEM_TIME) -> None:
        """Create the directory of the application. Raises ProcessorStateError."""
        self._time = time
        self._locks: dict[Path, IO[bytes]] = {}
        """By directory, the open file whose lock this object has."""
        self.base = Path(state_dir) / application_id
        _make(self.base, "state directory")

    def directory_for_task(self, task_id: TaskId) -> Path:
        """The directory of a task, created if necessary. Raises ProcessorStateError."""
        path = self._path_of(task_id)
        _make(path, "task directory")
        return path

    def global_state_dir(self) -> Path:
        """The directory of the global stores, created if necessary. Raises ProcessorStateError."""
        _make(self._global_path, "global state directory")
        return self._global_path

    def lock(self, task_id: TaskId, retries: int = 0) -> bool:
        """Lock the directory of a task; try again ``retries`` times, every 200 ms. True if this object has the lock."""
        return self._lock(self.directory_for_task(task_id), retries)

    def lock_global_state(self, retries: int = 0) -> bool:
        """Lock the directory of the global stores, as ``lock`` does that of a task."""
        return self._lock(self.global_state_dir(), retries)

    def unlock(self, task_id: TaskId) -> None:
        """Release a lock. A no-op if this object does not have it."""
        self._unlock(self._path_of(task_id))

    def unlock_global_state(self) -> None:
        """Release the lock. A no-op if this object does not have it."""
        self._unlock(self._global_path)

    def _path_of(self, task_id: TaskId) -> Path:
        return self.base / str(task_id)

    @property
    def _global_path(self) -> Path:
        return self.base / GLOBAL_STATE_DIR_NAME

    def _lock(self, directory: Path, retries: int) -> bool:
        if directory in self._locks:
            return True
        file = (directory / LOCK_FILE_NAME).open("wb")
        while not _try_lock(file):
            if retries <= 0:
                file.close()
                return False
            retries -= 1
            self._time.sleep(_RETRY_BACKOFF_MS)
        self._locks[directory] = file
        return True

    def _unlock(self, directory: Path) -> None:
        file = self._locks.pop(directory, None)
        if file is not None:
            file.close()

    def clear(self, task_id: TaskId) -> None:
        """Delete everything in the directory of a task but its lock. Raises ProcessorStateError."""
        for path in self.directory_for_task(task_id).iterdir():
            if path.name != LOCK_FILE_NAME:
                try:
                    shutil.rmtree(path) if path.is_dir() else path.unlink()
                except OSError as error:
                    raise ProcessorStateError(f"task [{task_id}] Failed to delete {path}: {error}") from error

    def task_ids(self) -> list[TaskId]:
        """The tasks that have a directory, in order."""
        found = []
        for path in self.base.iterdir():
            try:
                found.append(TaskId.parse(path.name))
            except TaskIdFormatError:
                continue
        return sorted(found)

    def cached_tasks(self) -> frozenset[TaskId]:
        """The tasks that have a checkpoint: those whose state is here, more or less."""
        return frozenset(each for each in self.task_ids() if (self._path_of(each) / CHECKPOINT_FILE_NAME).exists())

    def clean_removed_tasks(self) -> None:
        """Delete the directories of tasks that are not locked."""
        for task_id in self.task_ids():
            path = self._path_of(task_id)
            if path not in self._locks and self.lock(task_id):
                try:
                    logger.info("Deleting obsolete state directory %s for task %s", path, task_id)
                    shutil.rmtree(path)
                except OSError:
                    logger.exception("Failed to delete the state directory of task %s", task_id)
                finally:
                    self.unlock(task_id)

    def clean(self) -> None:
        """Delete the state of the application, except locked directories."""
        self.clean_removed_tasks()
        self._clean_global_state()
        with suppress(OSError):  # something is left
            self.base.rmdir()

    def _clean_global_state(self) -> None:
        path = self._global_path
        if path.exists() and path not in self._locks and self.lock_global_state():
            try:
                shutil.rmtree(path)
            except OSError:
                logger.exception("Failed to delete the directory of the global stores %s", path)
            finally:
                self.unlock_global_state()


def _make(path: Path, what: str) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ProcessorStateError(f"{what} [{path}] doesn't exist and couldn't be created: {error}") from error


def _try_lock(file: IO[bytes]) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True

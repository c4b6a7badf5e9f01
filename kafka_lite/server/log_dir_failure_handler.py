"""The thread that takes the partitions of a failed disk offline.

Kafka 1.0 and later: core/.../server/ReplicaManager.scala (LogDirFailureHandler, KIP-112) · book 6.2.1
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path

from kafka_lite.common.errors import KafkaError
from kafka_lite.common.shutdownable_thread import ShutdownableThread
from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.log.log_manager import LogManager
from kafka_lite.server.replica_state_changes import ReplicaStateChanges

logger = logging.getLogger(__name__)

WAIT_MS = 500


class LogDirFailureHandler(ShutdownableThread):
    """Waits for directories that go offline. Requests for their partitions then get KAFKA_STORAGE_ERROR.

    The controller is notified, and elects other leaders. ``stop`` is called if no directory is left: a broker without a
    disk stops. It is also called if ``controller_knows_directories`` is false: a controller before 1.0 only notices
    that a whole broker is gone. A full disk stops nothing: other brokers then lead its partitions, if they are in sync.
    """

    def __init__(
        self,
        log_manager: LogManager,
        state_changes: ReplicaStateChanges,
        stop: Callable[[], None],
        notify_controller: Callable[[], None],
        controller_knows_directories: bool = True,
        time: Time = SYSTEM_TIME,
    ) -> None:
        super().__init__("LogDirFailureHandler")
        self._log_manager = log_manager
        self._state_changes = state_changes
        self._stop_broker = stop
        self._notify_controller = notify_controller
        self._controller_knows_directories = controller_knows_directories
        self._time = time
        self._must_notify = False

    def do_work(self) -> None:
        """Wait briefly for a failed directory, take its partitions offline, and notify the controller."""
        directory = self._log_manager.log_dir_failure_channel.take_next_offline_log_dir(WAIT_MS)
        if directory is not None:
            self._handle_failure(directory)
        if self._controller_knows_directories and self._state_changes.without_room.check(self._time.hi_res_ms()):
            self._must_notify = True
        if self._must_notify:
            self._try_to_notify()

    def _handle_failure(self, directory: Path) -> None:
        try:
            self._state_changes.take_offline(self._log_manager.handle_log_dir_failure(directory))
            if not self._controller_knows_directories:
                raise KafkaError(f"{directory} has failed, and controllers before 1.0 only notice whole brokers")
        except KafkaError as error:
            logger.critical("Shutting down the broker: %s", error)
            self._stop_broker()
        else:
            self._must_notify = True

    def _try_to_notify(self) -> None:
        """Notify the controller; without ZooKeeper, the next turn tries again."""
        try:
            self._notify_controller()
        except KafkaError as error:
            logger.warning("Cannot notify the controller of the log directory yet: %s", error)
        else:
            self._must_notify = False

    def wake_up(self) -> None:
        """End the wait."""
        self._log_manager.log_dir_failure_channel.wake_up()

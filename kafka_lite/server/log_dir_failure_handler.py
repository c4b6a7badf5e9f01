"""The thread that gives up the partitions of a failed disk.

Kafka 1.0 and later: core/.../server/ReplicaManager.scala (LogDirFailureHandler, KIP-112) · book 6.2.1
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from kafka_lite.common.errors import KafkaError
from kafka_lite.common.shutdownable_thread import ShutdownableThread
from kafka_lite.log.log_manager import LogManager
from kafka_lite.server.replica_manager import ReplicaManager

logger = logging.getLogger(__name__)

WAIT_MS = 500


class LogDirFailureHandler(ShutdownableThread):
    """Waits for directories that go offline. Requests for their partitions get KAFKA_STORAGE_ERROR from then on.

    ``on_last_failure`` is called if no directory is left: a broker without a disk stops.
    """

    def __init__(
        self, log_manager: LogManager, replica_manager: ReplicaManager, on_last_failure: Callable[[], None]
    ) -> None:
        super().__init__("LogDirFailureHandler")
        self._log_manager = log_manager
        self._replica_manager = replica_manager
        self._on_last_failure = on_last_failure

    def do_work(self) -> None:
        """Wait briefly for a failed directory, and take its partitions offline."""
        directory = self._log_manager.log_dir_failure_channel.take_next_offline_log_dir(WAIT_MS)
        if directory is None:
            return
        try:
            self._replica_manager.mark_offline(self._log_manager.handle_log_dir_failure(directory))
        except KafkaError as error:
            logger.critical("Shutting down the broker: %s", error)
            self._on_last_failure()

    def wake_up(self) -> None:
        """End the wait."""
        self._log_manager.log_dir_failure_channel.wake_up()

"""The course that MirrorMaker 2's connectors share: they begin, try again if a cluster is down, and look now and then.

Kafka 2.4: connect/mirror/.../connect/mirror/MirrorSourceConnector.java, MirrorCheckpointConnector.java,
MirrorHeartbeatConnector.java (start, stop) · book 8.1.1
"""

from __future__ import annotations

import logging
from abc import abstractmethod

from kafka_lite import __version__
from kafka_lite.common.errors import KafkaError
from kafka_lite.connect.api.source_connector import SourceConnector
from kafka_lite.mirror.connectors.periodic_tasks import PeriodicTasks

logger = logging.getLogger(__name__)

RETRY_MS = 5_000
STOP_S = 5.0


class MirrorConnector(SourceConnector):
    """A subclass's ``start`` checks its settings, and tells ``new_thread`` what is to be done periodically.

    A cluster that does not respond is asked again: after ``RETRY_MS`` until the connector has begun, and later with
    the next periodic look. (Java waits for that look at the start, too.)
    """

    _thread: PeriodicTasks | None = None
    _label = ""
    has_begun = False
    """Whether both clusters have said what the connector has to know."""

    def version(self) -> str:
        """Of kafka_lite."""
        return __version__

    @abstractmethod
    def begin(self) -> None:
        """Create the connector's own topic, and find out what there is. Raises KafkaError."""

    def new_thread(self, name: str, label: str) -> PeriodicTasks:
        """Begin, and return the thread for periodic tasks. The caller adds them, and starts it."""
        self._label, self.has_begun = label, False
        self._begin_or_warn()
        self._thread = PeriodicTasks(f"mirror-{name}-{label}")
        self._thread.add("beginning", self.retry, None if self.has_begun else RETRY_MS)
        return self._thread

    def _begin_or_warn(self) -> None:
        try:
            self.begin()
            self.has_begun = True
        except KafkaError as error:
            logger.warning("%s: %s. This is tried again", self._label, error)

    def retry(self) -> None:
        """Begin, and ask for tasks, if that was not possible at the start. Raises KafkaError."""
        if not self.has_begun:
            self.begin()
            self.has_begun = True
            self.context.request_task_reconfiguration()

    def stop(self) -> None:
        """Look no more."""
        if self._thread is not None:
            self._thread.shutdown(STOP_S)
            self._thread = None

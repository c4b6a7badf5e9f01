"""A worker with all that belongs to it, as a command or a test starts it.

Kafka 0.10.2: connect/runtime/.../connect/runtime/Connect.java · book 8.3.3
"""

from __future__ import annotations

import logging
import threading

from kafka_lite.connect.runtime.herder import Herder
from kafka_lite.connect.runtime.rest.rest_server import RestServer
from kafka_lite.metrics.metrics_http_server import MetricsHttpServer

logger = logging.getLogger(__name__)


class Connect:
    """Ties the herder and the REST interface together: they start and stop as one."""

    def __init__(self, herder: Herder, rest: RestServer, metrics_server: MetricsHttpServer | None = None) -> None:
        self.herder = herder
        self.rest = rest
        self.metrics_server = metrics_server
        self._lock = threading.Lock()
        self._stopped = threading.Event()

    def start(self) -> None:
        """Start the herder, then the REST interface. Raises ConnectError, leaving nothing running."""
        logger.info("Kafka Connect starting")
        try:
            if self.metrics_server is not None:
                self.metrics_server.start()
                logger.info("Metrics at %s", self.metrics_server.url)
            self.herder.start()
            self.rest.start(self.herder)
        except BaseException:
            self.stop()
            raise
        logger.info("Kafka Connect started")

    def stop(self) -> None:
        """Stop the REST interface, then the herder with all connectors and tasks. Once is enough."""
        with self._lock:
            if self._stopped.is_set():
                return
            logger.info("Kafka Connect stopping")
            try:
                self.rest.stop()
            finally:
                self.herder.stop()
                if self.metrics_server is not None:
                    self.metrics_server.shutdown()
                self._stopped.set()
            logger.info("Kafka Connect stopped")

    def await_stop(self, timeout_s: float | None = None) -> bool:
        """Wait until it has stopped; False after ``timeout_s``. A herder that has failed by then counts as stopped."""
        return self._stopped.wait(timeout_s) or self.herder.failure is not None

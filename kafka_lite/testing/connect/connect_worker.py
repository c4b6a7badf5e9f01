"""One worker of a :class:`ConnectCluster`.

Kafka 2.3: connect/runtime/src/test/.../connect/util/clusters/WorkerHandle.java · book 8.3.1
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from dataclasses import replace
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlsplit

from kafka_lite.common.errors import KafkaError
from kafka_lite.connect.runtime.connect import Connect
from kafka_lite.connect.runtime.connect_clients import ConnectClients
from kafka_lite.connect.runtime.distributed.distributed_herder import DistributedHerder
from kafka_lite.connect.runtime.new_connect import new_distributed_connect
from kafka_lite.consumer.kafka_consumer import KafkaConsumer
from kafka_lite.producer.kafka_producer import KafkaProducer
from kafka_lite.testing.connect.worker_time import WorkerTime

logger = logging.getLogger(__name__)

REQUEST_TIMEOUT_S = 90.0
DEATH_TIMEOUT_S = 10.0
JSON_HEADERS = {"Content-Type": "application/json", "Accept": "application/json"}


class RestError(Exception):
    """A worker has refused a request: ``status`` and the message of its answer."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(f"{status}: {message}")
        self.status = status


class ConnectWorker:
    """A worker, which can be stopped or killed, and started again."""

    def __init__(self, name: str, props: Mapping[str, str]) -> None:
        """The port of the REST interface is chosen at the first start, and kept."""
        self.name = name
        self._props = dict(props)
        self._connect: Connect | None = None
        self._time = WorkerTime()
        self._clients = _KeptClients(self._time)

    @property
    def is_running(self) -> bool:
        """Whether it was started and neither stopped nor killed. A paused worker is running."""
        return self._connect is not None

    @property
    def connect(self) -> Connect:
        """Herder and REST interface. Raises RuntimeError if it is not running."""
        if self._connect is None:
            raise RuntimeError(f"worker {self.name} is not running")
        return self._connect

    @property
    def herder(self) -> DistributedHerder:
        """The herder. Raises RuntimeError if it is not running."""
        herder = self.connect.herder
        assert isinstance(herder, DistributedHerder)
        return herder

    @property
    def url(self) -> str:
        """The REST interface: ``http://127.0.0.1:40123/``. Raises RuntimeError if it is not running."""
        return self.connect.rest.advertised_url

    @property
    def id(self) -> str:
        """Its id in statuses. Raises RuntimeError if it is not running."""
        return self.connect.rest.worker_id

    def start(self) -> None:
        """Start it; it joins the group soon. Raises RuntimeError if it is running, and ConfigError, ConnectError."""
        if self._connect is not None:
            raise RuntimeError(f"worker {self.name} is already running")
        self._time = WorkerTime()
        self._clients = _KeptClients(self._time)
        self._connect = new_distributed_connect(self._props, clients=self._clients, time=self._time)
        self._props["rest.port"] = str(urlsplit(self.url).port)
        self._connect.start()

    def stop(self) -> None:
        """Stop it: its connectors and tasks end, it leaves the group. Idempotent."""
        if self._connect is not None:
            self._time.resume()
            self._connect.stop()
            self._connect = None

    def pause(self) -> None:
        """Hold it, as SIGSTOP does: after ``session.timeout.ms`` the others share its work."""
        self.connect  # noqa: B018  raises if it is not running
        self._time.pause()

    def resume(self) -> None:
        """Let it continue after ``pause``."""
        self._time.resume()

    def kill(self) -> None:
        """End it, as nearly like ``kill -9`` as one process allows.

        It does not leave the group, which notices its death by the session timeout. Nothing is committed. (Tasks that
        wait in code of their own are told to stop, or their threads would never end.)
        """
        connect, herder = self.connect, self.herder
        self._connect = None
        if self._time.kill(DEATH_TIMEOUT_S):
            self._time.resume()  # nobody is left: only what remains is released
            herder.loop.abandon()
            self._clients.close()
        else:
            logger.warning("Threads of worker %s are still alive", self.name)
        connect.rest.stop()
        if connect.metrics_server is not None:
            connect.metrics_server.shutdown()

    def request(self, method: str, path: str, body: object = None) -> Any:
        """Ask its REST interface; returns the JSON of the answer, None if it has none. Raises RestError, OSError."""
        target = urlsplit(self.url)
        connection = HTTPConnection(target.hostname or "", target.port, timeout=REQUEST_TIMEOUT_S)
        try:
            connection.request(method, path, None if body is None else json.dumps(body), JSON_HEADERS)
            response = connection.getresponse()
            content = response.read()
        finally:
            connection.close()
        answer = json.loads(content) if content else None
        if response.status >= 400:
            raise RestError(response.status, answer["message"] if isinstance(answer, dict) else str(answer))
        return answer


class _KeptClients(ConnectClients):
    """Keeps what it makes, to close the sockets of a killed worker."""

    def __init__(self, time: WorkerTime) -> None:
        super().__init__(time)
        self._consumers: list[KafkaConsumer] = []
        self._producers: list[KafkaProducer] = []

    def consumer(self, config: Mapping[str, object]) -> KafkaConsumer:
        """A consumer."""
        self._consumers.append(super().consumer(config))
        return self._consumers[-1]

    def producer(self, config: Mapping[str, object]) -> KafkaProducer:
        """A producer."""
        self._producers.append(super().producer(config))
        return self._producers[-1]

    def close(self) -> None:
        """Close all of them. No consumer leaves its group: a killed process does not."""
        for consumer in self._consumers:
            coordinator = consumer._parts.coordinator
            if coordinator is not None:
                coordinator.config = replace(coordinator.config, leave_group_on_close=False)
        clients: list[KafkaConsumer | KafkaProducer] = [*self._consumers, *self._producers]
        for client in clients:
            try:
                client.close(0)
            except KafkaError:
                logger.debug("A client of a killed worker was not closed", exc_info=True)

"""Workers of Kafka Connect in your own test process, on a broker of the test.

Kafka 2.3: connect/runtime/src/test/.../connect/util/clusters/EmbeddedConnectCluster.java · book 8.3.1
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote

from kafka_lite.testing.any_cluster import AnyCluster, texts
from kafka_lite.testing.arguments import check_keys, check_whole_number
from kafka_lite.testing.connect.connect_worker import ConnectWorker, RestError

TIMEOUT_S = 60.0
POLL_S = 0.05
NOT_FOUND, CONFLICT = 404, 409
JSON_CONVERTER = "org.apache.kafka.connect.json.JsonConverter"
WORKER_DEFAULTS: dict[str, str] = {
    "group.id": "connect-cluster",
    "config.storage.topic": "connect-configs",
    "offset.storage.topic": "connect-offsets",
    "status.storage.topic": "connect-status",
    "key.converter": JSON_CONVERTER,
    "value.converter": JSON_CONVERTER,
    "internal.key.converter": JSON_CONVERTER,
    "internal.value.converter": JSON_CONVERTER,
    "internal.key.converter.schemas.enable": "false",
    "internal.value.converter.schemas.enable": "false",
    "config.storage.replication.factor": "1",
    "offset.storage.replication.factor": "1",
    "status.storage.replication.factor": "1",
    "offset.storage.partitions": "5",
    "rest.port": "0",
    # Rebalances and deaths are noticed soon, and offsets are committed often.
    "heartbeat.interval.ms": "200",
    "session.timeout.ms": "6000",
    "consumer.heartbeat.interval.ms": "200",
    "consumer.session.timeout.ms": "6000",
    "offset.flush.interval.ms": "500",
}
"""Differences from a worker's defaults, for a quick test."""


class ConnectCluster:
    """Running workers, which share connectors and tasks::

        with Cluster() as cluster, ConnectCluster(cluster, workers=2) as connect:
            connect.put_connector("lines", {"connector.class": "FileStreamSource", "file": "…", "topic": "lines"})
            connect.await_running("lines", tasks=1)
            connect.workers[0].kill()
            connect.await_running("lines", tasks=1)        # now on the other one

    ``props`` are keys of ``connect-distributed.properties``. The workers create the three internal topics if they
    are not there. Requests go to the first worker that runs; any worker would do.
    """

    def __init__(self, cluster: AnyCluster[Any], workers: int = 1, props: Mapping[str, object] | None = None) -> None:
        check_whole_number("workers", workers, "ConnectCluster(cluster, workers=2)")
        check_keys("props", props or {}, "ConnectCluster(cluster, props={'offset.flush.interval.ms': 100})")
        self.cluster = cluster
        """The brokers."""
        self._props = WORKER_DEFAULTS | texts(props or {})
        self._wanted = workers
        self.workers: list[ConnectWorker] = []
        """All workers, those that were stopped or killed, too."""

    # ── life cycle ────────────────────────────────────────────────────────────────────────────────────────────────

    def start(self) -> Self:
        """Start all workers, and wait until each is in the group. Raises ConnectError, ConfigError, AssertionError."""
        try:
            for _ in range(self._wanted):
                self.add_worker(wait=False)
            for worker in self.workers:
                self._await_worker(worker)
        except BaseException:
            self.stop()
            raise
        return self

    def stop(self) -> None:
        """Stop all workers. Idempotent."""
        for worker in self.workers:
            worker.stop()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()

    def add_worker(self, *, wait: bool = True) -> ConnectWorker:
        """Start one more worker, and wait until it is in the group."""
        worker = ConnectWorker(
            str(len(self.workers)), self._props | {"bootstrap.servers": self.cluster.bootstrap_servers}
        )
        self.workers.append(worker)
        worker.start()
        if wait:
            self._await_worker(worker)
        return worker

    def _await_worker(self, worker: ConnectWorker) -> None:
        def is_in_the_group() -> bool:
            try:
                if worker.herder.failure is None:
                    return _answers(lambda: worker.request("GET", "/connectors"))
            except RestError:
                if worker.herder.failure is None:
                    raise
            raise worker.herder.failure  # a response would only say that it is shutting down

        self._await(is_in_the_group, lambda: f"worker {worker.name} does not get into the group")

    # ── connectors ────────────────────────────────────────────────────────────────────────────────────────────────

    def put_connector(self, name: str, config: Mapping[str, object]) -> None:
        """Create a connector, or change it. Raises RestError if the configuration is wrong."""
        self.request("PUT", f"/connectors/{_quoted(name)}/config", texts(config))

    def delete_connector(self, name: str) -> None:
        """Delete a connector. Raises RestError if there is none."""
        self.request("DELETE", f"/connectors/{_quoted(name)}")

    def pause_connector(self, name: str) -> None:
        """Pause a connector with its tasks, soon. Raises RestError if there is none."""
        self.request("PUT", f"/connectors/{_quoted(name)}/pause")

    def stop_connector(self, name: str) -> None:
        """End the tasks of a connector; its configuration and offsets stay. Raises RestError if there is none."""
        self.request("PUT", f"/connectors/{_quoted(name)}/stop")

    def resume_connector(self, name: str) -> None:
        """Resume a connector with its tasks, soon, or start a stopped one. Raises RestError if there is none."""
        self.request("PUT", f"/connectors/{_quoted(name)}/resume")

    def restart_connector(self, name: str, *, include_tasks: bool = False, only_failed: bool = False) -> None:
        """Restart a connector, not its tasks; or all of them, or those that have failed. Raises RestError."""
        flags = f"includeTasks={str(include_tasks).lower()}&onlyFailed={str(only_failed).lower()}"
        self.request("POST", f"/connectors/{_quoted(name)}/restart?{flags}")

    def restart_task(self, name: str, task: int) -> None:
        """Restart a task. Raises RestError."""
        self.request("POST", f"/connectors/{_quoted(name)}/tasks/{task}/restart")

    def connectors(self) -> list[str]:
        """The names of all connectors, sorted."""
        return sorted(self.request("GET", "/connectors"))

    def status(self, name: str) -> dict[str, Any] | None:
        """The status of a connector and its tasks, as the REST interface has it. None if there is none yet."""
        try:
            found: dict[str, Any] = self.request("GET", f"/connectors/{_quoted(name)}/status")
        except RestError as error:
            if error.status == NOT_FOUND:
                return None
            raise
        return found

    def request(self, method: str, path: str, body: object = None) -> Any:
        """Ask the first worker that runs. Repeated while the group rebalances. Raises RestError, AssertionError."""
        answers: list[Any] = []

        def is_answered() -> bool:
            return _answers(lambda: answers.append(self._a_worker().request(method, path, body)))

        self._await(is_answered, lambda: f"{method} {path}: the group does not stop rebalancing")
        return answers[-1]

    def _a_worker(self) -> ConnectWorker:
        for worker in self.workers:
            if worker.is_running:
                return worker
        raise RuntimeError("no worker is running: start the cluster, or add a worker")

    # ── waiting ───────────────────────────────────────────────────────────────────────────────────────────────────

    def await_running(self, name: str, tasks: int) -> None:
        """Wait until a connector and so many of its tasks run, on workers that are alive. Raises AssertionError, with
        the last status."""
        self.await_state(name, "RUNNING", tasks)

    def await_state(self, name: str, state: str, tasks: int) -> None:
        """Wait until a connector and so many of its tasks are in a state, as ``PAUSED``. Raises AssertionError."""
        self._await(
            lambda: self._has_state(name, state, tasks),
            lambda: f"{name} and {tasks} of its tasks are not {state}: {self.status(name)}",
        )

    def _has_state(self, name: str, state: str, tasks: int) -> bool:
        status = self.status(name)
        if status is None:
            return False
        alive = {worker.id for worker in self.workers if worker.is_running}
        reports = [each for each in (status["connector"], *status["tasks"]) if each["worker_id"] in alive]
        states = [each["state"] for each in reports]
        return status["connector"] in reports and states[:1] == [state] and states[1:].count(state) == tasks

    def await_no_status(self, name: str) -> None:
        """Wait until nothing is known of a connector any more. Raises AssertionError."""
        self._await(lambda: self.status(name) is None, lambda: f"{name} still has a status: {self.status(name)}")

    @staticmethod
    def _await(condition: Callable[[], bool], problem: Callable[[], str]) -> None:
        deadline = time.monotonic() + TIMEOUT_S
        while not condition():
            if time.monotonic() > deadline:
                raise AssertionError(problem())
            time.sleep(POLL_S)


def _answers(call: Callable[[], object]) -> bool:
    """Whether a request was served. Raises RestError, but for a group that rebalances."""
    try:
        call()
    except RestError as error:
        if error.status != CONFLICT or "already exists" in str(error):
            raise
        return False
    return True


def _quoted(name: str) -> str:
    return quote(name, safe="")

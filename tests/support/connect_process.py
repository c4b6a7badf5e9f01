"""A worker of Connect in a process of its own, to which tests send signals as Kafka's system tests do."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any, Final

from kafka_lite.server.broker_process import HOST, ServerProcess, free_port, write_properties
from kafka_lite.testing.connect.connect_cluster import WORKER_DEFAULTS
from tests.support.eventually import eventually
from tests.support.patience import patient_s

KAFKA_LITE: Final = (sys.executable, "-m", "kafka_lite.tools.main")
STANDALONE: Final = ("key.converter", "value.converter", "internal.", "offset.flush.interval.ms")
"""What a standalone worker has of ``WORKER_DEFAULTS``: keys that begin like this."""
REQUEST_TIMEOUT_S: Final = 90.0


class ConnectProcess(ServerProcess):
    """A worker that is asked by HTTP. It may be stopped or killed, and started again at the same port."""

    def __init__(self, command: Sequence[str], port: int, log_file: Path) -> None:
        super().__init__(command, port, log_file)
        self.id = f"{HOST}:{port}"
        """Its id in statuses."""
        self._before: list[str] = []
        """The output of earlier lives, one text for each."""

    def spawn(self) -> None:
        """Start it without waiting. The output of its last life is kept."""
        if self.log_file.exists():
            self._before.append(self.log())
        super().spawn()

    def ask(self, method: str, path: str, body: object = None) -> tuple[int, Any]:
        """Status and JSON of an answer. Raises OSError, HTTPException."""
        connection = HTTPConnection(HOST, self.port, timeout=patient_s(REQUEST_TIMEOUT_S))
        try:
            headers = {"Content-Type": "application/json"}
            connection.request(method, path, None if body is None else json.dumps(body), headers)
            response = connection.getresponse()
            content = response.read()
        finally:
            connection.close()
        is_json = "json" in (response.getheader("Content-Type") or "") and content
        return response.status, json.loads(content) if is_json else None

    def is_in_its_group(self) -> bool:
        """Whether it serves requests, which it does once it has an assignment."""
        try:
            return self.ask("GET", "/connectors")[0] == 200
        except (OSError, HTTPException):
            return False

    def await_membership(self) -> None:
        """Wait until it is in its group."""
        eventually(self.is_in_its_group, lambda: f"in the group\n{self.end_of_log()}")

    def printed(self) -> list[dict[str, Any]]:
        """The lines of JSON that its verifiable tasks have printed in all its lives.

        A line that ``kill -9`` has cut off is left out.
        """
        lines = [line for text in (*self._before, self.log()) for line in text.splitlines() if line.startswith("{")]
        return [json.loads(line) for line in lines if line.endswith("}")]


class OurWorker(ConnectProcess):
    """``kafka-lite connect-distributed``, or ``connect-standalone`` with its connectors."""

    def __init__(
        self,
        folder: Path,
        name: str,
        bootstrap_servers: str,
        props: Mapping[str, str],
        connectors: Mapping[str, Mapping[str, str]] | None = None,
    ) -> None:
        """``connectors``: those of a standalone worker, by name; None for a worker of a group."""
        port = free_port()
        common = {"bootstrap.servers": bootstrap_servers, "rest.host.name": HOST, "rest.port": str(port)}
        files = [folder / f"{name}.properties"]
        if connectors is None:
            tool, own = "connect-distributed", WORKER_DEFAULTS
        else:
            tool, own = "connect-standalone", {k: v for k, v in WORKER_DEFAULTS.items() if k.startswith(STANDALONE)}
            common["offset.storage.file.filename"] = str(folder / f"{name}.offsets")
        write_properties(files[0], {**own, **common, **props})
        for connector, config in (connectors or {}).items():
            files.append(folder / f"{connector}.properties")
            write_properties(files[-1], {"name": connector, **config})
        super().__init__([*KAFKA_LITE, tool, *map(str, files)], port, folder / f"{name}.log")


class WorkerProcesses:
    """A group of our workers, one process each."""

    def __init__(
        self,
        folder: Path,
        bootstrap_servers: str,
        count: int,
        props: Mapping[str, str],
        others: Sequence[ConnectProcess] = (),
    ) -> None:
        """``others``: workers of another language in the group, which end with it, too."""
        ours = [OurWorker(folder, f"worker-{number}", bootstrap_servers, props) for number in range(count)]
        self.workers: list[ConnectProcess] = [*ours, *others]

    def __enter__(self) -> WorkerProcesses:
        try:
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self.workers:
            worker.kill()

    def start(self) -> None:
        """Start those that do not run, at a time, and wait for all."""
        for worker in self.workers:
            if not worker.is_running:
                worker.spawn()
        for worker in self.workers:
            worker.start()
            worker.await_membership()

    def end(self, worker: ConnectProcess, *, clean: bool) -> None:
        """SIGTERM, after which it must end by itself, or SIGKILL."""
        if clean:
            assert worker.stop() == 0, worker.end_of_log()
        else:
            worker.kill()

    def ask(self, method: str, path: str, body: object = None) -> Any:
        """The answer of a worker that runs, repeated while the group rebalances."""
        answers: list[Any] = []

        def is_answered() -> bool:
            running = next(worker for worker in self.workers if worker.is_running)
            answers.append(running.ask(method, path, body))
            return bool(answers[-1][0] < 300)

        eventually(is_answered, lambda: f"{method} {path}: {answers[-1:]}")
        return answers[-1][1]

    def status(self, name: str, worker: ConnectProcess) -> list[tuple[str, str]]:
        """State and worker of a connector, then of its tasks, as one of the workers sees it. Empty if there is none."""
        status, found = worker.ask("GET", f"/connectors/{name}/status")
        if status != 200:
            return []
        return [(each["state"], each["worker_id"]) for each in (found["connector"], *found["tasks"])]

    def await_state(self, name: str, state: str, tasks: int) -> None:
        """Wait until all running workers report this state for the connector and its tasks, on running workers."""
        for worker in [each for each in self.workers if each.is_running]:
            eventually(
                lambda worker=worker: self._has_state(name, state, tasks, worker),  # type: ignore[misc]
                lambda worker=worker: f"{name} {state}: {self.status(name, worker)}",  # type: ignore[misc]
            )

    def _has_state(self, name: str, state: str, tasks: int, worker: ConnectProcess) -> bool:
        found = self.status(name, worker)
        running = {each.id for each in self.workers if each.is_running}
        return [each for each, _ in found] == [state] * (1 + tasks) and {at for _, at in found} <= running

    def printed(self) -> list[dict[str, Any]]:
        """The lines of all verifiable tasks."""
        return [line for worker in self.workers for line in worker.printed()]

    def numbers(self, flag: str) -> dict[int, list[int]]:
        """By task of the verifiable source: the numbers in lines with ``flag``, in the order of the lines.

        ``committed``: the source's, which the broker has acknowledged; ``flushed``: the sink's, before a commit.
        """
        found: dict[int, list[int]] = {}
        for line in self.printed():
            if line.get(flag):
                found.setdefault(line["task"], []).append(line["seqno"])
        return found

    def await_more(self, tasks: int, count: int) -> None:
        """Wait until the sink has flushed ``count`` numbers more from each task of the source."""
        before = self.numbers("flushed")

        def have_come() -> bool:
            now = self.numbers("flushed")
            return all(len(now.get(task, ())) >= len(before.get(task, ())) + count for task in range(tasks))

        eventually(have_come, lambda: {task: len(numbers) for task, numbers in self.numbers("flushed").items()})

    def await_all_flushed(self) -> None:
        """Wait until the sink has flushed each number that the source has committed."""

        def missing() -> dict[int, set[int]]:
            committed, flushed = self.numbers("committed"), self.numbers("flushed")
            return {task: set(numbers) - set(flushed.get(task, ())) for task, numbers in committed.items()}

        eventually(lambda: not any(missing().values()), missing)

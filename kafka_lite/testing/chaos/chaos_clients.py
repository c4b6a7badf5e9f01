"""The client processes of a run, and the history that they write together.

Kafka 0.10.2: tests/kafkatest/services/verifiable_producer.py, verifiable_consumer.py · book 1.4.2
"""

from __future__ import annotations

import dataclasses
import os
import signal
import sys
import threading
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from kafka_lite.common.errors import KafkaError
from kafka_lite.server.broker_process import ServerProcess
from kafka_lite.testing.chaos.client import ClientSpec
from kafka_lite.testing.chaos.history_files import HistoryFile
from kafka_lite.testing.history.history import History

CLIENT: Final = (sys.executable, "-m", "kafka_lite.testing.chaos.client")
NO_PORT: Final = 0


class ChaosClient:
    """One client process."""

    def __init__(self, spec: ClientSpec, history: History) -> None:
        self.spec = spec
        self.file = HistoryFile(Path(spec.history_file), history)
        log_file = Path(spec.history_file).with_suffix(".log")
        self._process = ServerProcess([*CLIENT, spec.to_json()], NO_PORT, log_file)
        self._was_killed = False
        self._process.spawn()

    @property
    def name(self) -> str:
        """The client's name, which no other one has had."""
        return self.spec.name

    @property
    def is_running(self) -> bool:
        """Whether its process has not ended."""
        return self._process.is_running

    def end(self) -> None:
        """SIGTERM; does not wait."""
        with suppress(ProcessLookupError, KafkaError):
            os.kill(self._process.process.pid, signal.SIGTERM)

    def kill(self) -> None:
        """kill -9."""
        self._was_killed = True
        self._process.kill()

    def pause(self) -> None:
        """SIGSTOP."""
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        """SIGCONT."""
        self._signal(signal.SIGCONT)

    def _signal(self, number: int) -> None:
        with suppress(ProcessLookupError):
            os.kill(self._process.process.pid, number)

    def failure(self) -> str:
        """The error with which the client ended by itself, or "" if there was none."""
        if self._was_killed or self.is_running or self._process.process.returncode == 0:
            return ""
        return f"{self.name} ended with {self._process.process.returncode}:\n{self._process.end_of_log()}"


class ChaosClients:
    """All clients, including those that were killed."""

    def __init__(self, folder: Path, history: History, seed: int) -> None:
        folder.mkdir()
        self._folder = folder
        self._history = history
        self._seed = seed
        self._clients: list[ChaosClient] = []
        self._taken: set[str] = set()
        self._lock = threading.Lock()

    def start(self, spec: ClientSpec) -> None:
        """Start a client. ``history_file`` and ``seed`` of the spec are set here."""
        name = spec.name
        spec = dataclasses.replace(spec, history_file=str(self._folder / f"{name}.jsonl"), seed=f"{self._seed}/{name}")
        if not spec.is_producer:
            self._history.groups[name] = spec.group
        elif spec.configs.get("enable.idempotence"):
            self._history.idempotent.add(name)
        client = ChaosClient(spec, self._history)
        with self._lock:
            self._clients.append(client)

    def replace(self, client: ChaosClient) -> None:
        """Start a killed client's successor, under another name: a history tells them apart."""
        base, _, number = client.name.partition("+")
        self.start(dataclasses.replace(client.spec, name=f"{base}+{int(number or 0) + 1}"))

    def take(self, *, is_producer: bool, amount: float) -> ChaosClient | None:
        """A running client that no fault has yet; None if there is none."""
        with self._lock:
            free = [
                client
                for client in self._clients
                if client.spec.is_producer == is_producer and client.is_running and client.name not in self._taken
            ]
            if not free:
                return None
            client = free[int(amount * len(free))]
            self._taken.add(client.name)
            return client

    def give_back(self, client: ChaosClient) -> None:
        """End of a fault."""
        with self._lock:
            self._taken.discard(client.name)

    def read_histories(self) -> None:
        """Read what the clients have written since the last time."""
        with self._lock:
            clients = list(self._clients)
        for client in clients:
            client.file.read()

    def end(self, *, producers: bool) -> None:
        """Ask the producers, or the consumers, to finish."""
        for client in self._clients:
            if client.spec.is_producer == producers:
                client.end()

    def end_transformers(self) -> None:
        """Ask the clients that make records from others to finish."""
        for client in self._clients:
            if client.spec.target:
                client.end()

    def running(self, *, producers: bool) -> list[ChaosClient]:
        """The clients that have not ended."""
        return [client for client in self._clients if client.spec.is_producer == producers and client.is_running]

    def progress(self) -> Counter[str]:
        """How far each group is, and each producer together with those that it has replaced."""
        counts: Counter[str] = Counter()
        for client in list(self._clients):
            counts[client.spec.group or client.name.partition("+")[0]] += client.file.progress
        return counts

    def replace_hung(self, before: Mapping[str, int]) -> list[str]:
        """Replace clients of librdkafka that have made no progress since ``before``; returns their names.

        Since librdkafka 2.10, a client forgets brokers that its metadata no longer lists. It may wait for one of them
        forever: confluentinc/librdkafka#5511.
        """
        hung = [
            client
            for producers in (True, False)
            for client in self.running(producers=producers)
            if client.spec.library == "librdkafka" and before.get(client.name) == client.file.progress
        ]
        for client in hung:
            client.kill()
            self.replace(client)
        return [client.name for client in hung]

    def kill_hung(self, *, producers: bool) -> list[str]:
        """End clients of librdkafka that do not end; returns their names."""
        hung = [client for client in self.running(producers=producers) if client.spec.library == "librdkafka"]
        for client in hung:
            client.kill()
        return [client.name for client in hung]

    def failures(self) -> list[str]:
        """The errors of the clients that ended by themselves."""
        return [failure for client in self._clients if (failure := client.failure())]

    def kill(self) -> None:
        """End all that are left."""
        for client in self._clients:
            client.kill()

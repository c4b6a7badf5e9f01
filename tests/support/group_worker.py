"""A process with consumers of one group, ours and librdkafka's: it can be killed and paused like any process.

``GroupWorker`` is the test's side of it. Commands come over standard input, one per line: ``join NAME``, ``leave
NAME``, ``pause NAME SECONDS`` (stop polling for so long); at its end, all members leave. The process prints:

    read NAME PARTITION OFFSET         before any later offset is committed
    committed NAME PARTITION OFFSET    a commit was acknowledged
    refused NAME ERROR                 a commit was rejected
    failed NAME ERROR                  an unexpected error: the consumer has ended
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from tests.support.patience import patient_s

END_S = 60


class GroupWorker:
    """One such process, and everything that it has printed."""

    def __init__(self, config: Mapping[str, object], topic: str, members: Collection[str]) -> None:
        """``members``: names; every other one uses librdkafka. ``config`` applies to all of them."""
        arguments = json.dumps({"config": dict(config), "topic": topic})
        self.members = list(members)
        self.lines: list[list[str]] = []
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.support.group_worker", arguments],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2],
        )  # fmt: skip
        self._reader = threading.Thread(target=self._read)
        self._reader.start()
        for name in members:
            self.tell("join", name)

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.endswith("\n"):  # otherwise it was killed while printing this line
                self.lines.append(line.split())

    def tell(self, *words: object) -> None:
        """Send a command."""
        assert self._process.stdin is not None
        self._process.stdin.write(" ".join(map(str, words)) + "\n")
        self._process.stdin.flush()

    def stop(self) -> None:
        """Pause the process until ``go_on``: its heartbeats stop."""
        self._process.send_signal(signal.SIGSTOP)

    def go_on(self) -> None:
        """Resume the process."""
        self._process.send_signal(signal.SIGCONT)

    def kill(self) -> None:
        """kill -9."""
        self._process.kill()
        self._end()

    def close(self) -> None:
        """Let all members leave."""
        self.go_on()
        assert self._end() == 0

    def _end(self) -> int:
        with self._process:
            assert self._process.stdin is not None
            self._process.stdin.close()
            try:
                return self._process.wait(patient_s(END_S))
            finally:
                self._process.kill()
                self._reader.join(patient_s(END_S))

    def offsets(self, kind: str) -> set[tuple[int, int]]:
        """All (partition, offset) of the lines of a kind: ``read``, ``committed``."""
        return {(int(line[2]), int(line[3])) for line in self.said(kind)}

    def said(self, kind: str) -> list[list[str]]:
        """The lines of a kind."""
        return [line for line in list(self.lines) if line[0] == kind]


# ── the process ───────────────────────────────────────────────────────────────────────────────────────────────────────


def tell(*words: object) -> None:
    """Print one line in one piece: all threads print."""
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


class Working(threading.Thread, ABC):
    """A consumer that commits what it has read, repeatedly."""

    def __init__(self, name: str) -> None:
        super().__init__(name=name, daemon=True)
        self.leaving = threading.Event()
        self.pause_s = 0.0
        self.failed = False

    def run(self) -> None:
        """Run until it must leave."""
        try:
            while not self.leaving.is_set():
                self.work()
                pause_s, self.pause_s = self.pause_s, 0.0
                self.leaving.wait(pause_s)
        except Exception as error:
            self.failed = True
            tell("failed", self.name, repr(error))
            raise
        finally:
            self.close()

    def read(self, partition: int, offset: int) -> None:
        """Print a record."""
        tell("read", self.name, partition, offset)

    @abstractmethod
    def work(self) -> None:
        """Read something, and commit it."""

    @abstractmethod
    def close(self) -> None:
        """Leave."""


class Ours(Working):
    """KafkaConsumer."""

    def __init__(self, name: str, config: Mapping[str, Any], topic: str) -> None:
        from kafka_lite.consumer import KafkaConsumer

        super().__init__(name)
        self._consumer = KafkaConsumer({**config, "client.id": name})
        self._consumer.subscribe([topic])

    def work(self) -> None:
        """One poll, one commit."""
        from kafka_lite.common.errors import KafkaError

        records = list(self._consumer.poll(200))
        for record in records:
            self.read(record.partition, record.offset)
        if not records:
            return
        try:
            self._consumer.commit_sync()
        except KafkaError as error:
            tell("refused", self.name, type(error).__name__)
            return
        for partition in {record.partition for record in records}:
            last = max(record.offset for record in records if record.partition == partition)
            tell("committed", self.name, partition, last + 1)

    def close(self) -> None:
        """Leave."""
        self._consumer.close(10_000)


class Librdkafkas(Working):
    """confluent-kafka's Consumer."""

    def __init__(self, name: str, config: Mapping[str, Any], topic: str) -> None:
        import confluent_kafka

        super().__init__(name)
        self._topic = topic
        self._consumer = confluent_kafka.Consumer({**config, "client.id": name, "log_level": 0})
        self._read: dict[int, int] = {}
        # With callbacks, partitions change owners only within poll: otherwise a commit could include another's.
        self._consumer.subscribe([topic], on_assign=self._forget, on_revoke=self._forget, on_lost=self._forget)

    def _forget(self, *_: object) -> None:
        self._read.clear()

    def work(self) -> None:
        """Poll while polls return records, then commit once."""
        from confluent_kafka import KafkaException, TopicPartition

        message = self._consumer.poll(0.2)
        while message is not None:
            if message.error() is None:
                self.read(message.partition(), message.offset())
                self._read[message.partition()] = message.offset() + 1
            message = self._consumer.poll(0)
        offsets = [TopicPartition(self._topic, partition, offset) for partition, offset in self._read.items()]
        self._read.clear()
        if not offsets:
            return
        try:
            done = self._consumer.commit(offsets=offsets, asynchronous=False)
        except KafkaException as error:
            tell("refused", self.name, error.args[0].name())
            return
        for each in done:
            if each.error is None:
                tell("committed", self.name, each.partition, each.offset)

    def close(self) -> None:
        """Leave."""
        self._consumer.close()


def main() -> int:
    """Carry out the commands; returns 1 if a consumer has failed."""
    given = json.loads(sys.argv[1])
    working: dict[str, Working] = {}
    for line in sys.stdin:
        command, name, *rest = line.split()
        if command == "pause":
            working[name].pause_s = float(rest[0])
        elif command == "leave":
            working[name].leaving.set()
            working[name].join()
        else:
            kind = (Ours, Librdkafkas)[int(name.rpartition("-")[2]) % 2]
            working[name] = kind(name, given["config"], given["topic"])
            working[name].start()
    for each in working.values():
        each.leaving.set()
    deadline = time.monotonic() + patient_s(END_S)
    for each in working.values():
        each.join(max(deadline - time.monotonic(), 0))
    return int(any(each.failed or each.is_alive() for each in working.values()))


if __name__ == "__main__":
    sys.exit(main())

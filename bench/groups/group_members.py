"""Group members, using librdkafka, that report the records they see and when.

``python -m bench.groups.group_members BOOTSTRAP_SERVERS TOPIC GROUP …`` is a process with one member in each group. It
prints a JSON array for each record (group, member, partition, time) until a line arrives on stdin; then all members
leave, and it prints when each began to. Times are on the monotonic clock, which all processes share.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, NamedTuple, Self

from confluent_kafka import Consumer

TIMEOUT_S = 60.0
SESSION_TIMEOUT_MS = 6000
"""The minimum that brokers allow by default."""
HEARTBEAT_INTERVAL_MS = 100
_POLL_S = 0.1
_WATCH_S = 0.02
_PROJECT = Path(__file__).parents[2]


class Sight(NamedTuple):
    """A record received by a member."""

    group: str
    member: str
    partition: int
    at_s: float


Sights = list[Sight]


class GroupMembers:
    """One member per entry of ``groups`` (which may repeat a group), each polled by its own thread.

    Nothing is committed, so a new owner reads a partition from its beginning. So a record is seen again whenever its
    partition gets a new owner, and that is when the partition is consumed again.
    """

    def __init__(
        self, bootstrap_servers: str, topic: str, groups: Sequence[str], name: str, see: Callable[[Sight], object]
    ) -> None:
        self._topic = topic
        self._see = see
        self._stopping = threading.Event()
        self.left_at: dict[str, float] = {}
        """Group -> time when its member began to leave."""
        self._consumers = [
            (group, f"{name}-{number}", Consumer(settings(bootstrap_servers, group)))
            for number, group in enumerate(groups)
        ]
        self._threads = [
            threading.Thread(target=self._poll, args=each, name=f"member-{each[1]}") for each in self._consumers
        ]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.leave()

    def join(self) -> None:
        """Make all members join their groups."""
        for thread in self._threads:
            thread.start()

    def leave(self) -> None:
        """Make all members leave their groups concurrently; blocks until they have."""
        self._stopping.set()
        for thread in self._threads:
            if thread.is_alive():
                thread.join()

    def _poll(self, group: str, member: str, consumer: Consumer) -> None:
        consumer.subscribe([self._topic])
        while not self._stopping.is_set():
            message = consumer.poll(_POLL_S)
            if message is not None and message.error() is None:
                self._see(Sight(group, member, message.partition() or 0, time.monotonic()))
        self.left_at[group] = time.monotonic()
        consumer.close()


def settings(bootstrap_servers: str, group: str) -> dict[str, str | int | bool]:
    """The configuration of one member."""
    return {
        "bootstrap.servers": bootstrap_servers,
        "log_level": 2,
        "group.id": group,
        "session.timeout.ms": SESSION_TIMEOUT_MS,
        "heartbeat.interval.ms": HEARTBEAT_INTERVAL_MS,
        "auto.offset.reset": "earliest",
        "enable.auto.commit": False,
    }


class MemberProcess:
    """The same in a process that can be killed; a context manager that starts the process and always ends it."""

    def __init__(
        self, bootstrap_servers: str, topic: str, groups: Sequence[str], see: Callable[[Sight], object]
    ) -> None:
        self._command = [sys.executable, "-m", "bench.groups.group_members", bootstrap_servers, topic, *groups]
        self._see = see
        self._left_at: dict[str, float] = {}

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=_PROJECT
        )
        assert self._process.stdout is not None
        self._reader = threading.Thread(target=self._read, args=(self._process.stdout,), name="reader")
        self._reader.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._reader.join()
        with self._process:  # closes the pipes and waits for the process
            pass

    def kill(self) -> float:
        """Kill the process with SIGKILL; returns the time."""
        self._process.kill()
        return time.monotonic()

    def leave(self) -> dict[str, float]:
        """Make all members leave their groups; returns when each began to."""
        assert self._process.stdin is not None
        self._process.stdin.write("leave\n")
        self._process.stdin.flush()
        self._process.wait(TIMEOUT_S)
        self._reader.join()
        return self._left_at

    def _read(self, output: IO[str]) -> None:
        with suppress(ValueError):  # a partial line, if the process was killed
            for line in output:
                said = json.loads(line)
                if isinstance(said, dict):
                    self._left_at = said
                else:
                    self._see(Sight(*said))


def await_condition(what: str, condition: Callable[[], bool]) -> None:
    """Wait until ``condition`` is true. Raises RuntimeError if it is not within TIMEOUT_S."""
    deadline = time.monotonic() + TIMEOUT_S
    while not condition():
        if time.monotonic() > deadline:
            raise RuntimeError(f"{what}: not within {TIMEOUT_S:.0f} s")
        time.sleep(_WATCH_S)


def main() -> None:
    """Join the groups named on the command line; leave once a line arrives on stdin. Prints JSON."""
    bootstrap_servers, topic, *groups = sys.argv[1:]

    def see(sight: Sight) -> None:
        sys.stdout.write(json.dumps(sight) + "\n")
        sys.stdout.flush()

    with GroupMembers(bootstrap_servers, topic, groups, "goer", see) as members:
        members.join()
        sys.stdin.readline()
    print(json.dumps(members.left_at))


if __name__ == "__main__":
    main()

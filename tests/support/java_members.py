"""Consumers of Apache's Java clients, of three versions, with the interface of those in ``group_members``."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path

from tests.support.group_members import Member
from tests.support.jvm import classpath, compile_java, java_command

RANGE = "org.apache.kafka.clients.consumer.RangeAssignor"
COOPERATIVE = "org.apache.kafka.clients.consumer.CooperativeStickyAssignor"
SOURCE = Path(__file__).parents[1] / "jvm" / "GroupMember.java"


class JavaMember(Member):
    """A Java consumer in a process of its own."""

    version = ""
    assignor = RANGE
    kill: Callable[[], None]
    """kill -9."""
    stop: Callable[[], None]
    """SIGSTOP: all its threads stop, heartbeats included."""
    go_on: Callable[[], None]
    """SIGCONT."""

    def __init__(self, bootstrap: str, group: str, topic: str, *, client_id: str = "") -> None:
        # Here and not in the member's thread: only the test's thread can skip the test.
        jars = classpath(f"org.apache.kafka:kafka-clients:{self.version}", "org.slf4j:slf4j-nop:1.7.36")
        self._classpath = [compile_java(SOURCE, jars), *jars]
        super().__init__(bootstrap, group, topic, client_id=client_id)

    def _run(self) -> None:
        arguments = [self.bootstrap, self.group, self.topic, self.client_id, self.assignor]
        process = subprocess.Popen(
            java_command("GroupMember", *arguments, classpath=self._classpath),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.kill = process.kill
        self.stop = partial(process.send_signal, signal.SIGSTOP)
        self.go_on = partial(process.send_signal, signal.SIGCONT)
        assert process.stdin is not None
        assert process.stdout is not None
        self.on_close = process.stdin.close
        with process:
            for line in process.stdout:
                kind, *numbers = line.split()
                if kind == "partitions":
                    self.partitions = frozenset(map(int, numbers))
                else:
                    self.values.append(int(numbers[0]))


class Java0102(JavaMember):
    """The version of the book."""

    version = "0.10.2.2"


class Java39(JavaMember):
    """The last 3.x."""

    version = "3.9.1"


class Java41(JavaMember):
    """A 4.x."""

    version = "4.1.0"


class Cooperative39(Java39):
    """With cooperative rebalancing."""

    assignor = COOPERATIVE


class Cooperative41(Java41):
    """With cooperative rebalancing."""

    assignor = COOPERATIVE


class Modern39(Java39):
    """With a coordinator that assigns (KIP-848)."""

    assignor = "consumer"


class Modern41(Java41):
    """With a coordinator that assigns (KIP-848)."""

    assignor = "consumer"

"""Sends a plan to its topics in the rhythm of its event times, in real time or faster.

Kafka 0.10.2: clients/.../producer/KafkaProducer.java · book 2.1.1
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from kafka_lite.common.errors import KafkaError
from kafka_lite.common.shutdownable_thread import ShutdownableThread
from kafka_lite.common.time import SYSTEM_TIME, Time
from pipeline.events import Event
from pipeline.replay_plan import Fault, PlannedRecord

DAY_IN_A_MINUTE = 1440.0
"""The speed at which a day takes a minute."""
SPEEDS = (1.0, 20_000.0)
"""The slowest and the fastest speed. Beyond, a moment between two questions for a partition's end is an hour."""

TURN_MS = 600_000
"""The largest span of event times that is sent at once."""
_LONGEST_PAUSE_MS = 200.0


class EventSender(Protocol):
    """The producer's configuration for a replay: an idempotent one, which keeps the order of every partition."""

    def send(self, event: Event) -> None:
        """Queue an event."""
        ...

    def flush(self) -> None:
        """Wait until all events are acknowledged. Raises ``KafkaError`` if one is not."""
        ...


@dataclass(frozen=True)
class ReplayStatus:
    """How far a replay is. ``clock_ms`` is its time on the clock of the event times, ``failure`` why it ended early."""

    sent: int
    total: int
    clock_ms: int
    faults: Mapping[Fault, int] = field(default_factory=dict)
    failure: str | None = None

    @property
    def is_done(self) -> bool:
        """Whether all records were sent and acknowledged."""
        return self.sent == self.total


class Replay:
    """Sends records in time; ``sent`` are those of the same plan that an earlier replay has sent.

    The records of a turn are acknowledged before the next ones are sent, and span at most ``TURN_MS``. Whatever the
    brokers do, no partition falls further behind the others than that, and no event becomes late by accident.
    """

    def __init__(
        self,
        unsent: Sequence[PlannedRecord],
        sender: EventSender,
        speed: float,
        sent: Sequence[PlannedRecord] = (),
        time: Time = SYSTEM_TIME,
    ) -> None:
        self._records = unsent
        self._sender = sender
        self._speed = speed
        self._time = time
        self._sent = 0
        self._sent_before = len(sent)
        self._faults = Counter(record.fault for record in sent)
        self._start_ms = unsent[0].due_ms if unsent else sent[-1].due_ms if sent else 0
        self._began_ms: float | None = None
        self.status = self._status(self._start_ms)

    def turn(self) -> float:
        """Send what is due; returns how long to wait before the next turn, ms. Raises ``KafkaError`` if that fails."""
        now_ms = self._time.hi_res_ms()
        self._began_ms = now_ms if self._began_ms is None else self._began_ms
        clock_ms = self._start_ms + (now_ms - self._began_ms) * self._speed
        due = self._due(clock_ms)
        for record in due:
            self._sender.send(record.event)
        self._sender.flush()
        self._sent += len(due)
        self._faults.update(record.fault for record in due)
        self.status = self._status(int(clock_ms))
        return self._pause_ms(clock_ms)

    def _due(self, clock_ms: float) -> Sequence[PlannedRecord]:
        first = end = self._sent
        while end < len(self._records):
            due_ms = self._records[end].due_ms
            if due_ms > clock_ms or due_ms > self._records[first].due_ms + TURN_MS:
                break
            end += 1
        return self._records[first:end]

    def _pause_ms(self, clock_ms: float) -> float:
        if self.status.is_done:
            return 0.0
        ahead_ms = (self._records[self._sent].due_ms - clock_ms) / self._speed
        return min(max(ahead_ms, 0.0), _LONGEST_PAUSE_MS)

    def _status(self, clock_ms: int) -> ReplayStatus:
        next_due_ms = self._records[self._sent].due_ms if self._sent < len(self._records) else clock_ms
        return ReplayStatus(
            sent=self._sent_before + self._sent,
            total=self._sent_before + len(self._records),
            clock_ms=min(clock_ms, next_due_ms),
            faults={fault: self._faults[fault] for fault in Fault},
        )


class ReplayThread(ShutdownableThread):
    """Runs a replay to its end. If it fails, ``status`` says why."""

    def __init__(self, replay: Replay) -> None:
        super().__init__("replay")
        self._replay = replay
        self._failure: str | None = None

    @property
    def status(self) -> ReplayStatus:
        """How far the replay is."""
        return replace(self._replay.status, failure=self._failure)

    def do_work(self) -> None:
        """Take one turn, and pause until the next."""
        try:
            pause_ms = self._replay.turn()
        except KafkaError as error:
            self._failure = str(error)
            self.initiate_shutdown()
            return
        if self._replay.status.is_done:
            self.initiate_shutdown()
        self.pause(pause_ms)

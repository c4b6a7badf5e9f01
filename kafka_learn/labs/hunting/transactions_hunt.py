"""The promise to readers of committed records: nothing at or above the last stable offset is undecided.

One thread appends transactions of three producers and their markers, another one moves the high watermark, and two read
the last stable offset, as fetches do: without a lock.
"""

from __future__ import annotations

import random
import threading
from types import SimpleNamespace
from typing import Any, cast

from kafka_learn.labs.hunting.threads_together import together
from kafka_lite.log.log import Log
from kafka_lite.log.producers.open_transactions import CompletedTxn, OpenTransactions

PRODUCERS, APPENDS, READS = 3, 24, 40


class LogOfTransactions:
    """A log that has its transactions and its high watermark, and no records."""

    def __init__(self) -> None:
        self.state = SimpleNamespace(transactions=OpenTransactions())
        self.log = cast(Log, SimpleNamespace(producer_state=self.state, log_start_offset=0))
        self.end = 0
        self.high_watermark = 0
        self.begun: list[int] = []
        """The first offsets of all transactions."""
        self.markers: dict[int, int] = {}
        """The offset of the marker, by the first offset of the transaction."""
        self._lock = threading.Lock()

    def append(self, *, begins: tuple[int, int] | None = None, ends: CompletedTxn | None = None) -> None:
        """Append one record: the first one of a transaction, (offset, producer), or a marker."""
        if begins is not None:
            self.begun.append(begins[0])
        if ends is not None:
            self.markers[ends.first_offset] = ends.last_offset
        with self._lock:
            begun, completed = [begins] if begins is not None else [], [ends] if ends is not None else []
            self.state.transactions, _ = self.state.transactions.after(begun, completed)
        self.end += 1

    def replicate(self, offset: int) -> None:
        """Move the high watermark."""
        self.high_watermark = offset
        with self._lock:
            self.state.transactions = self.state.transactions.replicated_up_to(offset)

    def read(self) -> None:
        """Raises AssertionError if a reader may read what is not decided."""
        high_watermark = self.high_watermark
        stable = Log.last_stable_offset(self.log, high_watermark)
        assert stable <= high_watermark, f"the last stable offset {stable} is above the high watermark {high_watermark}"
        for first in [first for first in self.begun if first < stable]:
            marker, replicated = self.markers.get(first), self.high_watermark
            assert marker is not None, (
                f"readers may read up to {stable}, but the transaction that begins at {first} is open"
            )
            assert marker < replicated, (
                f"readers may read up to {stable}, but the marker of the transaction that begins at {first} is at "
                f"{marker}, and the high watermark at {replicated}"
            )


def main() -> None:
    """Raises AssertionError that says which promise was broken."""
    drawn = random.Random(random.getrandbits(32))
    log = LogOfTransactions()

    def appends() -> None:
        open_since: dict[int, int] = {}
        for _ in range(APPENDS):
            producer = drawn.randint(1, PRODUCERS)
            if producer in open_since:
                first = open_since.pop(producer)
                log.append(ends=CompletedTxn(producer, first, log.end, is_aborted=drawn.random() < 0.5))
            else:
                open_since[producer] = log.end
                log.append(begins=(log.end, producer))

    def fetches_of_followers() -> None:
        for _ in range(APPENDS):
            log.replicate(drawn.randint(log.high_watermark, log.end))

    def fetches_of_consumers() -> None:
        for _ in range(READS):
            log.read()

    works: dict[str, Any] = {"appends": appends, "followers": fetches_of_followers}
    together(**works, consumer_1=fetches_of_consumers, consumer_2=fetches_of_consumers)

"""The counters of the consumer performance test and the lines it prints.

Kafka 0.10.2: core/.../tools/ConsumerPerformance.scala (printProgressMessage) · book 1.4.3
"""

from __future__ import annotations

from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.tools.common.date_format import DateFormat

MIB = 1024 * 1024
DEFAULT_DATE_FORMAT = "yyyy-MM-dd HH:mm:ss:SSS"

TOTAL_HEADER = "start.time, end.time, data.consumed.in.MB, MB.sec, data.consumed.in.nMsg, nMsg.sec"
INTERVAL_HEADER = "time, threadId, data.consumed.in.MB, MB.sec, data.consumed.in.nMsg, nMsg.sec"
REBALANCE_HEADER = ", rebalance.time.ms, fetch.time.ms, fetch.MB.sec, fetch.nMsg.sec"


def header(detailed: bool, with_rebalance: bool) -> str:
    """The header line; ``with_rebalance`` adds the columns of a consumer that is in a group."""
    return (INTERVAL_HEADER if detailed else TOTAL_HEADER) + (REBALANCE_HEADER if with_rebalance else "")


class Consumption:
    """Counts the records and bytes of one thread, with figures per interval.

    The cost per record is two additions; the clock is read once per batch of records.
    """

    def __init__(
        self, thread_id: int, date: DateFormat, *, with_rebalance: bool, interval_ms: float, time: Time = SYSTEM_TIME
    ) -> None:
        self._thread_id = thread_id
        self._date = date
        self._with_rebalance = with_rebalance
        self._interval_ms = interval_ms
        self._time = time
        self.start_ms = self._interval_start_ms = float(time.milliseconds())
        self._joining_since_ms = self.start_ms
        self.messages = self.bytes = 0
        self._last_messages = self._last_bytes = 0
        self.rebalance_ms = self._interval_rebalance_ms = 0.0

    def partitions_revoked(self) -> None:
        """A rebalance begins."""
        self._joining_since_ms = self._time.milliseconds()

    def partitions_assigned(self) -> None:
        """A rebalance ends."""
        elapsed_ms = self._time.milliseconds() - self._joining_since_ms
        self.rebalance_ms += elapsed_ms
        self._interval_rebalance_ms += elapsed_ms

    def add(self, messages: int, size_bytes: int) -> str | None:
        """Count a batch of records. Returns the interval's line if the interval is over, else None."""
        self.messages += messages
        self.bytes += size_bytes
        if self._time.milliseconds() - self._interval_start_ms < self._interval_ms:
            return None
        return self.interval_line()

    def interval_line(self) -> str:
        """The figures since the last such line."""
        now_ms = float(self._time.milliseconds())
        messages, size = self.messages - self._last_messages, self.bytes - self._last_bytes
        elapsed_ms = now_ms - self._interval_start_ms
        figures = _figures(self.bytes, size, self.messages, messages, elapsed_ms)
        line = f"{self._date(now_ms)}, {self._thread_id}, {figures}"
        if self._with_rebalance:
            line += _rebalance_text(messages, size, elapsed_ms, self._interval_rebalance_ms)
        self._interval_start_ms, self._interval_rebalance_ms = now_ms, 0.0
        self._last_messages, self._last_bytes = self.messages, self.bytes
        return line


def total_line(
    date: DateFormat, start_ms: float, end_ms: float, messages: int, size_bytes: int, rebalance_ms: float | None
) -> str:
    """The line of totals; ``rebalance_ms`` is None for an old consumer."""
    elapsed_ms = end_ms - start_ms
    figures = _figures(size_bytes, size_bytes, messages, messages, elapsed_ms)
    line = f"{date(start_ms)}, {date(end_ms)}, {figures}"
    return line if rebalance_ms is None else line + _rebalance_text(messages, size_bytes, elapsed_ms, rebalance_ms)


def _figures(all_bytes: int, size_bytes: int, all_messages: int, messages: int, elapsed_ms: float) -> str:
    """MB so far, MB/s, messages so far, messages/s."""
    return (
        f"{all_bytes / MIB:.4f}, {_per_second(size_bytes / MIB, elapsed_ms):.4f}, "
        f"{all_messages}, {_per_second(messages, elapsed_ms):.4f}"
    )


def _rebalance_text(messages: int, size_bytes: int, elapsed_ms: float, rebalance_ms: float) -> str:
    fetch_ms = elapsed_ms - rebalance_ms
    return (
        f", {rebalance_ms:.0f}, {fetch_ms:.0f}, {_per_second(size_bytes / MIB, fetch_ms):.4f}, "
        f"{_per_second(messages, fetch_ms):.4f}"
    )


def _per_second(count: float, elapsed_ms: float) -> float:
    return 1000 * count / elapsed_ms if elapsed_ms > 0 else 0.0

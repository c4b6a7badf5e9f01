"""The new offsets of ``consumer-groups --reset-offsets``: what was requested, limited to what the logs contain.

Kafka 0.11: core/.../admin/ConsumerGroupCommand.scala (prepareOffsetsToReset; KIP-122) · book 3.2.5
"""

from __future__ import annotations

import csv
import io
import logging
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Protocol

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.tools.admin.partition_offsets import EARLIEST, LATEST, Offsets
from kafka_lite.tools.common.tool_errors import ToolError

logger = logging.getLogger(__name__)

Plan = dict[str, Offsets]
"""Group -> partition -> new offset."""

_DURATION = re.compile(
    r"(?P<sign>[+-])?P(?:(?P<days>[+-]?\d+)D)?"
    r"(?:T(?:(?P<hours>[+-]?\d+)H)?(?:(?P<minutes>[+-]?\d+)M)?(?:(?P<seconds>[+-]?\d+(?:\.\d+)?)S)?)?",
    re.IGNORECASE,
)


class Logs(Protocol):
    """The offset lookups that a reset needs."""

    def log_offsets(self, partitions: Iterable[TopicPartition], timestamp: int) -> Offsets:
        """Offsets at a timestamp (ms), at the beginning (EARLIEST) or the end (LATEST).

        Omits only partitions without a record that late. Raises ToolError if an offset is not known.
        """
        ...


@dataclass(frozen=True)
class Scenario:
    """A way to choose new offsets. ``offsets``: (partitions, committed offsets, logs) -> new offsets."""

    flag: str
    offsets: Callable[[Collection[TopicPartition], Mapping[TopicPartition, int], Logs], Offsets]


def to_earliest() -> Scenario:
    """Reset to the first record still in the log."""
    return Scenario("--to-earliest", lambda partitions, _, logs: _known(partitions, logs, EARLIEST, "starting offset"))


def to_latest() -> Scenario:
    """Reset to the log end, the offset of the next record."""
    return Scenario("--to-latest", lambda partitions, _, logs: _known(partitions, logs, LATEST, "ending offset"))


def to_offset(offset: int) -> Scenario:
    """Reset all partitions to the same offset, limited to each log's range."""
    return Scenario("--to-offset", lambda partitions, _, logs: within_logs(dict.fromkeys(partitions, offset), logs))


def shift_by(count: int) -> Scenario:
    """Shift the committed offsets by ``count`` records; backwards if negative."""

    def offsets(partitions: Collection[TopicPartition], committed: Mapping[TopicPartition, int], logs: Logs) -> Offsets:
        for partition in partitions:
            if partition not in committed:
                raise ToolError(
                    f"Cannot shift offset for partition {partition} since there is no current committed offset"
                )
        return within_logs({partition: committed[partition] + count for partition in partitions}, logs)

    return Scenario("--shift-by", offsets)


def to_time(flag: str, timestamp_ms: int) -> Scenario:
    """Reset to the first record at or after a timestamp (ms), or to the log end if there is none.

    A time before 1970 is before all records; on the wire, negative timestamps mean something else.
    """
    when = timestamp_ms if timestamp_ms >= 0 else EARLIEST

    def offsets(partitions: Collection[TopicPartition], _: Mapping[TopicPartition, int], logs: Logs) -> Offsets:
        found = logs.log_offsets(partitions, when)
        return found | _known([each for each in partitions if each not in found], logs, LATEST, "offset by timestamp")

    return Scenario(flag, offsets)


def to_current() -> Scenario:
    """Keep the committed offset, or use the log end if nothing is committed."""

    def offsets(partitions: Collection[TopicPartition], committed: Mapping[TopicPartition, int], logs: Logs) -> Offsets:
        kept = {partition: committed[partition] for partition in partitions if partition in committed}
        return kept | _known([each for each in partitions if each not in kept], logs, LATEST, "ending offset")

    return Scenario("--to-current", offsets)


def from_file(wanted: Offsets) -> Scenario:
    """Reset to the offsets of a file, limited to each log's range."""
    return Scenario("--from-file", lambda _partitions, _committed, logs: within_logs(wanted, logs))


def within_logs(wanted: Mapping[TopicPartition, int], logs: Logs) -> Offsets:
    """The wanted offsets, clamped to the start and end of their logs; each change is a warning."""
    starts = _known(wanted, logs, EARLIEST, "starting offset")
    ends = _known(wanted, logs, LATEST, "ending offset")
    clamped = {partition: max(min(offset, ends[partition]), starts[partition]) for partition, offset in wanted.items()}
    for partition, offset in wanted.items():
        if clamped[partition] != offset:
            beyond = "higher than latest" if offset > clamped[partition] else "lower than earliest"
            logger.warning(
                "New offset (%d) is %s offset for topic partition %s. Value will be set to %d",
                offset, beyond, partition, clamped[partition],
            )  # fmt: skip
    return clamped


def _known(partitions: Iterable[TopicPartition], logs: Logs, timestamp: int, what: str) -> Offsets:
    partitions = list(partitions)
    found = logs.log_offsets(partitions, timestamp)
    for partition in partitions:
        if partition not in found:
            raise ToolError(f"Error getting {what} of topic partition: {partition}")
    return found


# ── Times ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def parse_datetime(text: str) -> int:
    """Parse ``2026-11-21T12:30:00.000`` (UTC unless it ends in an offset such as ``+02:00``) into ms since 1970."""
    try:
        when = datetime.fromisoformat(text)
    except ValueError as error:
        raise ToolError(f"--to-datetime: {text!r} is not of the form YYYY-MM-DDTHH:mm:SS.sss") from error
    if "T" not in text:
        raise ToolError(f"--to-datetime: {text!r} has no time of day: YYYY-MM-DDTHH:mm:SS.sss")
    return round((when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp() * 1000)


def parse_duration(text: str) -> timedelta:
    """Parse ``PnDTnHnMnS`` (ISO 8601, as java.time.Duration accepts it). Raises ToolError."""
    match = _DURATION.fullmatch(text)
    parts = (
        {name: float(value) for name, value in match.groupdict().items() if value and name != "sign"} if match else {}
    )
    if match is None or not parts or text.upper().endswith("T"):
        raise ToolError(f"--by-duration: {text!r} is not of the form PnDTnHnMnS, such as P7D or PT1H30M")
    try:
        duration = timedelta(**parts)
    except OverflowError:
        raise ToolError(f"--by-duration: {text!r} is too long: at most {timedelta.max.days} days") from None
    return -duration if match["sign"] == "-" else duration


# ── Plans as CSV ──────────────────────────────────────────────────────────────────────────────────────────────────


def plan_as_csv(plan: Mapping[str, Offsets], with_group: bool) -> str:
    """``topic,partition,offset`` lines, preceded by the group if ``with_group``."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for group, offsets in sorted(plan.items()):
        for (topic, partition), offset in sorted(offsets.items()):
            writer.writerow([group, topic, partition, offset] if with_group else [topic, partition, offset])
    return text.getvalue()


def parse_plan(text: str, groups: Collection[str]) -> Plan:
    """Parse the output of ``--export``. Lines of three columns apply to the only group. Raises ToolError."""
    plan: Plan = {}
    for number, row in enumerate(csv.reader(io.StringIO(text)), start=1):
        if row:
            group, partition, offset = _parse_row(row, number, groups)
            plan.setdefault(group, {})[partition] = offset
    return plan


def _parse_row(row: list[str], number: int, groups: Collection[str]) -> tuple[str, TopicPartition, int]:
    *group, topic, partition, offset = row if len(row) in (3, 4) else ["", "", "", ""]
    if not group and len(groups) != 1:
        raise ToolError(
            f"--from-file: line {number} names no group, and there are several: group,topic,partition,offset"
        )
    if not topic or not partition.strip().isdecimal() or not offset.strip().isdecimal():
        raise ToolError(f"--from-file: line {number} is not of the form topic,partition,offset: {','.join(row)}")
    return (group or list(groups))[0], TopicPartition(topic, int(partition)), int(offset)

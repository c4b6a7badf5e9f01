"""``kafka-lite replica-verification``: check that all replicas of partitions have the same messages.

Kafka 0.10.2: core/.../tools/ReplicaVerificationTool.scala, bin/kafka-replica-verification.sh · book 6.2.2
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import zip_longest
from typing import NamedTuple

from kafka_lite.common.errors import Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.protocol.messages.api_01_fetch import (
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    PartitionData,
)
from kafka_lite.record.records import batches
from kafka_lite.tools.admin.admin_channel import RETRY_BACKOFF_MS, SETTLE_MS, AdminChannel
from kafka_lite.tools.admin.command_config import add_command_config_argument, command_configs, new_admin_channel
from kafka_lite.tools.admin.get_offsets import parse_time
from kafka_lite.tools.admin.partition_offsets import LATEST, known_offsets, list_offsets
from kafka_lite.tools.admin.topics import topic_pattern
from kafka_lite.tools.common.terminal import print_error
from kafka_lite.tools.common.tool_errors import ToolError, reports_errors

NAME = "replica-verification"
SUMMARY = "check that all replicas of partitions have the same messages"

CLIENT_ID = "replicaVerificationTool"
DEBUGGING_CONSUMER_ID = -2
WITHOUT_SESSIONS = 6
"""Last Fetch version without fetch sessions."""
NOT_IN_RESPONSE = PartitionData(error_code=Errors.UNKNOWN_SERVER_ERROR.code)
"""Taken for the answer of a broker whose response leaves a replica out."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of kafka-replica-verification.sh, --command-config, and --once."""
    parser.add_argument(
        "--broker-list",
        "--bootstrap-server",
        dest="broker_list",
        required=True,
        metavar="HOST:PORT",
        help="brokers to connect to, separated by commas",
    )
    parser.add_argument("--fetch-size", type=int, default=1024 * 1024, metavar="BYTES", help="per partition and fetch")
    parser.add_argument("--max-wait-ms", type=int, default=1000, metavar="MS", help="how long a broker may wait")
    parser.add_argument(
        "--topic-white-list",
        "--topics-include",
        dest="topics",
        default=".*",
        metavar="REGEX",
        help="the topics to verify (default: all)",
    )
    parser.add_argument(
        "--time", default="-1", metavar="MS", help="where to begin: a timestamp, -1 the end, -2 the beginning"
    )
    parser.add_argument("--report-interval-ms", type=int, default=30_000, metavar="MS", help="how often to report")
    add_command_config_argument(parser)
    parser.add_argument(
        "--once", action="store_true", help="exit at the end of the logs, with code 1 if replicas differ"
    )


@reports_errors
def run(options: argparse.Namespace) -> int:
    """Compare until Ctrl-C, or with --once to the end of the logs."""
    pattern = topic_pattern(options.topics)
    configs = {"client.id": CLIENT_ID} | command_configs(options)
    with new_admin_channel(options.broker_list, configs) as channel:
        replicas = _replicas(channel, pattern)
        verification = Verification(replicas, _start_offsets(channel, replicas, parse_time(options.time)))
        _say("verification process is started.")
        return _verify(channel, verification, options)


class Replicas(NamedTuple):
    """A partition's leader and all brokers that have a replica."""

    leader: int
    brokers: list[int]


class Batch(NamedTuple):
    """The compared fields of a batch (of a message, in the formats before v2)."""

    offset: int
    next_offset: int
    crc: int


@dataclass
class Fetched:
    """The contents of one replica from an offset on."""

    high_watermark: int
    batches: list[Batch]


@dataclass
class Verification:
    """Compares what replicas have, and remembers up to where they agree. Does no I/O."""

    replicas: Mapping[TopicPartition, Replicas]
    offsets: dict[TopicPartition, int]
    """Up to where each partition is the same on all brokers."""
    max_lag: int = -1
    lagging: TopicPartition | None = None
    unmatched: int = 0
    stopped: set[TopicPartition] = field(default_factory=set)
    """Partitions whose replicas have different offsets: there is nothing to compare after that."""
    errors: dict[tuple[int, TopicPartition], Errors] = field(default_factory=dict)
    """The replicas, by broker, that could not be read last time, so that their partitions were not compared."""

    def failed(self, broker: int, partition: TopicPartition, error: Errors) -> bool:
        """Note that a replica could not be read; true if that is a new error."""
        known = self.errors.get((broker, partition))
        self.errors[broker, partition] = error
        return known is not error

    def compare(self, partition: TopicPartition, fetched: Mapping[int, Fetched]) -> Iterator[str]:
        """Compare the replicas' batches, as far as all of them have committed ones; yields the differences."""
        per_replica = {broker: _committed(data) for broker, data in sorted(fetched.items())}
        (first, *others) = per_replica
        for together in zip_longest(*per_replica.values()):
            if None in together:
                break  # a replica has not fetched more yet
            reference = together[0]
            for broker, batch in zip(others, together[1:], strict=True):
                if batch.offset != reference.offset:
                    self.unmatched += 1
                    self.stopped.add(partition)
                    yield (
                        f"partition {partition}: replica {first}'s offset {reference.offset} doesn't match replica "
                        f"{broker}'s offset {batch.offset}"
                    )
                    return
                if batch.crc != reference.crc:
                    self.unmatched += 1
                    yield (
                        f"partition {partition} has unmatched checksum at offset {reference.offset}; replica {first}'s "
                        f"checksum {reference.crc}; replica {broker}'s checksum {batch.crc}"
                    )
            self.offsets[partition] = max(self.offsets[partition], reference.next_offset)
        lag = max(data.high_watermark for data in fetched.values()) - self.offsets[partition]
        if lag > self.max_lag:
            self.max_lag, self.lagging = lag, partition

    def report(self) -> str:
        """The line that Kafka's tool prints at each report interval. Resets the maximum."""
        offset = self.offsets.get(self.lagging, -1) if self.lagging is not None else -1
        where = f"partition {self.lagging} at offset {offset} among {len(self.replicas)} partitions"
        line = f"max lag is {self.max_lag} for {where}"
        self.max_lag, self.lagging = -1, None
        return line


def _committed(data: Fetched) -> list[Batch]:
    return [batch for batch in data.batches if batch.offset < data.high_watermark]


def _verify(channel: AdminChannel, verification: Verification, options: argparse.Namespace) -> int:
    """Compare round by round. With --once, an error of a replica is asked for again for up to SETTLE_MS."""
    reported_ms = progress_ms = channel.time.hi_res_ms()
    while True:
        before = dict(verification.offsets)
        _one_round(channel, verification, options)
        now_ms = channel.time.hi_res_ms()
        if verification.offsets != before:
            progress_ms = now_ms
        waits = bool(verification.errors) and now_ms - progress_ms < SETTLE_MS
        at_end = verification.offsets == before and not waits
        if now_ms - reported_ms > options.report_interval_ms or (options.once and at_end):
            _say(verification.report())
            reported_ms = now_ms
        if options.once and at_end:
            return _exit_code(verification)
        if verification.errors:
            channel.time.sleep(RETRY_BACKOFF_MS)


def _exit_code(verification: Verification) -> int:
    """1 if replicas differ, or if some were not compared."""
    not_compared = sorted({str(partition) for _, partition in verification.errors})
    if not_compared:
        print_error(f"Not all replicas of {', '.join(not_compared)} could be read, so they were not compared.")
    return 1 if verification.unmatched or not_compared else 0


def _one_round(channel: AdminChannel, verification: Verification, options: argparse.Namespace) -> None:
    """Fetch the same offsets from all replicas, and compare."""
    fetched: dict[TopicPartition, dict[int, Fetched]] = {}
    for broker_id in sorted({broker for replicas in verification.replicas.values() for broker in replicas.brokers}):
        for partition, data in _fetch(channel, broker_id, verification, options).items():
            fetched.setdefault(partition, {})[broker_id] = data
    for partition, by_broker in sorted(fetched.items()):
        if len(by_broker) == len(verification.replicas[partition].brokers):
            for difference in verification.compare(partition, by_broker):
                _say(difference)


def _fetch(
    channel: AdminChannel, broker_id: int, verification: Verification, options: argparse.Namespace
) -> dict[TopicPartition, Fetched]:
    topics: dict[str, list[FetchPartition]] = {}
    for tp, replicas in verification.replicas.items():
        if broker_id in replicas.brokers and tp not in verification.stopped:
            entry = FetchPartition(
                partition=tp.partition,
                fetch_offset=verification.offsets[tp],
                partition_max_bytes=options.fetch_size,
            )
            topics.setdefault(tp.topic, []).append(entry)
    request = FetchRequest(
        replica_id=DEBUGGING_CONSUMER_ID,
        max_wait_ms=0 if options.once else options.max_wait_ms,
        min_bytes=1,
        topics=[FetchTopic(topic=topic, partitions=partitions) for topic, partitions in topics.items()],
    )
    response = channel.send(request, FetchResponse, broker_id, WITHOUT_SESSIONS)
    received = {
        TopicPartition(topic.topic, data.partition_index): data
        for topic in response.responses
        for data in topic.partitions
    }
    found = {}
    for partition in (TopicPartition(topic, each.partition) for topic in topics for each in topics[topic]):
        fetched = _fetched(received.get(partition, NOT_IN_RESPONSE))
        if isinstance(fetched, Fetched):
            verification.errors.pop((broker_id, partition), None)
            found[partition] = fetched
        elif verification.failed(broker_id, partition, fetched):
            print_error(f"Replica {broker_id} of {partition}: {fetched.name}")
    return found


def _fetched(data: PartitionData) -> Fetched | Errors:
    error = Errors.for_code(data.error_code)
    if error is not Errors.NONE:
        return error
    records = memoryview(bytes(data.records or b""))  # type: ignore[arg-type]
    return Fetched(
        data.high_watermark, [Batch(each.base_offset, each.next_offset, each.crc) for each in batches(records)]
    )


def _replicas(channel: AdminChannel, pattern: re.Pattern[str]) -> dict[TopicPartition, Replicas]:
    """The partitions to verify. Raises ToolError if there are none, or one has no leader."""
    found = {
        TopicPartition(topic.name, p.partition_index): Replicas(p.leader_id, list(p.replica_nodes))
        for topic in channel.metadata(None)
        if topic.name is not None and pattern.fullmatch(topic.name)
        for p in topic.partitions
    }
    if not found:
        raise ToolError("No topics found. --topic-white-list is either filtering out all topics or there is no topic.")
    for partition, replicas in found.items():
        if dead := [broker for broker in [replicas.leader, *replicas.brokers] if broker not in channel.brokers]:
            raise ToolError(f"Cannot verify {partition}: broker {dead[0]} is not alive")
    return found


def _start_offsets(
    channel: AdminChannel, replicas: Mapping[TopicPartition, Replicas], timestamp: int
) -> dict[TopicPartition, int]:
    """Where each partition begins at a timestamp; at its end if no record is as late. Raises ToolError."""
    offsets = known_offsets(list_offsets(channel, replicas, timestamp))
    return {**known_offsets(list_offsets(channel, replicas.keys() - offsets.keys(), LATEST)), **offsets}


def _say(line: str) -> None:
    print(f"{datetime.now():%Y-%m-%d %H:%M:%S,%f}"[:23] + f": {line}", flush=True)

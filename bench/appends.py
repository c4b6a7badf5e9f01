"""``python -m bench.appends``: the cost of produce and fetch below the request handlers.

It runs a replica manager with real logs in a temporary folder, without sockets and protocol. ``--profile`` shows where
the time goes.
"""

from __future__ import annotations

import argparse
import cProfile
import itertools
import logging
import pstats
import random
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from rich.console import Console
from rich.table import Table

from kafka_lite.common.errors import Errors
from kafka_lite.common.scheduler import MockScheduler
from kafka_lite.common.time import SYSTEM_TIME, MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.log_config import LogConfig
from kafka_lite.log.log_manager import LogManager
from kafka_lite.protocol.messages.api_04_leader_and_isr import LeaderAndIsrPartitionState, LeaderAndIsrRequest
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.memory_records_builder import MemoryRecordsBuilder
from kafka_lite.record.records import batches
from kafka_lite.server.delayed_produce import PartitionResponse
from kafka_lite.server.fetch_params import FetchParams, FetchPartition, LogReadResult
from kafka_lite.server.kafka_config import KafkaConfig
from kafka_lite.server.replica_manager import ReplicaManager
from kafka_lite.testing.replica_managers import new_replica_manager, new_replica_state_changes

TOPIC_PARTITION = TopicPartition("bench", 0)
ROUND_BYTES = 32 << 20
ROUNDS = 9
NONE, LZ4, ZSTD = CompressionType.NONE, CompressionType.LZ4, CompressionType.ZSTD

Request = Callable[[], object]


@contextmanager
def replica_manager() -> Iterator[ReplicaManager]:
    """A replica manager that leads one partition; its background tasks do not run."""
    with tempfile.TemporaryDirectory(prefix="kafka-lite-appends-") as folder:
        scheduler = MockScheduler(MockTime())
        logs = LogManager([Path(folder)], {}, LogConfig(), scheduler, SYSTEM_TIME)
        logs.startup()
        config = KafkaConfig({"broker.id": 1, "zookeeper.connect": "embedded", "log.dirs": folder})
        replicas = new_replica_manager(config, logs, scheduler, SYSTEM_TIME)
        replicas.startup()
        state = LeaderAndIsrPartitionState(
            topic_name=TOPIC_PARTITION.topic, partition_index=0, controller_epoch=1, leader=1, isr=[1], replicas=[1]
        )
        new_replica_state_changes(replicas, LogConfig()).become_leader_or_follower(
            LeaderAndIsrRequest(controller_id=1, controller_epoch=1, ungrouped_partition_states=[state])
        )
        try:
            yield replicas
        finally:
            replicas.shutdown()
            logs.shutdown()


def batch(codec: CompressionType, count: int, size: int = 100, spread: int = 0) -> bytes:
    """A batch of ``count`` records of ``size`` ± ``spread`` bytes, thirty per millisecond."""
    randomly = random.Random(count)
    builder = MemoryRecordsBuilder(2, codec)
    now_ms = SYSTEM_TIME.milliseconds()
    for index in range(count):
        value = (b"%09d " % (index * 7919) * (size // 10 + 2))[: size + randomly.randint(-spread, spread)]
        builder.append(now_ms + index // 30, None, value)
    return builder.build()


@dataclass(frozen=True)
class Produce:
    """Requests with one batch of ``count`` records."""

    what: str
    acks: int
    codec: CompressionType
    count: int
    size: int = 100
    spread: int = 0

    @property
    def name(self) -> str:
        return f"produce {self.what}"

    def requests(self, replicas: ReplicaManager) -> Iterator[Request]:
        """Yield requests one at a time, each in its own buffer, as if received from a socket."""
        produced = batch(self.codec, self.count, self.size, self.spread)
        results: list[dict[TopicPartition, PartitionResponse]] = []
        for buffer in itertools.cycle([bytearray(produced) for _ in range(4 if len(produced) > 100_000 else 64)]):
            entries = {TOPIC_PARTITION: memoryview(buffer)}
            yield partial(replicas.append_records, 1000, self.acks, False, entries, results.append)
            assert results.pop()[TOPIC_PARTITION].error is Errors.NONE

    @property
    def bytes_per_request(self) -> int:
        """Size of one batch."""
        return len(batch(self.codec, self.count, self.size, self.spread))


@dataclass(frozen=True)
class Fetch:
    """Requests for up to ``bytes_per_request`` each, from the beginning of a log to its end, repeatedly."""

    what: str
    bytes_per_request: int
    count: int = 0

    @property
    def name(self) -> str:
        return f"fetch {self.what}"

    def requests(self, replicas: ReplicaManager) -> Iterator[Request]:
        """Fill the log, then yield fetches one at a time; at the end of the log, start over."""
        for fill in itertools.islice(Produce("", 1, NONE, 150).requests(replicas), 500):
            fill()
        partition = replicas.get_leader_partition(TOPIC_PARTITION)
        params = FetchParams(-1, 500, 1, 50 << 20, hard_max_bytes=False)
        results: list[list[tuple[TopicPartition, LogReadResult]]] = []
        offset = 0
        while True:
            asked = [(TOPIC_PARTITION, FetchPartition(offset, self.bytes_per_request))]
            yield partial(replicas.fetch_messages, params, asked, results.append)
            [(_, result)] = results.pop()
            assert not isinstance(result.records, bytes | bytearray | memoryview)
            offset = max(found.last_offset for found in batches(result.records.to_bytes())) + 1
            assert partition.log is not None
            if offset >= partition.log.log_end_offset:
                offset = 0


WORKLOADS: list[Produce | Fetch] = [
    Produce("1 record of 100 B, acks all", -1, NONE, 1),
    Produce("16 KB of 100 B, acks 1", 1, NONE, 150),
    Produce("16 KB of 100 B, acks all", -1, NONE, 150),
    Produce("16 KB of 60 to 140 B, acks 1", 1, NONE, 150, spread=40),
    Produce("16 KB of 100 B, lz4, acks 1", 1, LZ4, 150),
    Produce("16 KB of 1000 B, acks 1", 1, NONE, 16, 1000),
    Produce("16 KB of 1000 B, lz4, acks 1", 1, LZ4, 16, 1000),
    Produce("1 MB of 100 B, acks 1", 1, NONE, 9000),
    Produce("1 MB of 60 to 140 B, acks 1", 1, NONE, 9000, spread=40),
    Produce("1 MB of 100 B, lz4, acks 1", 1, LZ4, 9000),
    Produce("1 MB of 100 B, zstd, acks 1", 1, ZSTD, 9000),
    Produce("1 MB of 1000 B, acks 1", 1, NONE, 980, 1000),
    Produce("1 MB of 1000 B, lz4, acks 1", 1, LZ4, 980, 1000),
    Fetch("16 KB", 16 << 10),
    Fetch("1 MB", 1 << 20),
]


def main() -> None:
    """Measure the chosen workloads and print a table."""
    parser = argparse.ArgumentParser(prog="python -m bench.appends", description=__doc__)
    parser.add_argument("--only", default="", help="run only workloads whose name contains this")
    parser.add_argument(
        "--profile", action="store_true", help="show where the time goes (profiling makes calls slower)"
    )
    options = parser.parse_args()
    logging.disable(logging.INFO)
    table = Table("request", title="processor time of one thread")
    for column in ("µs per request", "ns per record", "GB/s"):
        table.add_column(column, justify="right")
    for workload in WORKLOADS:
        if options.only in workload.name:
            took, size, count = measured(workload, profiled=options.profile), workload.bytes_per_request, workload.count
            per_record = f"{took * 1000 / count:,.0f}" if count else ""
            table.add_row(workload.name, f"{took:,.1f}", per_record, f"{size / took / 1000:,.2f}")
    Console().print(table)


def measured(workload: Produce | Fetch, *, profiled: bool) -> float:
    """Microseconds of the best round; each starts with an empty log, so that memory is reused."""
    times = max(20, min(2000, ROUND_BYTES // workload.bytes_per_request))
    rounds = []
    for round_number in range(ROUNDS):
        with replica_manager() as replicas:
            if profiled and round_number == 0:
                profile(workload.requests(replicas), times)
            rounds.append(microseconds(workload.requests(replicas), times))
    return min(rounds)


def microseconds(requests: Iterator[Request], times: int) -> float:
    """Processor time of a request in µs: the 10th percentile of ``times`` requests.

    Slower ones were disturbed by other work on the machine: evicted caches, memory that the host had to allocate first.
    """
    took = []
    for request in itertools.islice(requests, times):
        began = time.thread_time_ns()
        request()
        took.append(time.thread_time_ns() - began)
    took.sort()
    return took[len(took) // 10] / 1000


def profile(requests: Iterator[Request], times: int) -> None:
    """Print the functions that take most of the time."""
    profiler = cProfile.Profile(time.thread_time)
    for request in itertools.islice(requests, times):
        profiler.enable()
        request()
        profiler.disable()
    pstats.Stats(profiler).sort_stats("tottime").print_stats(35)


if __name__ == "__main__":
    main()

"""``python -m bench.appends``: what a produce and a fetch cost below the request handlers: a replica manager over real
logs in a temporary folder, without sockets and protocol.

``--profile NAME`` shows where the time of one of the workloads goes.
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
from pathlib import Path

from rich.console import Console
from rich.table import Table

from kafka_lite.common.scheduler import MockScheduler
from kafka_lite.common.time import SYSTEM_TIME, MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.log_config import LogConfig
from kafka_lite.log.log_manager import LogManager
from kafka_lite.protocol.messages.api_04_leader_and_isr import LeaderAndIsrPartitionState, LeaderAndIsrRequest
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.memory_records_builder import MemoryRecordsBuilder
from kafka_lite.server.delayed_fetch import FetchParams
from kafka_lite.server.kafka_config import KafkaConfig
from kafka_lite.server.log_read_result import FetchPartition
from kafka_lite.server.replica_manager import ReplicaManager

TOPIC_PARTITION = TopicPartition("bench", 0)
ENOUGH_BYTES = 96 << 20
ROUNDS = 5
NONE, LZ4, ZSTD = CompressionType.NONE, CompressionType.LZ4, CompressionType.ZSTD

Request = Callable[[], object]


@contextmanager
def replica_manager() -> Iterator[ReplicaManager]:
    """One that leads one partition; its background tasks do not run."""
    with tempfile.TemporaryDirectory(prefix="kafka-lite-appends-") as folder:
        scheduler = MockScheduler(MockTime())
        logs = LogManager([Path(folder)], {}, LogConfig(), scheduler, SYSTEM_TIME)
        logs.startup()
        config = KafkaConfig({"broker.id": 1, "zookeeper.connect": "embedded", "log.dirs": folder})
        replicas = ReplicaManager(config, logs, lambda _: LogConfig(), scheduler, SYSTEM_TIME)
        replicas.startup()
        state = LeaderAndIsrPartitionState(
            topic_name=TOPIC_PARTITION.topic, partition_index=0, controller_epoch=1, leader=1, isr=[1], replicas=[1]
        )
        replicas.become_leader_or_follower(
            LeaderAndIsrRequest(controller_id=1, controller_epoch=1, ungrouped_partition_states=[state])
        )
        try:
            yield replicas
        finally:
            replicas.shutdown()
            logs.shutdown()


def batch(codec: CompressionType, count: int, size: int = 100, spread: int = 0) -> bytes:
    """``count`` records of ``size`` bytes, give or take ``spread``, thirty per millisecond."""
    randomly = random.Random(count)
    builder = MemoryRecordsBuilder(2, codec)
    now_ms = SYSTEM_TIME.milliseconds()
    for index in range(count):
        value = (b"%09d " % (index * 7919) * (size // 10 + 2))[: size + randomly.randint(-spread, spread)]
        builder.append(now_ms + index // 30, None, value)
    return builder.build()


def produces(replicas: ReplicaManager, acks: int, produced: bytes, partition: TopicPartition) -> Iterator[Request]:
    """Requests one after the other, each in a buffer of its own as it comes from a socket."""
    buffers = itertools.cycle([bytearray(produced) for _ in range(max(2, min(64, (4 << 20) // len(produced))))])
    answers: list[object] = []
    for buffer in buffers:
        view = memoryview(buffer)
        yield lambda view=view: replicas.append_records(1000, acks, False, {partition: view}, answers.append)
        ((result,),) = (answer.values() for answer in answers)  # type: ignore[attr-defined]
        assert result.error.code == 0, result
        answers.clear()


def fetches(replicas: ReplicaManager, max_bytes: int) -> Iterator[Request]:
    """Reads of ``max_bytes`` from the beginning on, and again from the beginning at the end."""
    params = FetchParams(-1, 500, 1, 50 << 20, hard_max_bytes=False)
    offset = 0
    answers: list[list[tuple[TopicPartition, object]]] = []
    while True:
        asked = [(TOPIC_PARTITION, FetchPartition(offset, max_bytes, -1, -1))]
        yield lambda asked=asked: replicas.fetch_messages(params, asked, answers.append)
        [[(_, result)]] = answers
        answers.clear()
        read = [read_batch.last_offset for read_batch in result.records.batches()]  # type: ignore[attr-defined]
        offset = read[-1] + 1
        partition = replicas.get_partition(TOPIC_PARTITION)
        assert partition is not None
        assert partition.log is not None
        if offset >= partition.log.log_end_offset:
            offset = 0


def workloads(replicas: ReplicaManager) -> dict[str, tuple[int, int, Callable[[], Iterator[Request]]]]:
    """Records per request, bytes per request, the requests."""
    found: dict[str, tuple[int, int, Callable[[], Iterator[Request]]]] = {}
    for name, acks, codec, count, size, spread in (
        ("1 record of 100 B, acks all", -1, NONE, 1, 100, 0),
        ("16 KB of 100 B, acks 1", 1, NONE, 150, 100, 0),
        ("16 KB of 100 B, acks all", -1, NONE, 150, 100, 0),
        ("16 KB of 60 to 140 B, acks 1", 1, NONE, 150, 100, 40),
        ("16 KB of 100 B, lz4, acks 1", 1, LZ4, 150, 100, 0),
        ("16 KB of 1000 B, acks 1", 1, NONE, 16, 1000, 0),
        ("16 KB of 1000 B, lz4, acks 1", 1, LZ4, 16, 1000, 0),
        ("1 MB of 100 B, acks 1", 1, NONE, 9000, 100, 0),
        ("1 MB of 60 to 140 B, acks 1", 1, NONE, 9000, 100, 40),
        ("1 MB of 100 B, lz4, acks 1", 1, LZ4, 9000, 100, 0),
        ("1 MB of 100 B, zstd, acks 1", 1, ZSTD, 9000, 100, 0),
        ("1 MB of 1000 B, acks 1", 1, NONE, 980, 1000, 0),
        ("1 MB of 1000 B, lz4, acks 1", 1, LZ4, 980, 1000, 0),
    ):
        data = batch(codec, count, size, spread)
        found["produce " + name] = (
            count,
            len(data),
            lambda acks=acks, data=data: produces(replicas, acks, data, TOPIC_PARTITION),  # type: ignore[misc]
        )
    for name, max_bytes in (("16 KB", 16 << 10), ("1 MB", 1 << 20)):
        found["fetch " + name] = (0, max_bytes, lambda max_bytes=max_bytes: fetches(replicas, max_bytes))  # type: ignore[misc]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.appends", description=__doc__)
    parser.add_argument("--only", default="", help="only workloads whose name contains this")
    parser.add_argument("--profile", action="store_true", help="where the time goes (it counts calls; trust the order)")
    options = parser.parse_args()
    logging.disable(logging.INFO)
    table = Table("request", title="processor time of one thread, the best of some rounds")
    for column in ("µs per request", "ns per record", "GB/s"):
        table.add_column(column, justify="right")
    for name, (count, size) in WORKLOADS.items():
        if options.only in name:
            best = measured(name, size, profiled=options.profile)
            table.add_row(
                name, f"{best:,.1f}", f"{best * 1000 / count:,.0f}" if count else "", f"{size / best / 1000:,.2f}"
            )
    Console().print(table)


def microseconds(requests: Iterator[Request], times: int) -> float:
    """Processor time of a request: what the fastest tenth of ``times`` of them took at most.

    The rest met what else this machine does: caches that others have emptied, memory that the host must find first.
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

"""Everything that is measured, in the order of the report."""

from __future__ import annotations

from bench.big_log import BigLog, start_up
from bench.brokers import Broker
from bench.filled_log import FilledLog
from bench.groups.rebalances import groups_workloads
from bench.java_clients import ConsumerPerformance, JavaConsumer, ProducerPerformance
from bench.librdkafka import BATCH_1_MB, BATCH_16_KB, Consume, EndToEnd, Produce, RoundTrip
from bench.measure import MESSAGES, Section, Study, ratio_at_least
from bench.raw_workloads import (
    BesideIdleConnections,
    ManyPartitions,
    OneInFlight,
    PrebuiltProduce,
    RawFetch,
    Requests,
    api_versions,
    small_produce,
    small_produce_to_all,
)
from bench.replication import ManyPartitionsControlled, Replication
from bench.secured import Secured
from bench.transactions import ProducerIds, Transactions


def sections(scale: float) -> list[Section]:
    """The sections that run against brokers that stay up; with ``scale`` 1, each workload takes a second or two."""
    return [
        Section("Produce in batches, librdkafka", _produce(scale)),
        Section(
            "Produce prebuilt batches, the broker is the limit",
            [
                PrebuiltProduce("1 MB", 1_000_000, int(3_000_000 * scale), {MESSAGES: ratio_at_least(1.0)}),
                PrebuiltProduce("16 KB", 16 * 1024, int(1_200_000 * scale), {MESSAGES: ratio_at_least(1.5)}),
            ],
        ),
        Section(
            "Produce in batches, Java",
            [ProducerPerformance(100, int(1_000_000 * scale)), ProducerPerformance(1000, int(150_000 * scale))],
        ),
        Section("Consume from the page cache", _consume(scale)),
        Section(
            "One request in flight",
            [
                RoundTrip(max(200, int(4000 * scale))),
                OneInFlight("produce 100 B, acks all", small_produce_to_all, max(200, int(6000 * scale))),
                OneInFlight("ApiVersions", api_versions, max(200, int(8000 * scale))),
            ],
        ),
        Section("Requests", _requests(scale)),
        Section("End to end", [EndToEnd(max(500, int(3000 * scale)))]),
        Section("Groups", groups_workloads(scale)),
        Section(
            "Transactions",
            [Transactions(1, max(100, int(1000 * scale))), Transactions(10, max(200, int(3000 * scale)))],
        ),
        Section(
            "Connections and partitions beside",
            [BesideIdleConnections(max(200, int(4000 * scale))), ManyPartitions(max(1000, int(4000 * scale)))],
            max_rounds=1,
        ),
    ]


def studies(rounds: int, gigabytes: float, scale: float) -> list[Study]:
    """The studies that start their own brokers."""
    return [
        start_up(rounds),
        BigLog(gigabytes).study(),
        Replication(scale).study(1),
        ManyPartitionsControlled(scale).study(1),
        ProducerIds(scale).study(),
        Secured(scale).study(1),
    ]


def _produce(scale: float) -> list[Produce]:
    return [
        Produce(size, acks, codec, batch_bytes, int((600_000 if size == 100 else 60_000) * scale))
        for size in (100, 1000)
        for batch_bytes in (BATCH_16_KB, BATCH_1_MB)
        for acks in ("1", "all")
        for codec in ("none", "lz4")
    ]


def _consume(scale: float) -> list[Consume | RawFetch | JavaConsumer | ConsumerPerformance]:
    small, small_lz4, large, large_lz4 = logs = [
        FilledLog(size, codec, int(messages * scale))
        for size, messages in ((100, 2_000_000), (1000, 400_000))
        for codec in ("none", "lz4")
    ]
    return [
        *(Consume(log) for log in (small, small_lz4, large, large_lz4)),
        RawFetch(small, "16 KB", 16 * 1024),
        RawFetch(small, "1 MB", 1 << 20, passes=5),
        *(JavaConsumer(log) for log in logs if log.codec == "none"),
        *(ConsumerPerformance(log) for log in logs if log.codec == "none"),
    ]


def _requests(scale: float) -> list[Requests]:
    return [
        Requests(what, frame, max(400, int(requests * scale)), connections, in_flight)
        for what, frame in (("produce 100 B, acks 1", small_produce), ("ApiVersions", api_versions))
        for connections, in_flight, requests in ((1, 1, 8_000), (10, 1, 15_000), (100, 1, 15_000), (1, 64, 30_000))
    ]


def warm_up(broker: Broker) -> None:
    """Run small workloads first, so that one-time costs (JIT compilation, connections, pages) are not measured."""
    for workload in (
        Produce(100, "all", "none", BATCH_16_KB, 300_000),
        PrebuiltProduce("16 KB", 16 * 1024, 500_000, {}),
        Consume(FilledLog(1000, "lz4", 50_000)),
        RawFetch(FilledLog(100, "none", 200_000), "16 KB", 16 * 1024),
        RoundTrip(500),
        Requests("ApiVersions", api_versions, 10_000, 10),
    ):
        workload.run(broker)

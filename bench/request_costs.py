"""``python -m bench.request_costs``: the broker's cost of single requests, measured with ``RawClient``."""

from __future__ import annotations

import argparse
import contextlib
import statistics
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from bench.brokers import KAFKA_VERSIONS, Broker, kafka_lite, real_kafka
from bench.group_requests import group_workloads
from bench.raw_client import (
    RawClient,
    RawWorkload,
    RequestCost,
    fetch_frame,
    list_offsets_frame,
    many_connections,
    produce_frame,
)


def raw_workloads(scale: float = 1.0) -> list[RawWorkload]:
    """All workloads; with ``scale`` 1 each takes a second or two."""

    def count(requests: int) -> int:
        return max(200, int(requests * scale))

    return [
        RawWorkload("produce 150 records (16 KB), 1 in flight", count(6_000), _produce_one(150)),
        RawWorkload("produce 150 records (16 KB), 5 in flight", count(8_000), _produce_pipelined(150, 5)),
        RawWorkload("produce 9,500 records (1 MB), 5 in flight", count(300), _produce_pipelined(9_500, 5)),
        RawWorkload("produce 1 record, acks all, 1 in flight", count(8_000), _produce_one(1, acks=-1)),
        RawWorkload("fetch 16 KB, 1 in flight", count(8_000), _fetch(16 * 1024)),
        RawWorkload("fetch 1 MB, 1 in flight", count(2_000), _fetch(1 << 20)),
        RawWorkload("list offsets, 1 in flight", count(10_000), _list_offsets_one),
        RawWorkload("list offsets, 10 connections", count(15_000), _list_offsets_many(10)),
        RawWorkload("list offsets, 100 connections", count(15_000), _list_offsets_many(100)),
        RawWorkload("list offsets, 64 in flight", count(30_000), _list_offsets_pipelined),
        RawWorkload(
            "list offsets beside 1,000 idle connections", count(10_000), _list_offsets_one, idle_connections=1000
        ),
    ]


def _produce_one(records: int, acks: int = 1) -> Callable[[int, str, int], Sequence[float]]:
    def run(port: int, name: str, count: int) -> Sequence[float]:
        with RawClient(port) as client:
            return client.one_in_flight(produce_frame(name, records, acks), count)

    return run


def _produce_pipelined(records: int, in_flight: int) -> Callable[[int, str, int], None]:
    def run(port: int, name: str, count: int) -> None:
        with RawClient(port) as client:
            client.pipelined(produce_frame(name, records), count, in_flight)

    return run


def _fetch(size: int) -> Callable[[int, str, int], Sequence[float]]:
    def run(port: int, name: str, count: int) -> Sequence[float]:
        with RawClient(port) as client:
            client.pipelined(produce_frame(name, 150), size // 16_000 + 1, 5)
            return client.one_in_flight(fetch_frame(name, size), count)

    return run


def _list_offsets_one(port: int, name: str, count: int) -> Sequence[float]:
    with RawClient(port) as client:
        return client.one_in_flight(list_offsets_frame(name), count)


def _list_offsets_many(connections: int) -> Callable[[int, str, int], None]:
    return lambda port, name, count: many_connections(port, list_offsets_frame(name), count, connections)


def _list_offsets_pipelined(port: int, name: str, count: int) -> None:
    with RawClient(port) as client:
        client.pipelined(list_offsets_frame(name), count, 64)


# ── The command ─────────────────────────────────────────────────────────────────────────────────────────────────────


def main() -> None:
    """Measure the chosen workloads against kafka_lite, with ``--kafka`` also against Kafka, and print a table."""
    parser = argparse.ArgumentParser(prog="python -m bench.request_costs", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--kafka", action="store_true", help=f"also measure Apache Kafka {KAFKA_VERSIONS[0]}")
    parser.add_argument("--only", default="", help="run only workloads whose name contains this")
    parser.add_argument(
        "--scale", type=float, default=1.0, help="multiply the requests of each workload by this (default: 1)"
    )
    parser.add_argument(
        "--rounds", type=int, default=3, help="number of rounds, of which the median is taken (default: 3)"
    )
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="a line for kafka_lite's server.properties"
    )
    options = parser.parse_args()
    settings = dict(setting.split("=", 1) for setting in options.set)
    workloads = [*raw_workloads(options.scale), *group_workloads(options.scale)]
    chosen = [workload for workload in workloads if options.only in workload.name]
    with running_brokers(settings, with_kafka=options.kafka) as brokers:
        costs = {
            (workload.name, broker.name): median_cost([workload.measure(broker) for _ in range(options.rounds)])
            for workload in chosen
            for broker in brokers
        }
    table = Table(title=f"medians of {options.rounds} rounds")
    for column in ("", "broker", "requests/s", "CPU µs", "p50 ms", "p99 ms"):
        table.add_column(column, no_wrap=True, justify="left" if column in ("", "broker") else "right")
    for workload in chosen:
        for broker in brokers:
            table.add_row(workload.name, broker.name, *_cells(costs[workload.name, broker.name]))
    Console(width=max(Console().width, 110)).print(table)


@contextlib.contextmanager
def running_brokers(settings: dict[str, str], *, with_kafka: bool) -> Iterator[list[Broker]]:
    """kafka_lite with additional settings, and real Kafka warmed up, for the duration of the block."""
    with tempfile.TemporaryDirectory(prefix="kafka-lite-bench-") as folder, contextlib.ExitStack() as stack:
        brokers: list[Broker] = [stack.enter_context(kafka_lite(settings).make(Path(folder) / "kafka_lite", {}))]
        if with_kafka:
            kafka = real_kafka(KAFKA_VERSIONS[0]).make(Path(folder) / "kafka", {})
            brokers.append(stack.enter_context(kafka))
            for workload in raw_workloads(1.0):  # so that the JVM compiles the hot code
                workload.measure(kafka)
        yield brokers


def median_cost(costs: Sequence[RequestCost]) -> RequestCost:
    """The medians of several runs, field by field."""

    def of(values: Sequence[float | None]) -> float | None:
        known = [value for value in values if value is not None]
        return statistics.median(known) if known else None

    return RequestCost(
        statistics.median(cost.requests_per_s for cost in costs),
        statistics.median(cost.broker_cpu_us for cost in costs),
        of([cost.p50_ms for cost in costs]),
        of([cost.p99_ms for cost in costs]),
    )


def _cells(cost: RequestCost) -> list[str]:
    latencies = [cost.p50_ms, cost.p99_ms]
    return [
        f"{cost.requests_per_s:,.0f}",
        f"{cost.broker_cpu_us:,.0f}",
        *("" if latency is None else f"{latency:.3f}" for latency in latencies),
    ]


if __name__ == "__main__":
    main()

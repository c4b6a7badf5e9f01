"""``python -m bench [--quick] [--rounds N] [--only TEXT]``: see bench/README.md."""

from __future__ import annotations

import argparse
import contextlib
import tempfile
from collections import defaultdict
from pathlib import Path

from rich.console import Console

from bench.brokers import Broker, KafkaLite, RealKafka
from bench.jvm import KAFKA_VERSION, JvmUnavailableError, kafka_classpath
from bench.report import Footprint, Results, show, write
from bench.workloads import Sample, warm_up, workloads

RESULTS = Path(__file__).parent / "results"
console = Console()


def main() -> None:
    options = parse_options()
    rounds, scale = (1, 0.25) if options.quick else (options.rounds, options.scale)
    with tempfile.TemporaryDirectory(prefix="kafka-lite-bench-") as folder, contextlib.ExitStack() as stack:
        brokers, note = start_brokers(Path(folder), stack, with_kafka=not options.without_kafka)
        samples = run_all(brokers, rounds, scale, options.only)
        results = Results(
            brokers=[broker.name for broker in brokers],
            samples=samples,
            footprints={
                broker.name: Footprint(broker.start_up_s, broker.resident_idle_mb, broker.resident_peak_mb())
                for broker in brokers
            },
            rounds=rounds,
            scale=scale,
            note=note,
        )
    show(results)
    for path in write(results, options.output, "quick" if options.quick or options.only else "results"):
        console.print(f"wrote {path}")


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description="Produce and fetch beside real Kafka.")
    parser.add_argument("--quick", action="store_true", help="one round of a quarter of the messages")
    parser.add_argument("--rounds", type=int, default=5, help="rounds, of which the median counts (default 5)")
    parser.add_argument("--scale", type=float, default=1.0, help="times the messages of each workload (default 1)")
    parser.add_argument("--only", default="", help="only workloads whose name contains this")
    parser.add_argument("--without-kafka", action="store_true", help="measure kafka_lite alone")
    parser.add_argument("--output", type=Path, default=RESULTS, help="folder of the results (default bench/results)")
    return parser.parse_args()


def start_brokers(folder: Path, stack: contextlib.ExitStack, *, with_kafka: bool) -> tuple[list[Broker], str]:
    """The brokers, running, and what is to be said about a missing one."""
    brokers: list[Broker] = [KafkaLite(folder / "kafka_lite")]
    note = ""
    if with_kafka:
        try:
            brokers.append(RealKafka(folder / "kafka", kafka_classpath(), KAFKA_VERSION))
        except JvmUnavailableError as reason:
            note = f"Only kafka_lite was measured: {reason}."
            console.print(f"[yellow]{note}[/]")
    for broker in brokers:
        stack.enter_context(broker)
        warm_up(broker)
        console.print(f"{broker.name} answers after {broker.start_up_s:.2f} s")
    return brokers, note


def run_all(brokers: list[Broker], rounds: int, scale: float, only: str) -> dict[str, dict[str, list[Sample]]]:
    """All rounds: within a round each workload runs against each broker, and the first goes last in the next."""
    samples: dict[str, dict[str, list[Sample]]] = defaultdict(lambda: defaultdict(list))
    chosen = [workload for workload in workloads(scale) if only in workload.name]
    for round_number in range(rounds):
        for workload in chosen:
            for broker in brokers if round_number % 2 == 0 else reversed(brokers):
                sample = workload.run(broker)
                samples[workload.name][broker.name].append(sample)
                console.print(
                    f"[dim]round {round_number + 1}/{rounds}[/] {workload.name}: {broker.name} "
                    f"{sample.messages_per_s:,.0f} msg/s, {sample.broker_cpu_s_per_million:.2f} CPU s/M"
                )
    return {workload: dict(by_broker) for workload, by_broker in samples.items()}


if __name__ == "__main__":
    main()

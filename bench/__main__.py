"""``python -m bench [--quick] [--only TEXT] …``: see bench/README.md."""

from __future__ import annotations

import argparse
import math
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from bench.brokers import KAFKA_VERSIONS, Candidate, kafka_lite, kafka_lite_compiled, real_kafka
from bench.connect.workloads import connect_contests
from bench.python_clients.consumers import consumer_contests
from bench.python_clients.producers import producer_contests
from bench.report import Results, busy_note, environment, write
from bench.runner import OUTSTANDING_TIMEOUTS, Plan, Runner, scaled
from bench.sections import sections, studies
from bench.spark.spark_sources import spark_contests
from bench.streams.workloads import streams_contests
from kafka_learn.site.bench_results import COMPILED, verdict
from kafka_lite.common.process.open_files import raise_open_files_limit
from kafka_lite.testing.maven import JvmUnavailableError

RESULTS = Path(__file__).parent / "results"
QUICK_SCALE, QUICK_GIGABYTES = 0.1, 0.3
STEP_S, MESSAGES_S = 1.7, 0.75
"""Seconds of an average measurement on two quiet cores: of its start, and of its messages at scale 1."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the bench; returns the exit code."""
    options = parse_options(arguments)
    console = Console(width=max(Console().width, 110))  # the tables have seven columns, in a log file too
    results = Results(environment(), described(options))
    if note := busy_note():
        results.notes.append(note)
        console.print(f"[yellow]{note}[/]")
    candidates = candidates_of(options, results, console)
    plan = plan_of(options, candidates)
    if not plan.steps(len(candidates)):
        console.print(f"Nothing is called {' or '.join(options.only)}.")
        return 2
    console.print(duration(plan.steps(len(candidates)), options.scale))
    raise_open_files_limit()
    try:
        reference = f"Kafka {options.kafka[0] if options.kafka else KAFKA_VERSIONS[0]}"
        Runner(candidates, reference, results, console).run(plan)
    except KeyboardInterrupt:
        console.print("stopped; what has been measured is not written")
        return 130
    console.print(verdict(results.document()))
    for path in write(results, options.output, "quick" if options.quick or options.only else "results"):
        console.print(f"wrote {path}")
    if results.failures:
        console.print(f"[red]{results.failures} runs of workloads failed; what failed is named below the tables.[/]")
    return 1 if results.failures else 0


def parse_options(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Parse the command line and apply ``--quick`` and the defaults that depend on it."""
    parser = argparse.ArgumentParser(prog="python -m bench", description="Measure kafka_lite beside real Kafka.")
    parser.add_argument(
        "--quick",
        action="store_true",
        help="one round with a tenth of each workload, to see whether anything is broken",
    )
    parser.add_argument(
        "--rounds", type=int, default=3, help="number of rounds, of which the median is taken (default: 3)"
    )
    parser.add_argument(
        "--scale", type=float, default=1.0, help="multiply the messages of each workload by this (default: 1)"
    )
    parser.add_argument("--memory-gb", type=float, default=10.0, help="size of the large log in GB (default: 10)")
    parser.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="TEXT",
        help="run only workloads whose 'section: workload' contains this; may be repeated",
    )
    parser.add_argument(
        "--kafka",
        action="append",
        metavar="VERSION",
        help=f"compare with this Kafka; may be repeated (default: {' and '.join(KAFKA_VERSIONS)}; --quick: the first)",
    )
    parser.add_argument("--without-kafka", action="store_true", help="measure only kafka_lite")
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="a line for kafka_lite's server.properties"
    )
    parser.add_argument("--output", type=Path, default=RESULTS, help="folder for the results (default: bench/results)")
    options = parser.parse_args(arguments)
    if options.quick:
        options.rounds, options.scale = 1, options.scale * QUICK_SCALE
        options.memory_gb = min(options.memory_gb, QUICK_GIGABYTES)
    options.kafka = options.kafka or KAFKA_VERSIONS[: 1 if options.quick else None]
    if options.without_kafka:
        options.kafka = []
    return options


def duration(steps: int, scale: float) -> str:
    """The duration of a run: each step has a part that does not depend on the number of messages."""
    minutes = math.ceil(steps * (STEP_S + MESSAGES_S * scale) / 60)
    return f"{steps} measurements, about {minutes} minute{'s' if minutes > 1 else ''} on two quiet cores"


def described(options: argparse.Namespace) -> dict[str, object]:
    """The options, as recorded in the results."""
    shown = {"rounds": options.rounds, "scale": options.scale, "memory_gb": options.memory_gb}
    return shown | ({"set": options.set} if options.set else {})


def plan_of(options: argparse.Namespace, candidates: Sequence[Candidate]) -> Plan:
    """The plan of workloads and contests that the options select."""
    plan = Plan(
        sections(options.scale),
        studies(options.rounds, options.memory_gb, options.scale),
        scaled(OUTSTANDING_TIMEOUTS, options.scale),
        options.rounds,
        [
            *producer_contests(candidates[:1], options.scale, options.rounds),
            *consumer_contests(candidates[:1], options.scale, options.rounds),
            *spark_contests(candidates[:1], options.scale, options.rounds, with_connector=not options.without_kafka),
            *streams_contests(candidates[:1], options.scale, options.rounds, with_java=not options.without_kafka),
            *connect_contests(candidates[:1], options.scale, options.rounds, with_java=not options.without_kafka),
        ],
    )
    return plan.only(options.only)


def candidates_of(options: argparse.Namespace, results: Results, console: Console) -> list[Candidate]:
    """kafka_lite, plain and compiled, and the Kafka versions available; the reason is noted for any that is not."""
    settings = dict(line.split("=", 1) for line in options.set)
    candidates = [kafka_lite(settings)]
    try:
        candidates.append(kafka_lite_compiled(settings))
    except FileNotFoundError as reason:
        results.notes.append(f"{COMPILED} was not measured: {reason}.")
        console.print(results.notes[-1])
    for version in options.kafka:
        try:
            candidates.append(real_kafka(version))
        except JvmUnavailableError as reason:
            results.notes.append(f"Kafka {version} was not measured: {reason}.")
            console.print(f"[yellow]{results.notes[-1]}[/]")
    return candidates


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # unwinds, which stops the brokers
    raise SystemExit(main())

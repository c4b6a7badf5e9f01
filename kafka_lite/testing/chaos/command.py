"""Runs a real cluster under faults for some minutes and says what it found; ``make chaos`` calls it.

Not in Kafka::

    make chaos MINUTES=20 SEED=7            three brokers, the faults of this seed
    make chaos MINUTES=5 SEED=7 BROKERS=5   five
    make chaos SEED=7 ARGS=--security       passwords, TLS and rights
"""

from __future__ import annotations

import argparse
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path

from rich.console import Console
from rich.live import Live

from kafka_lite.testing.chaos.chaos_run import ChaosRun
from kafka_lite.testing.chaos.chaos_view import ChaosView, result_table
from kafka_lite.testing.chaos.faults import Kind
from kafka_lite.testing.chaos.workloads import WORKLOADS


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit code: 1 if a promise was broken."""
    options = _parse(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what was started is ended
    folder = Path(tempfile.mkdtemp(prefix=f"kafka-lite-chaos-{options.seed}-", dir=options.dir))
    console = Console()
    view = ChaosView(console, folder / "events.log")
    run = ChaosRun(
        folder, options.seed, 60 * options.minutes, options.brokers,
        kinds=options.kinds, records_per_s=options.rate, workload=options.clients, kafka_version=options.kafka,
        is_secured=options.security, report=view.report,
    )  # fmt: skip
    view.run = run
    try:
        with Live(get_renderable=view.render, console=console) if console.is_terminal else nullcontext():
            result = run.run()
    except BaseException:
        console.print(f"The files of the run are in {folder}")
        raise
    console.print(result_table(result))
    for violation in result.violations:
        console.print(f"{violation}", style="red", markup=False, highlight=False)
    if result.violations or options.keep:
        console.print(f"The history, the logs and the data are in {folder}", soft_wrap=True)
    else:
        shutil.rmtree(folder)
    return int(bool(result.violations))


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="chaos", description="Runs a real cluster and its clients under faults.")
    parser.add_argument("--minutes", type=float, default=5.0, help="how long faults begin (default: 5)")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="draws the faults (default: a new one)")
    parser.add_argument("--brokers", type=int, default=3, help="how many brokers, at least 3 (default: 3)")
    parser.add_argument("--rate", type=float, default=20.0, help="records per second of each producer (default: 20)")
    parser.add_argument(
        "--kinds", type=_kinds, default=tuple(Kind), metavar="KIND,…",
        help=f"only these kinds of faults: {', '.join(kind.name.lower() for kind in Kind)}",
    )  # fmt: skip
    parser.add_argument(
        "--clients", choices=WORKLOADS, default="plain", help="which clients the run has (default: plain)"
    )
    parser.add_argument(
        "--kafka", default="", metavar="VERSION",
        help="every second broker is Kafka's, of a version that runs with ZooKeeper; needs a JDK and Maven",
    )  # fmt: skip
    parser.add_argument(
        "--security", action="store_true", help="clients come by SASL_SSL, and may do what access control lists allow"
    )
    parser.add_argument("--dir", type=Path, help="where the run's folder is made (default: the temporary folder)")
    parser.add_argument("--keep", action="store_true", help="keep the folder of a good run, too")
    options = parser.parse_args(arguments)
    if options.brokers < 3:
        parser.error("--brokers: topics have three replicas")
    if options.security and options.kafka:
        parser.error("--security: only with our own brokers")
    return options


def _kinds(text: str) -> tuple[Kind, ...]:
    try:
        return tuple(Kind[name.strip().upper()] for name in text.split(","))
    except KeyError as unknown:
        raise argparse.ArgumentTypeError(f"there is no kind {unknown}") from None


if __name__ == "__main__":
    sys.exit(main())

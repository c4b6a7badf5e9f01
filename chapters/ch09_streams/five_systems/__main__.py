"""Measures the five systems: ``python -m chapters.ch09_streams.five_systems``; a few minutes, with a JDK and Maven.

Each system starts, counts a small input, then a larger one, then single lines. The broker, the systems and this program
are processes of their own. Book 9.3
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import platform
import statistics
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from chapters.ch09_streams.five_systems import map_reduce
from chapters.ch09_streams.five_systems.lines import SMALL, counted, many_lines
from chapters.ch09_streams.five_systems.systems import COMMANDS, PARTITIONS, CountsReader, running, send
from examples.word_count.topology import TEXT, WORD_COUNTS
from kafka_learn.project import PROJECT_ROOT
from kafka_lite.common.time import SYSTEM_TIME
from kafka_lite.producer import KafkaProducer
from kafka_lite.server.broker_process import BrokerProcess

KEPT = PROJECT_ROOT / "chapters" / "ch09_streams" / "five-systems-measured.json"
LINES = 20_000
SINGLE_LINES = 9
ONE_MORE = "one more line"


def seconds(work: Callable[[], object]) -> float:
    """How long it takes."""
    began_ms = SYSTEM_TIME.hi_res_ms()
    work()
    return (SYSTEM_TIME.hi_res_ms() - began_ms) / 1000


def measure_map_reduce(lines: Sequence[str], folder: Path) -> dict[str, float]:
    """It has to start for each input, and to count all lines again for one more."""
    spawn = multiprocessing.get_context("spawn")

    def count(name: str, of: Sequence[str]) -> None:
        half = len(of) // 2
        with ProcessPoolExecutor(2, mp_context=spawn) as processes:
            results = map_reduce.run(map_reduce.WORD_COUNT, [of[:half], of[half:]], folder / name, processes)
        found = {word: number for file in results for word, number in map_reduce.read_pairs(file)}
        assert found == counted(of), "MapReduce has counted wrong"

    start_s = seconds(partial(count, "small", SMALL))
    all_lines = [*SMALL, *lines]
    lines_s = seconds(partial(count, "all", all_lines))
    all_lines.append(ONE_MORE)
    return {
        "start_s": start_s,
        "lines_s": lines_s,
        "one_more_ms": seconds(partial(count, "more", all_lines)) * 1000,
        "written": len(counted(all_lines)),
    }


def measure_stream(system: str, lines: Sequence[str], folder: Path) -> dict[str, float]:
    """On a broker of its own."""
    folder.mkdir()
    settings = {"num.partitions": str(PARTITIONS), "group.initial.rebalance.delay.ms": "0"}
    with BrokerProcess(folder, settings) as broker:
        servers = broker.bootstrap_servers
        with KafkaProducer({"bootstrap.servers": servers}) as producer:
            for topic in (TEXT, WORD_COUNTS):
                producer.partitions_for(topic)  # the broker creates topics that are asked for
            send(producer, SMALL)
            COMMANDS[system](servers, folder)  # Maven and javac have their results kept, so that they are not measured
            began_ms = SYSTEM_TIME.hi_res_ms()
            with running(system, servers, folder / "system") as process:
                reader = CountsReader(servers)
                sent = list(SMALL)

                def count(more: Sequence[str]) -> None:
                    send(producer, more)
                    sent.extend(more)
                    reader.read_until(counted(sent), lambda: process.poll() is None)

                try:
                    count([])
                    start_s = (SYSTEM_TIME.hi_res_ms() - began_ms) / 1000
                    before = reader.records
                    lines_s = seconds(lambda: count(lines))
                    written = reader.records - before
                    one_more = statistics.median(seconds(lambda: count([ONE_MORE])) for _ in range(SINGLE_LINES))
                finally:
                    reader.close()
    return {"start_s": start_s, "lines_s": lines_s, "one_more_ms": one_more * 1000, "written": written}


def environment() -> dict[str, Any]:
    """The machine and the day."""
    return {
        "recorded": datetime.now(UTC).date().isoformat(),
        "system": f"{platform.system()} {platform.release().partition('-')[0]}",
        "processors": os.cpu_count(),
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "load": round(os.getloadavg()[0], 1),
    }


def measure(systems: Sequence[str], lines: int) -> dict[str, Any]:
    """MapReduce, and then each of the systems."""
    found: dict[str, Any] = {"machine": environment(), "lines": lines, "systems": {}}
    many = many_lines(lines)
    with tempfile.TemporaryDirectory() as name:
        for system in ("MapReduce", *systems):
            folder = Path(name, system.replace(" ", "-"))
            times = measure_map_reduce(many, folder) if system == "MapReduce" else measure_stream(system, many, folder)
            found["systems"][system] = {key: round(value, 2) for key, value in times.items()}
            print(f"{system}: {found['systems'][system]}", flush=True)
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and keep; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m chapters.ch09_streams.five_systems", description=__doc__)
    parser.add_argument("--save", type=Path, default=KEPT, metavar="FILE", help="default: the chapter's")
    parser.add_argument("--lines", type=int, default=LINES, metavar="N", help="default: %(default)s")
    parser.add_argument("--only", choices=COMMANDS, nargs="*", default=list(COMMANDS), help="default: all of them")
    options = parser.parse_args(arguments)
    options.save.write_text(json.dumps(measure(options.only, options.lines), indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

"""A small run of the pipeline's job ``delays``, kept in a file: its events, its progress and its checkpoint.

``python -m chapters.topics_as_tables.figures.recorded_stream`` records it again in about a minute. Each step of the run
sends a few flights of EWR, waits until the query has nothing left to do, and keeps the query's progress. Afterwards the
query is stopped, loses the last file of ``commits`` as if it had been killed between its sink and its commit, and is
started again.
"""

from __future__ import annotations

import argparse
import functools
import json
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from kafka_learn.project import PROJECT_ROOT

KEPT = PROJECT_ROOT / "chapters" / "topics_as_tables" / "recorded-stream.json"
LATENESS = "1 hour"
DAY = "2013-07-01"
STEPS = (
    ("10:05", "10:20", "10:50"),
    ("11:10", "10:40", "11:30"),
    ("12:20", "10:55", "10:25"),
    ("10:58", "11:40", "12:40"),
    ("13:30", "12:40"),
    ("11:50", "13:50"),
    ("14:15",),
)
"""The scheduled departures that each step sends, in UTC. The second 12:40 is the flight of the first, sent again."""


@dataclass(frozen=True)
class Batch:
    """One micro-batch, from its progress. Times are minutes after midnight; the watermark is None before the first."""

    number: int
    input_rows: int
    watermark: int | None
    dropped_by: tuple[int, ...]
    """Rows that each stateful operator dropped as late, from the sink back to the source."""
    state_rows: tuple[int, ...]
    end_offset: int


@dataclass(frozen=True)
class Event:
    """A flight that was sent, with its offset in the topic; ``minute`` is that of its departure, after midnight."""

    offset: int
    minute: int
    batch: int


@functools.cache
def kept() -> dict[str, Any]:
    """The kept run."""
    found: dict[str, Any] = json.loads(KEPT.read_text(encoding="utf-8"))
    return found


def batches() -> list[Batch]:
    """The micro-batches in order, as long as the query was not stopped."""
    return [_batch(progress) for progress in kept()["progress"]]


def events() -> list[Event]:
    """The events in the order of their offsets, each with the batch that read it."""
    sent = [minute_of(f"{DAY}T{time}") for step in kept()["steps"] for time in step]
    ends = [(batch.end_offset, batch.number) for batch in batches()]
    return [
        Event(offset, minute, min(number for end, number in ends if offset < end)) for offset, minute in enumerate(sent)
    ]


def results() -> dict[int, tuple[int, int]]:
    """The batch that emitted each window, and the window's flights, by its first minute."""
    return {minute_of(row["window_start"]): (row["batch"], row["flights"]) for row in kept()["table"]}


def checkpoint_file(name: str) -> str:
    """A file of the kept checkpoint, such as ``offsets/1``."""
    found: str = kept()["checkpoint"][name]
    return found


def minute_of(time: str) -> int:
    """Minutes after midnight of an ISO time such as ``2013-07-01T10:05``."""
    parsed = datetime.fromisoformat(time)
    return (parsed.toordinal() - datetime.fromisoformat(DAY).toordinal()) * 1440 + parsed.hour * 60 + parsed.minute


def _batch(progress: dict[str, Any]) -> Batch:
    watermark = progress["watermark"]
    is_first = watermark.startswith("1970")
    return Batch(
        number=progress["batch"],
        input_rows=progress["input_rows"],
        watermark=None if is_first else minute_of(watermark.removesuffix("Z")),
        dropped_by=tuple(each["dropped"] for each in progress["operators"]),
        state_rows=tuple(each["rows"] for each in progress["operators"]),
        end_offset=progress["end_offset"]["flights"]["0"],
    )


# -- recording ---------------------------------------------------------------------------------------------------------


def record(folder: Path) -> dict[str, Any]:
    """Run it all and return what is kept."""
    from kafka_lite.testing.cluster import Cluster
    from pipeline.events import DELAYS, FLIGHTS
    from pipeline.queries import PipelineConfig, open_session, start_queries
    from pipeline.sinks import read_table

    spark = open_session("local[1]", folder / "spark.log", **{"spark.sql.shuffle.partitions": "1"})
    with Cluster() as cluster:
        for topic in (FLIGHTS.topic, DELAYS):
            cluster.create_topic(topic, 1, configs={"retention.ms": "-1"})
        config = PipelineConfig(cluster.bootstrap_servers, folder, lateness=LATENESS, trigger_s=0)
        (query,) = start_queries(spark, config, ["delays"])
        seen: dict[int, dict[str, Any]] = {}
        for step in STEPS:
            send(cluster.bootstrap_servers, step)
            query.processAllAvailable()
            seen |= {progress["batch"]: progress for progress in _progress(query)}
        query.stop()
        checkpoint = {
            str(path.relative_to(config.checkpoint("delays"))): _text(path) for path in _files(config, "delays")
        }
        table = json.loads(read_table(config.table_folder("delays")).to_json(orient="records", date_format="iso"))
        topic_before = _ids(spark, cluster.bootstrap_servers, DELAYS)
        folders_before = sorted(path.name for path in config.table_folder("delays").iterdir())
        last = max(seen)
        for name in (str(last), f".{last}.crc"):
            (config.checkpoint("delays") / "commits" / name).unlink()
        (query,) = start_queries(spark, config, ["delays"])
        query.processAllAvailable()
        again = _progress(query)
        query.stop()
        found = {
            "steps": STEPS,
            "progress": [seen[number] for number in sorted(seen)],
            "table": [{**row, "batch": int(row["batch"])} for row in table],
            "checkpoint": checkpoint,
            "before": {"table": folders_before, "topic": topic_before},
            "after": {
                "batches": [progress["batch"] for progress in again],
                "table": sorted(path.name for path in config.table_folder("delays").iterdir()),
                "topic": _ids(spark, cluster.bootstrap_servers, DELAYS),
            },
        }
    spark.stop()
    return found


def send(bootstrap_servers: str, times: Sequence[str]) -> None:
    """Send a flight for each departure, and wait until the broker has them all."""
    import pandas as pd

    from pipeline.events import FLIGHTS, encode
    from pipeline.topics import EventProducer

    rows = [
        {
            "carrier": "UA",
            "flight": int(time.replace(":", "")),
            "origin": "EWR",
            "minute": int(time[3:]),
            "time_hour": f"{DAY}T{time[:2]}:00:00Z",
            "dep_delay": 5,
        }
        for time in times
    ]
    producer = EventProducer(bootstrap_servers)
    for event in encode(FLIGHTS, pd.DataFrame(rows)):
        producer.send(event)
    producer.flush()


def _progress(query: Any) -> list[dict[str, Any]]:
    """The kept values of each batch that the query has reported and run."""
    every = [json.loads(each.json) for each in query.recentProgress]
    return [
        {
            "batch": each["batchId"],
            "input_rows": each["numInputRows"],
            "watermark": each["eventTime"]["watermark"],
            "operators": [
                {
                    "name": operator["operatorName"],
                    "rows": operator["numRowsTotal"],
                    "dropped": operator["numRowsDroppedByWatermark"],
                }
                for operator in each["stateOperators"]
            ],
            "end_offset": each["sources"][0]["endOffset"],
        }
        for each in every
        if "addBatch" in each["durationMs"]
    ]


def _files(config: Any, job: str) -> Iterator[Path]:
    return (
        path for path in sorted(config.checkpoint(job).rglob("*")) if path.is_file() and not path.name.startswith(".")
    )


def _text(path: Path) -> str:
    """The file's text; for the binary files of the state, how long they are."""
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return f"{path.stat().st_size} bytes"


def _ids(spark: Any, bootstrap_servers: str, topic: str) -> dict[str, int]:
    """How often each event id is in the topic."""
    from pipeline.events import EVENT_ID
    from pipeline.jobs.record_headers import header

    options = {"kafka.bootstrap.servers": bootstrap_servers, "subscribe": topic, "includeHeaders": "true"}
    rows = spark.read.format("kafka_lite").options(**options).load().select(header(EVENT_ID).alias("id")).collect()
    return dict(sorted(Counter(row.id for row in rows).items()))


def main(arguments: list[str] | None = None) -> int:
    """Record and keep; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m chapters.topics_as_tables.figures.recorded_stream", description=__doc__
    )
    parser.add_argument("--save", type=Path, default=KEPT, metavar="FILE", help="default: the chapter's")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        found = record(Path(folder))
    found["recorded"] = datetime.now(UTC).date().isoformat()
    options.save.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

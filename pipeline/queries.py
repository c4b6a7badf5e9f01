"""Starts the streaming queries of a run: topics, through the jobs, to tables and topics.

Spark 4.2: python/pyspark/sql/streaming/readwriter.py · book 1.1

    flights ──┬────────── deduplicated ───────────── tables/flights
              ├────────── delays_by_window ───────── tables/delays ─── topic delays
              ├────────── aircraft_days ──────────── tables/aircraft_days
    weather ──┴────────── flights_with_weather ───── tables/flights_with_weather
              └── both: dead_letters ─────────────── topic dead-letters

Every query has a checkpoint below ``checkpoints``. Started again on the same folder, it continues from there.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamWriter

from kafka_lite.common.errors import KafkaError
from kafka_lite.spark.session import session
from pipeline.events import CLOCK_ORIGIN, DEAD_LETTERS, DELAYS, FLIGHTS, LATENESS, WEATHER, EventType
from pipeline.jobs.aircraft_days import aircraft_days
from pipeline.jobs.dead_letters import dead_letters
from pipeline.jobs.deduplication import deduplicated
from pipeline.jobs.delays import delay_records, delays_by_window
from pipeline.jobs.parsing import events_of, parse
from pipeline.jobs.weather_join import flights_with_weather
from pipeline.sinks import ParquetTable, PublishedTable
from pipeline.transactional_topic import TransactionallyPublishedTable, TransactionalTopic, id_of_query

SPARK_SETTINGS = {
    # transformWithState needs it, and it keeps state outside the JVM's heap. With a changelog, a batch writes what it
    # changed instead of all files.
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    # A checkpoint keeps the number of its start for ever: every partition of state is a task in every batch.
    "spark.sql.shuffle.partitions": "2",
    # Times that pandas reads with their zone, instead of Impala's old 96 bits.
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
}
"""The session's configuration for the jobs, added to the defaults of ``kafka_lite.spark.session``."""

_POLL_S = 0.02


class UnknownJobError(KafkaError):
    """There is no job of that name."""


@dataclass(frozen=True)
class PipelineConfig:
    """A run: the broker, the folder for tables and checkpoints, and how often the queries look for new records."""

    bootstrap_servers: str
    folder: Path
    lateness: str = LATENESS
    trigger_s: float = 1.0
    """At least this long between the starts of two batches of a query."""

    available_now: bool = False
    """Process what the topics have now, in as many batches as that takes, and end."""

    max_offsets_per_trigger: int | None = None
    """At most this many records in a batch. Partitions of a backlog are then read at different speeds: the one ahead
    moves the watermark, and records of the others may be dropped as late. Without it, a backlog is one batch."""

    exactly_once: bool = False
    """Whether a batch of results is written to its topic in one transaction instead of at least once. Dead letters are
    written at least once in any case: their ids are positions, so a double shows."""

    source_options: Mapping[str, str] = field(default_factory=dict)
    """More options for reading, such as ``minPartitions`` or ``kafka.request.timeout.ms``."""

    def table_folder(self, job: str) -> Path:
        """Where the table of a job is."""
        return self.folder / "tables" / job

    def checkpoint(self, job: str) -> Path:
        """Where the query of a job keeps its offsets and its state."""
        return self.folder / "checkpoints" / job


def open_session(master: str = "local[*]", log_file: Path | None = None, **settings: str) -> SparkSession:
    """A session with ``SPARK_SETTINGS``; ``settings`` override them."""
    return session("kafka_lite pipeline", master=master, config={**SPARK_SETTINGS, **settings}, log_file=log_file)


def start_queries(
    spark: SparkSession, config: PipelineConfig, jobs: Sequence[str] | None = None
) -> list[StreamingQuery]:
    """Start the query of every job, or of those named; each has its job's name. The topics must exist.

    Raises ``UnknownJobError``.
    """
    return [_start(spark, config, job) for job in jobs or JOBS]


def has_failed(query: StreamingQuery) -> bool:
    """Whether the query ended with an error; ``query.exception()`` says which."""
    return not query.isActive and query.exception() is not None


def read_stream(spark: SparkSession, config: PipelineConfig, event_type: EventType) -> DataFrame:
    """The parsed records of a topic, from its beginning on."""
    options = {
        "kafka.bootstrap.servers": config.bootstrap_servers,
        "subscribe": event_type.topic,
        "startingOffsets": "earliest",
        "includeHeaders": "true",
        **config.source_options,
    }
    if config.max_offsets_per_trigger is not None:
        options["maxOffsetsPerTrigger"] = str(config.max_offsets_per_trigger)
    return parse(spark.readStream.format("kafka_lite").options(**options).load(), event_type)


# ── one function for each query ──────────────────────────────────────────────────────────────────────────────────────


def _flights(spark: SparkSession, config: PipelineConfig) -> DataStreamWriter:
    flights = events_of(read_stream(spark, config, FLIGHTS))
    rows = deduplicated(flights, config.lateness).where(F.col("origin") != CLOCK_ORIGIN)
    return rows.writeStream.foreachBatch(_table(config, "flights").write_batch)


def _delays(spark: SparkSession, config: PipelineConfig) -> DataStreamWriter:
    rows = delays_by_window(events_of(read_stream(spark, config, FLIGHTS)), lateness=config.lateness)
    table = _table(config, "delays")
    if config.exactly_once:
        topic = TransactionalTopic(config.bootstrap_servers, DELAYS, id_of_query("delays", config.checkpoint("delays")))
        return rows.writeStream.foreachBatch(TransactionallyPublishedTable(table, topic, delay_records).write_batch)
    sink = PublishedTable(table, config.bootstrap_servers, DELAYS, delay_records)
    return rows.writeStream.foreachBatch(sink.write_batch)


def _flights_with_weather(spark: SparkSession, config: PipelineConfig) -> DataStreamWriter:
    flights, weather = (events_of(read_stream(spark, config, source)) for source in (FLIGHTS, WEATHER))
    rows = flights_with_weather(flights, weather, config.lateness)
    return rows.writeStream.foreachBatch(_table(config, "flights_with_weather").write_batch)


def _aircraft_days(spark: SparkSession, config: PipelineConfig) -> DataStreamWriter:
    rows = aircraft_days(events_of(read_stream(spark, config, FLIGHTS)), lateness=config.lateness)
    return rows.writeStream.foreachBatch(_table(config, "aircraft_days").write_batch)


def _dead_letters(spark: SparkSession, config: PipelineConfig) -> DataStreamWriter:
    flights, weather = (dead_letters(read_stream(spark, config, source)) for source in (FLIGHTS, WEATHER))
    options = {"kafka.bootstrap.servers": config.bootstrap_servers, "topic": DEAD_LETTERS}
    return flights.union(weather).writeStream.format("kafka_lite").options(**options)


_WRITERS: dict[str, Callable[[SparkSession, PipelineConfig], DataStreamWriter]] = {
    "flights": _flights,
    "delays": _delays,
    "flights_with_weather": _flights_with_weather,
    "aircraft_days": _aircraft_days,
    "dead_letters": _dead_letters,
}

JOBS = tuple(_WRITERS)
"""The names of all jobs; the tables have the same."""


def _table(config: PipelineConfig, job: str) -> ParquetTable:
    return ParquetTable(config.table_folder(job), config.checkpoint(job))


def _start(spark: SparkSession, config: PipelineConfig, job: str) -> StreamingQuery:
    if job not in _WRITERS:
        raise UnknownJobError(f"there is no job {job}: the jobs are {', '.join(JOBS)}")
    trigger: dict[str, Any] = (
        {"availableNow": True} if config.available_now else {"processingTime": f"{config.trigger_s} seconds"}
    )
    writer = _WRITERS[job](spark, config).queryName(job).outputMode("append").trigger(**trigger)
    query = writer.option("checkpointLocation", str(config.checkpoint(job))).start()
    _wait_for_sources(query)
    return query


def _wait_for_sources(query: StreamingQuery) -> None:
    """Wait until the sources of a query are there, or it has failed.

    Each has a Python process, which Spark gives ten seconds to start. On a busy machine, those of all queries at once
    would need longer.
    """
    while query.isActive and query.status["message"].startswith("Initializing"):
        time.sleep(_POLL_S)

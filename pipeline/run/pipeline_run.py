"""``make pipeline``: a replay through a broker into streaming queries, watched, and compared with pandas at the end.

Kafka 0.10.2: quickstart · book 1.4.1

    replay ──> flights, weather ──> queries ──> tables, topics ──> equal to pandas? ──> report.html
       └─────────────┴─── progress ────┴──────────> live view
"""

from __future__ import annotations

import contextlib
import logging
import shutil
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from confluent_kafka import KafkaException
from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from rich.console import Console

import pipeline
from kafka_lite.common.errors import KafkaError
from kafka_lite.server.broker_process import BrokerProcess
from pipeline.events import DEAD_LETTERS, DELAYS, EVENT_ID, FLIGHTS, PARTITIONS, SOURCES
from pipeline.jobs.record_headers import header
from pipeline.queries import JOBS, PipelineConfig, open_session, start_queries
from pipeline.replay import Replay, ReplayStatus, ReplayThread
from pipeline.replay_plan import FaultMix, PlannedRecord, plan, split_sent
from pipeline.run.day_range import DayRange, load_days
from pipeline.run.outcome import Outcome, check_faults, check_published, check_table, expected_tables
from pipeline.run.progress_log import ProgressLog
from pipeline.run.run_folder import RunFolder, RunRecord
from pipeline.run.run_options import ReplayOptions, RunOptions
from pipeline.run.standalone_cluster import StandaloneCluster
from pipeline.run.supervised_queries import Drain, SupervisedQueries, reason_of
from pipeline.run.topic_ends import TopicEnds
from pipeline.run.watch import Watch
from pipeline.sinks import each_once, read_table
from pipeline.stop_signals import StopSignals, children
from pipeline.topics import EventProducer, create_topics
from pipeline.view.report import RunReport, report_html

_INPUT = {source.topic: source.partitions for source in SOURCES}
CLUSTER_SETTINGS = {"spark.executor.memory": "512m", "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1"}


class RunError(KafkaError):
    """The run cannot continue; the text says what to do."""


@dataclass(frozen=True)
class Workload:
    """The plan of a run, and how far earlier starts of the run have come with it.

    ``closing`` are the events that close all windows; they are sent once everything else is processed.
    """

    days: DayRange
    records: Sequence[PlannedRecord]
    sent: Sequence[PlannedRecord]
    unsent: Sequence[PlannedRecord]
    closing: Sequence[PlannedRecord]


class PipelineRun:
    """The steps of a run, in the order of ``run``."""

    def __init__(self, options: RunOptions, console: Console, stop_signals: StopSignals) -> None:
        self._options = options
        self._console = console
        self._stop_signals = stop_signals
        self._folder = RunFolder(options.folder)

    def run(self) -> Outcome:
        """Run all steps. Raises ``KafkaError`` if one fails; leaves nothing running in any case."""
        record = self._begin()
        with contextlib.ExitStack() as stack, _failures(self._folder):
            servers = record.bootstrap_servers or self._start_broker(stack)
            ends = stack.enter_context(TopicEnds(servers))
            self._prepare_topics(servers, ends)
            workload = self._plan(record.replay, ends)
            spark = self._start_spark(stack)
            config = PipelineConfig(servers, self._folder.path, exactly_once=record.replay.exactly_once)
            log = self._process(spark, config, ends, workload, record.starts)
            outcome = self._compare(spark, config, ends, workload, log)
        self._report(outcome, record, log, config)
        return outcome

    # ── the steps ────────────────────────────────────────────────────────────────────────────────────────────────

    def _begin(self) -> RunRecord:
        options = self._options
        if options.resume:
            return self._folder.resume(options.bootstrap_servers)
        return self._folder.begin(options.replay, options.bootstrap_servers)

    def _start_broker(self, stack: contextlib.ExitStack) -> str:
        broker = BrokerProcess(self._folder.path)
        with self._step(f"Start a broker on {broker.bootstrap_servers}"):
            stack.enter_context(broker)
        self._folder.remember_children(children())
        return broker.bootstrap_servers

    def _prepare_topics(self, servers: str, ends: TopicEnds) -> None:
        existing = ends.existing(PARTITIONS)
        if existing and not self._options.resume:
            names = ", ".join(sorted(existing))
            raise RunError(f"{servers} has the topics {names} already: delete them, or continue with --resume")
        if missing := {topic: count for topic, count in PARTITIONS.items() if topic not in existing}:
            with self._step(f"Create the topics {', '.join(missing)}"):
                create_topics(servers, missing)

    def _plan(self, options: ReplayOptions, ends: TopicEnds) -> Workload:
        with self._step(f"Plan the replay of {_days(options)}"):
            days = load_days(options.first_day, options.days)
            records = plan(days.events(), PARTITIONS, options.mix, options.seed)
            closing = plan(days.closing_events(), PARTITIONS, FaultMix(), options.seed)
            sent, unsent = split_sent([*records, *closing], ends.ends(_INPUT))
        closes_from_ms = closing[0].due_ms
        return Workload(
            days=days,
            records=records,
            sent=[record for record in sent if record.due_ms < closes_from_ms],
            unsent=[record for record in unsent if record.due_ms < closes_from_ms],
            closing=[record for record in unsent if record.due_ms >= closes_from_ms],
        )

    def _start_spark(self, stack: contextlib.ExitStack) -> SparkSession:
        # In the command of Spark's Java, the folder tells whose it is: see RunFolder.
        master, settings = self._options.master, {"spark.sql.warehouse.dir": str(self._folder.path / "warehouse")}
        if self._options.workers:
            cluster = StandaloneCluster(self._folder.path / "spark", self._options.workers)
            with self._step(f"Start a Spark master on {cluster.url} and {self._options.workers} workers"):
                stack.enter_context(cluster)
            self._folder.remember_children(children())
            master, settings = cluster.url, settings | CLUSTER_SETTINGS
        with self._step(f"Start Spark on {master} (its Java takes a while)"):
            spark = open_session(master, self._folder.spark_log, **settings)
        stack.enter_context(callback_errors_go_to(self._folder.spark_log))
        stack.callback(_stop_spark, spark)
        self._folder.remember_children(children())
        if not master.startswith("local"):
            spark.sparkContext.addPyFile(str(_packed(self._folder.path)))
        self._stop_signals.install()  # Spark has replaced our handlers
        return spark

    def _process(
        self, spark: SparkSession, config: PipelineConfig, ends: TopicEnds, workload: Workload, start_number: int
    ) -> ProgressLog:
        """Run the queries until they have processed the whole replay."""
        log = ProgressLog(self._folder)
        with self._step(f"Start {len(JOBS)} queries"):
            queries = SupervisedQueries(JOBS, lambda job: start_queries(spark, config, [job])[0])
        producer = EventProducer(config.bootstrap_servers, {"enable.idempotence": True})
        replay = ReplayThread(Replay(workload.unsent, producer, self._options.speed, workload.sent))
        watch = Watch(self._console, self._options.interval_s, self._folder, log, ends, JOBS, start_number)
        with contextlib.ExitStack() as ending, watch:
            ending.callback(queries.stop)  # also after a failure: they would report at length that Spark is gone
            replay.start()
            while replay.is_running:
                queries.revive()
                watch.look("replaying", queries, replay.status)
            if replay.status.failure is not None:
                raise RunError(f"the replay failed: {replay.status.failure}")
            self._drain("catching up", queries, watch, replay.status)
            for record in workload.closing:
                producer.send(record.event)
            producer.flush()
            self._drain("closing windows", queries, watch, replay.status)
            watch.show("done", queries, replay.status)
        return log

    def _drain(self, phase: str, queries: SupervisedQueries, watch: Watch, status: ReplayStatus) -> None:
        """Watch until the queries have processed all that is in the topics."""
        while True:
            drain = Drain(queries)
            drain.start()
            while drain.is_alive():
                queries.revive()
                watch.look(phase, queries, status)
            if drain.is_complete:
                return

    def _compare(
        self, spark: SparkSession, config: PipelineConfig, ends: TopicEnds, workload: Workload, log: ProgressLog
    ) -> Outcome:
        with self._step("Compare the tables with pandas"):
            expected = expected_tables(workload.days)
            tables = [check_table(name, config.table_folder(name), table) for name, table in expected.items()]
        if config.exactly_once:
            with self._step("Look for each result in its topic"):
                published = _records(spark, config, DELAYS).select(header(EVENT_ID).alias("id")).collect()
                tables.append(check_published([row.id for row in published], expected["delays"]))
        with self._step("Count the dead letters"):
            dead_letters = each_once(_records(spark, config, DEAD_LETTERS)).count()
        dropped = sum(status.dropped_by_watermark for status in log.statuses().values())
        flight_records = sum(ends.ends({FLIGHTS.topic: FLIGHTS.partitions}).values())
        faults = check_faults(workload.records, flight_records, tables[0].rows, dead_letters, dropped)
        return Outcome(tables, faults)

    def _report(self, outcome: Outcome, record: RunRecord, log: ProgressLog, config: PipelineConfig) -> None:
        statuses = log.statuses()
        report = RunReport(
            title=f"The pipeline on {_days(record.replay)}",
            facts=_facts(record, self._options),
            outcome=outcome,
            statuses=[statuses[job] for job in JOBS if job in statuses],
            batches=log.batches(),
            samples=list(self._folder.rows(self._folder.samples)),
            delays=read_table(config.table_folder("delays")),
        )
        with self._step(f"Write the report {self._options.folder / self._folder.report.name}"):
            self._folder.report.write_text(report_html(report), encoding="utf-8")

    @contextlib.contextmanager
    def _step(self, title: str) -> Iterator[None]:
        began = time.monotonic()
        with self._console.status(f"{title} …"):
            yield
        self._console.print(f"[green]✓[/] {title} [dim]{time.monotonic() - began:.1f} s[/]", highlight=False)


def _records(spark: SparkSession, config: PipelineConfig, topic: str) -> DataFrame:
    """The records of a topic, without those of aborted transactions."""
    options = {"kafka.bootstrap.servers": config.bootstrap_servers, "includeHeaders": "true", "subscribe": topic}
    options["kafka.isolation.level"] = "read_committed"
    return spark.read.format("kafka_lite").options(**options).load()


@contextlib.contextmanager
def callback_errors_go_to(log_file: Path) -> Iterator[None]:
    """Write what Py4J logs to this file instead of the terminal: each error of ``foreachBatch``, with its traceback.

    The query gets the error as well. It is started again, or its last error ends the run.
    """
    logger, handler = logging.getLogger("py4j"), logging.FileHandler(log_file, encoding="utf-8")
    propagated, logger.propagate = logger.propagate, False
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.propagate = propagated
        handler.close()


def _days(options: ReplayOptions) -> str:
    return f"{options.first_day}" + (f" and {options.days - 1} more days" if options.days > 1 else "")


def _facts(record: RunRecord, options: RunOptions) -> list[str]:
    replay = record.replay
    mix = f"late {replay.late:g}, duplicates {replay.duplicates:g}, garbage {replay.garbage}, seed {replay.seed}"
    where = f"{options.workers} workers of a Spark master" if options.workers else options.master
    topics = "results in transactions" if replay.exactly_once else "results at least once"
    facts = [f"{options.speed:g} times real time", mix, f"Spark on {where}", topics]
    resumed = {1: [], 2: ["resumed once"]}.get(record.starts, [f"resumed {record.starts - 1} times"])
    return facts + resumed


def _packed(folder: Path) -> Path:
    """This package as a zip, for workers that have no copy of it."""
    package = Path(pipeline.__file__).parent
    return Path(shutil.make_archive(str(folder / "pipeline"), "zip", package.parent, package.name))


@contextlib.contextmanager
def _failures(folder: RunFolder) -> Iterator[None]:
    """Turn the errors of Spark and of clients into ``RunError``."""
    try:
        yield
    except (PySparkException, Py4JError) as error:
        raise RunError(f"Spark failed: {reason_of(error)}\nIts log is {folder.spark_log}") from error
    except KafkaException as error:
        raise RunError(f"the broker did not respond as expected: {error}") from error


def _stop_spark(spark: SparkSession) -> None:
    with contextlib.suppress(Exception):  # after Ctrl-C its JVM may be gone already
        gateway: Any = spark.sparkContext._gateway
        spark.stop()
        gateway.shutdown()  # or the garbage collector would talk to a JVM that is being ended, and log that it fails

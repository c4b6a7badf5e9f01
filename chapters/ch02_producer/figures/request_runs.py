"""Runs of a produce and of a fetch request, from the client's socket to the files and back. Book 2.3, 6.1.2, 6.3."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping

from chapters.ch02_producer.figures.network_runs import network_watches
from kafka_learn.recording.broker_watches import watch_files
from kafka_learn.recording.recorded_run import RecordedRun
from kafka_learn.recording.recorder import Recording, Watch
from kafka_learn.recording.run_brokers import (
    AS_IN_KAFKA,
    connect,
    fetch_from,
    in_thread,
    open_connections,
    produce,
    running_broker,
    send_record,
    wait_until,
)
from kafka_learn.recording.watches import watch, watch_queue
from kafka_lite.cluster.partition import Partition
from kafka_lite.common.purgatory.delayed_operation import DelayedOperationPurgatory
from kafka_lite.common.time import SYSTEM_TIME
from kafka_lite.log.log import Log
from kafka_lite.log.log_segment import LogSegment
from kafka_lite.server.apis.fetch_apis import FetchApis
from kafka_lite.server.apis.produce_apis import ProduceApis
from kafka_lite.server.delayed_fetch import DelayedFetch
from kafka_lite.server.replica_manager import ReplicaManager

BEFORE_THE_RECORD_MS = 50
"""How long the consumer waits alone: much longer than anything else takes, and short for a waiting reader."""


def storage_watches() -> list[Watch]:
    """From the handler to the files: book 2.3.5 and 6.1."""
    return [
        *watch_files(),
        *watch(ProduceApis.handle_produce, FetchApis.handle_fetch, show=("body",)),
        *watch(ReplicaManager.append_records, show=("required_acks", "entries")),
        *watch(ReplicaManager.fetch_messages, show=("fetch_infos",)),
        *watch(Partition.append_records_to_leader, Log.append_as_leader, show=("records",)),
        *watch(LogSegment.append, show=("records",)),
        *watch(Log.read, show=("start_offset", "max_length")),
        *watch(LogSegment.read, show=("start_offset", "max_size")),
    ]


def purgatory_watches() -> list[Watch]:
    """Into the purgatory and out of it: book 6.3."""
    waiting = watch_queue(
        "purgatory", DelayedOperationPurgatory._watch, DelayedFetch.on_complete, put_item="operation", take_item="self"
    )
    lane = DelayedOperationPurgatory.__name__  # that of fetches is a class derived from it
    return [
        *watch(DelayedOperationPurgatory.try_complete_else_watch, show=("watch_keys",), who=lane),
        *watch(DelayedOperationPurgatory.check_and_complete, show=("key",), who=lane),
        *watch(DelayedFetch.try_complete, DelayedFetch.on_complete),
        *waiting,
    ]


PRODUCE_LANES = (
    "producer",
    "Acceptor",
    "Processor",
    "RequestChannel",
    "KafkaRequestHandler",
    "KafkaApis",
    "ReplicaManager",
    "Log",
    "LogSegment",
)
INLINE_LANES = tuple(lane for lane in PRODUCE_LANES if lane != "KafkaRequestHandler")
FETCH_LANES = (
    "consumer",
    "Processor",
    "RequestChannel",
    "KafkaRequestHandler",
    "ReplicaManager",
    "Log",
    "LogSegment",
    "FileMessageSet",
    "FileMessageSetSlice",
)
PURGATORY_LANES = (
    "consumer",
    "producer",
    "Processor",
    "RequestChannel",
    "KafkaRequestHandler",
    "ReplicaManager",
    "DelayedOperationPurgatory",
    "DelayedFetch",
    "Log",
)


def produce_request() -> RecordedRun:
    """A producer connects and sends one request with ``acks=1``; every request goes through the queue, as in Kafka."""
    return _record_produce("produce_request", "The way of a produce request", AS_IN_KAFKA, PRODUCE_LANES)


def inline_produce_request() -> RecordedRun:
    """The same with this broker's defaults: the network thread that reads a quick request also handles it."""
    return _record_produce(
        "inline_produce_request", "A produce request, handled by the network thread", {}, INLINE_LANES
    )


def _record_produce(name: str, title: str, overrides: Mapping[str, str], lanes: tuple[str, ...]) -> RecordedRun:
    watches = (network_watches(), storage_watches())
    with (
        Recording(*watches, title=title, paused=True) as recording,
        running_broker(overrides) as server,
        recording.running(),
    ):
        in_thread("producer", lambda: produce(server, b"hello"))
        recording.wait_for("RequestChannel.PRODUCE v9")
        recording.pause()  # before the broker stops
    return recording.run.recorded_in(__name__, name, lanes=lanes)


def fetch_request() -> RecordedRun:
    """A consumer fetches existing records: the handler finds them, the network thread sends them from the file."""
    watches = (network_watches(), storage_watches())
    with (
        Recording(*watches, title="A fetch response straight from the file", paused=True) as recording,
        running_broker(AS_IN_KAFKA) as server,
        connect(server) as consumer,
    ):
        wait_until(lambda: open_connections(server) == 1)
        with recording.running():
            in_thread("consumer", lambda: fetch_from(consumer, 0))
            recording.wait_for("RequestChannel.FETCH v11")
    return recording.run.recorded_in(__name__, "fetch_request", lanes=FETCH_LANES)


def fetch_in_purgatory() -> RecordedRun:
    """A consumer fetches at the end of the log and waits; a producer's record completes the fetch."""
    title = "A fetch waits in purgatory until a produce completes it"
    watches = (network_watches(), storage_watches(), purgatory_watches())
    with (
        Recording(*watches, title=title, paused=True) as recording,
        running_broker(AS_IN_KAFKA) as server,
        connect(server) as consumer,
        connect(server) as producer,
    ):
        wait_until(lambda: open_connections(server) == 2)
        with recording.running():
            waiting = threading.Thread(target=fetch_from, args=(consumer, 1), name="consumer")
            waiting.start()
            recording.wait_for(".purgatory")
            SYSTEM_TIME.sleep(BEFORE_THE_RECORD_MS)
            in_thread("producer", lambda: send_record(producer, b"hello"))
            waiting.join()
            recording.wait_for("RequestChannel.PRODUCE v9")
            recording.wait_for("RequestChannel.FETCH v11")
    return recording.run.recorded_in(__name__, "fetch_in_purgatory", lanes=PURGATORY_LANES)


RUNS: dict[str, Callable[[], RecordedRun]] = {
    "produce-request": produce_request,
    "inline-produce-request": inline_produce_request,
    "fetch-in-purgatory": fetch_in_purgatory,
    "fetch-request": fetch_request,
}

"""Recorded runs of the new producer: the way of a record, batches and memory, retries with and without order.

Book 2.1.1, 2.1.2. Connections and the selector are in ``connection_runs``.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from kafka_learn.recording.broker_watches import watch_wire
from kafka_learn.recording.client_watches import contents, of_batches, watch_batches, watch_memory
from kafka_learn.recording.recorded_run import Detail, RecordedRun
from kafka_learn.recording.recorder import Call, Recording, Watch
from kafka_learn.recording.run_brokers import AS_IN_KAFKA, TOPIC, in_thread, wait_until
from kafka_learn.recording.watches import watch
from kafka_lite.common.errors import Errors
from kafka_lite.common.process.log_levels import quiet
from kafka_lite.common.time import SYSTEM_TIME
from kafka_lite.log.log import Log
from kafka_lite.log.producers.producer_state_entry import ProducerStateEntry
from kafka_lite.producer.buffer_pool import BufferPool
from kafka_lite.producer.future_record_metadata import FutureRecordMetadata
from kafka_lite.producer.kafka_producer import KafkaProducer
from kafka_lite.producer.partitioner import DefaultPartitioner
from kafka_lite.producer.producer_record import ProducerRecord
from kafka_lite.producer.record_accumulator import RecordAccumulator
from kafka_lite.producer.sender import Sender
from kafka_lite.record.records import batches
from kafka_lite.testing.cluster import Cluster

ONE_RECORD_LANES = (
    "caller",
    "KafkaProducer",
    "RecordAccumulator",
    "Sender",
    "Processor",
    "KafkaRequestHandler",
    "Log",
)
ORDER_LANES = ("caller", "RecordAccumulator", "Sender", "Processor", "KafkaRequestHandler", "Log")
DUPLICATE_LANES = ORDER_LANES
RETRY_BACKOFF_MS = 20
SMALL_BATCH_BYTES = 400
ROOM_FOR_BATCHES = 6
RECORDS = 45
LINGER_MS = 40
STANDSTILL_MS = 20


@contextmanager
def running_cluster(partitions: int = 1) -> Iterator[Cluster]:
    """A broker whose requests go through the queue, as in Kafka, with the topic ``demo``."""
    with Cluster(AS_IN_KAFKA) as cluster:
        cluster.create_topic(TOPIC, partitions)
        yield cluster


@contextmanager
def running_producer(cluster: Cluster, configs: Mapping[str, object] | None = None) -> Iterator[KafkaProducer]:
    """A producer that knows the topic and has its connection and its id: it has sent one record."""
    given = {"bootstrap.servers": cluster.bootstrap_servers, "client.id": "producer", **(configs or {})}
    with KafkaProducer(given) as producer:
        producer.send(ProducerRecord(TOPIC, b"first", partition=0)).get()
        wait_until(lambda: in_flight(producer) == 0)
        yield producer


def in_flight(producer: KafkaProducer) -> int:
    """The number of a producer's requests in flight."""
    return producer._sender._client.in_flight_request_count()


# ── watches ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def producer_watches() -> list[Watch]:
    """From ``send`` to the callback, in the caller's thread and the sender's."""
    return [
        *watch_wire(),
        *watch_batches(),
        *watch(KafkaProducer.send, show=_values_of_record),
        *watch(DefaultPartitioner.partition, show=(), who="KafkaProducer"),
        *watch(RecordAccumulator.append, show=("topic_partition",)),
        *watch(Sender.wake_up, show=()),
        *watch(RecordAccumulator.ready, RecordAccumulator._drain_node, show=()),
        *watch(FutureRecordMetadata.get, show=(), who="caller"),
        *watch(RecordAccumulator.deallocate, show=()),
        *watch(Sender._complete_batch, show=_outcome_of_batch),
        *watch_appends(),
    ]


def watch_appends() -> list[Watch]:
    """The appends to the broker's log: the values of the records, and their sequence numbers."""
    return watch(Log.append_as_leader, show=lambda call: {"values": of_batches(batches(call.argument("records")))})


def order_watches() -> list[Watch]:
    """The life of each batch, by the values in it."""
    return [
        *watch_wire(),
        *watch_batches(),
        *watch(RecordAccumulator.append, show=lambda call: {"value": call.argument("fields")[2].decode()}),
        *watch(RecordAccumulator.reenqueue, show=lambda call: {"batch": contents(call.argument("batch"))}),
        *watch(RecordAccumulator.mute_partition, RecordAccumulator.unmute_partition),
        *watch(Sender._send_produce_request, show=_values_of_request),
        *watch(Sender._complete_batch, show=_outcome_of_batch),
        *watch_appends(),
    ]


def _values_of_record(call: Call) -> Detail:
    return {"value": (call.argument("record").value or b"").decode()}


def _values_of_request(call: Call) -> Detail:
    return {"batches": "; ".join(map(contents, call.argument("batches")))}


def _outcome_of_batch(call: Call) -> Detail:
    error = Errors.for_code(call.argument("outcome").error_code)
    return {"batch": contents(call.argument("batch")), "outcome": error.name}


# ── one record ──────────────────────────────────────────────────────────────────────────────────────────────────────


def one_record() -> RecordedRun:
    """A producer that is connected sends one record, and the caller waits for its place."""
    with (
        Recording(producer_watches(), title="The way of a record", paused=True) as recording,
        running_cluster() as cluster,
        running_producer(cluster) as producer,
        recording.running(),
    ):
        in_thread("caller", lambda: producer.send(ProducerRecord(TOPIC, b"hello")).get())
        recording.wait_for("RecordAccumulator.deallocate")
    return recording.run.recorded_in(
        __name__,
        "one_record",
        lanes=ONE_RECORD_LANES,
        hide=("state", "RecordAccumulator.ready"),
    )


# ── batches and memory ──────────────────────────────────────────────────────────────────────────────────────────────


def filling_and_draining() -> RecordedRun:
    """Records for three partitions, and a broker that stalls until the memory is exhausted and ``send`` blocks."""
    configs = {
        "batch.size": SMALL_BATCH_BYTES,
        "buffer.memory": ROOM_FOR_BATCHES * SMALL_BATCH_BYTES,
        "linger.ms": LINGER_MS,
        "max.in.flight.requests.per.connection": 2,
        "enable.idempotence": False,
    }
    watches = (watch_batches(), watch_memory(), watch(BufferPool.allocate, show=("size",)))
    with (
        Recording(*watches, title="Batches and memory", paused=True) as recording,
        running_cluster(partitions=3) as cluster,
        running_producer(cluster, configs) as producer,
        recording.running(),
    ):
        with cluster.paused():
            caller = threading.Thread(target=_send_many, args=(producer,), name="caller")
            caller.start()
            wait_until(lambda: in_flight(producer) == 2 and producer._accumulator._pool.queued == 1)
            SYSTEM_TIME.sleep(STANDSTILL_MS)
        caller.join()
        producer.flush()
        recording.pause()
    return recording.run.recorded_in(
        __name__,
        "filling_and_draining",
        lanes=("caller", "RecordAccumulator", "Sender"),
        hide=("state", "BufferPool"),
    )


def _send_many(producer: KafkaProducer) -> None:
    """A record every millisecond, more of them for partition 0."""
    for number in range(RECORDS):
        producer.send(ProducerRecord(TOPIC, bytes(60), partition=number % 7 % 3))
        SYSTEM_TIME.sleep(1)


# ── order ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def reordered() -> RecordedRun:
    """Three requests in flight without idempotence, and the first of them is refused: it comes last."""
    return _refuse_the_first("reordered", "Five in flight: a retry comes too late", {"enable.idempotence": False})


def one_in_flight() -> RecordedRun:
    """The same with one request in flight: later batches wait in the accumulator."""
    configs = {"enable.idempotence": False, "max.in.flight.requests.per.connection": 1}
    return _refuse_the_first("one_in_flight", "One in flight: the rest waits", configs)


def kept_in_order() -> RecordedRun:
    """Two requests in flight with idempotence: the broker refuses what comes too early."""
    return _refuse_the_first("kept_in_order", "Five in flight, numbered: the broker refuses what is early", {}, b"AB")


def _refuse_the_first(name: str, title: str, configs: Mapping[str, object], letters: bytes = b"ABC") -> RecordedRun:
    """Send A, B, C in a batch each; the response to A is NOT_LEADER_OR_FOLLOWER.

    The broker stalls until the maximum is in flight.
    """
    with (
        quiet("kafka_lite.producer", below=logging.ERROR),
        Recording(order_watches(), title=title, paused=True) as recording,
        running_cluster() as cluster,
        running_producer(cluster, {"retry.backoff.ms": RETRY_BACKOFF_MS, **configs}) as producer,
        cluster.inject("Produce", Errors.NOT_LEADER_OR_FOLLOWER).once(),
        recording.running(),
    ):
        with cluster.paused():
            in_thread("caller", lambda: _send_apart(producer, letters))
        producer.flush()
        recording.pause()
    return without_metadata(recording.run).recorded_in(
        __name__,
        name,
        lanes=ORDER_LANES,
        hide=("state", "RecordAccumulator.batch"),
    )


def _send_apart(producer: KafkaProducer, letters: bytes) -> None:
    """Send each in a request of its own, as far as so many may be in flight."""
    for sent, letter in enumerate(letters, 1):
        producer.send(ProducerRecord(TOPIC, bytes([letter])))
        expected = min(sent, producer.config["max.in.flight.requests.per.connection"])
        wait_until(lambda expected=expected: in_flight(producer) == expected)  # type: ignore[misc]


def without_metadata(run: RecordedRun) -> RecordedRun:
    """The run without the metadata requests that each retry causes."""
    numbers = {
        (event.what, event.number)
        for event in run
        if str(event.detail.get("thing", "")).startswith(("METADATA", "MetadataResponse"))
    }
    return run.where(lambda event: (event.what, event.number) not in numbers)


# ── a duplicate ─────────────────────────────────────────────────────────────────────────────────────────────────────


def duplicate() -> RecordedRun:
    """The response is lost, and there are no sequence numbers: the record is in the log twice."""
    title = "A response is lost: the record is stored twice"
    return _lose_the_response("duplicate", title, {"enable.idempotence": False})


def removed_duplicate() -> RecordedRun:
    """The response is lost, and the batch has a sequence number: the broker returns the batch's offset."""
    return _lose_the_response("removed_duplicate", "A response is lost: the broker knows the number", {})


def _lose_the_response(name: str, title: str, configs: Mapping[str, object]) -> RecordedRun:
    watches = (order_watches(), watch(ProducerStateEntry.find_duplicate_batch, show=("first_seq", "last_seq")))
    lanes = DUPLICATE_LANES if configs else (*DUPLICATE_LANES, "ProducerStateEntry")
    with (
        quiet("kafka_lite.producer", below=logging.ERROR),
        Recording(*watches, title=title, paused=True) as recording,
        running_cluster() as cluster,
        running_producer(cluster, {"retry.backoff.ms": RETRY_BACKOFF_MS, **configs}) as producer,
        cluster.inject("Produce").drop_response().once(),
        recording.running(),
    ):
        in_thread("caller", lambda: producer.send(ProducerRecord(TOPIC, b"A")).get())
        recording.pause()
    return without_metadata(recording.run).recorded_in(
        __name__,
        name,
        lanes=lanes,
        hide=("state", "RecordAccumulator.batch"),
    )


RUNS: dict[str, Callable[[], RecordedRun]] = {
    "one-record": one_record,
    "filling-and-draining": filling_and_draining,
    "reordered": reordered,
    "one-in-flight": one_in_flight,
    "kept-in-order": kept_in_order,
    "duplicate": duplicate,
    "removed-duplicate": removed_duplicate,
}

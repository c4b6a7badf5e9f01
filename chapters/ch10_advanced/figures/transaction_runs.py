"""Recorded runs of transactions: over two brokers, and one that is aborted after its timeout. Book 10.3."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial

from kafka_learn.recording.recorded_run import Kind, RecordedRun
from kafka_learn.recording.recorder import Call, Recording, Watch
from kafka_learn.recording.run_brokers import TOPIC, in_thread, wait_until
from kafka_learn.recording.run_clusters import running_brokers
from kafka_learn.recording.watches import watch
from kafka_lite.common.errors import Errors
from kafka_lite.coordinator.transaction.transaction_coordinator import TransactionCoordinator
from kafka_lite.coordinator.transaction.transaction_metadata import TransactionMetadata
from kafka_lite.log.log import Log
from kafka_lite.producer import KafkaProducer, ProducerFencedError, ProducerRecord
from kafka_lite.record.control_record import ControlRecordType
from kafka_lite.record.default_record_batch import DefaultRecordBatch
from kafka_lite.record.records import batches

TRANSACTIONAL_ID = "transfers"
PRODUCER, COORDINATOR = "producer", "coordinator"
LEADERS = ("leader of demo-0", "leader of demo-1")
ONE_REPLICA = {
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "transaction.state.log.num.partitions": "1",
    "offsets.topic.replication.factor": "1",
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": "100",
    # The runs show what the chapter explains: producers that add their partitions themselves. A new cluster of this
    # protocol has not finalized transaction.version 2.
    "inter.broker.protocol.version": "2.8",
    "log.message.format.version": "2.8",
}
TIMEOUT_MS = 2000
"""More than a busy machine takes from the first request to the record in the log."""
WAIT_MS = 60_000


def record_states(sender: Callable[[], str], coordinator: str = COORDINATOR) -> list[Watch]:
    """The requests of a producer to the coordinator, and the states of its transactional id.

    ``sender`` returns the lane of the producer that is running.
    """

    def asks(name: str, says: Callable[[Call], str]) -> Callable[[Call], None]:
        return lambda call: arrow(call, sender(), coordinator, name, says(call))

    def note_state(call: Call) -> None:
        call.scratch = call.subject.state.title

    def state_changed(call: Call) -> None:
        before, after = call.scratch, call.subject.state.title
        if before != after:
            name = call.subject.transactional_id
            call.emit(Kind.STATE, coordinator, name, {"before": before, "after": after})

    return [
        Watch.of(TransactionCoordinator.handle_init_producer_id, asks("InitProducerId", lambda _: "")),
        Watch.of(
            TransactionCoordinator.handle_add_partitions,
            asks("AddPartitionsToTxn", lambda call: " ".join(sorted(map(str, call.argument("partitions"))))),
        ),
        Watch.of(
            TransactionCoordinator.handle_end_transaction,
            asks("EndTxn", lambda call: "commit" if call.argument("commit") else "abort"),
        ),
        Watch.of(TransactionMetadata.complete, note_state, state_changed),
    ]


def watch_appends() -> list[Watch]:
    """The appends to the logs of the topic: the producer's records, and the coordinator's markers."""

    def appended(call: Call) -> None:
        partition = call.subject.topic_partition
        if partition.topic != TOPIC:
            return
        for batch in batches(call.argument("records")):
            assert isinstance(batch, DefaultRecordBatch)
            leader = LEADERS[partition.partition]
            if batch.is_control:
                kinds = [ControlRecordType.parse(record.key).name.lower() for record in batch.records()]
                arrow(call, COORDINATOR, leader, "WriteTxnMarkers", " ".join(kinds))
            else:
                arrow(call, PRODUCER, leader, "Produce", values_of(batch))

    return [Watch.of(Log.append_as_leader, appended)]


def values_of(batch: DefaultRecordBatch) -> str:
    """The values of a batch, with blanks between them."""
    return " ".join((record.value or b"").decode() for record in batch.records())


def arrow(call: Call, sender: str, receiver: str, what: str, says: str) -> None:
    """Record that one lane sends something to another."""
    number = call.recording.new_number()
    call.emit(Kind.PUT, sender, what, {"says": says} if says else {}, number=number)
    call.emit(Kind.TAKE, receiver, what, number=number)


def calls_of_producer(*functions: Callable[..., object]) -> list[Watch]:
    """The user's calls, without their arguments."""
    return watch(*functions, show=(), who=PRODUCER)


def _recorded(
    name: str,
    title: str,
    calls: Iterable[Callable[..., object]],
    scene: Callable[[KafkaProducer, Recording], None],
    configs: dict[str, object] | None = None,
    leaders: Sequence[str] = LEADERS,
) -> RecordedRun:
    watches = [*calls_of_producer(*calls), *record_states(lambda: PRODUCER), *watch_appends()]
    with Recording(watches, title=title, paused=True) as recording, running_brokers(ONE_REPLICA) as brokers:
        brokers.create_topic([1], [2])
        servers = ",".join(f"127.0.0.1:{server.bound_port()}" for server in brokers.servers.values())
        given = {"bootstrap.servers": servers, "transactional.id": TRANSACTIONAL_ID, "retry.backoff.ms": 20}
        with KafkaProducer(given | (configs or {})) as producer:
            producer.init_transactions()
            producer.partitions_for(TOPIC)
            with recording.running():
                in_thread(PRODUCER, partial(scene, producer, recording))
    return recording.run.recorded_in(__name__, name, lanes=(PRODUCER, COORDINATOR, *leaders))


def transaction() -> RecordedRun:
    """Two records for two partitions, led by two brokers, in one transaction."""

    def scene(producer: KafkaProducer, recording: Recording) -> None:
        producer.begin_transaction()
        for partition, value in enumerate((b"-100", b"+100")):
            producer.send(ProducerRecord(TOPIC, value, partition=partition)).get()
        producer.commit_transaction()
        wait_for_end(recording)

    calls = (KafkaProducer.begin_transaction, KafkaProducer.send, KafkaProducer.commit_transaction)
    return _recorded("transaction", "A transaction over two brokers", calls, scene)


def abort_after_timeout() -> RecordedRun:
    """A producer sends and then does nothing until its transaction has timed out. Its commit comes too late."""

    def scene(producer: KafkaProducer, recording: Recording) -> None:
        producer.begin_transaction()
        producer.send(ProducerRecord(TOPIC, b"-100", partition=0)).get()
        recording.note(f"nothing more from the producer for transaction.timeout.ms = {TIMEOUT_MS}")
        wait_for_end(recording)
        try:
            producer.commit_transaction()
        except ProducerFencedError:
            recording.note(f"the producer gets {Errors.PRODUCER_FENCED.name}")

    calls = (KafkaProducer.begin_transaction, KafkaProducer.commit_transaction)
    title = "A transaction is aborted after its timeout"
    configs: dict[str, object] = {"transaction.timeout.ms": TIMEOUT_MS}
    return _recorded("abort_after_timeout", title, calls, scene, configs, LEADERS[:1])


def wait_for_end(recording: Recording) -> None:
    """Wait until all markers are written."""

    def has_ended() -> bool:
        return any(str(event.detail.get("after", "")).startswith("Complete") for event in recording.run.events)

    wait_until(has_ended, WAIT_MS)


RUNS: dict[str, Callable[[], RecordedRun]] = {
    "transaction": transaction,
    "transaction-timeout": abort_after_timeout,
}

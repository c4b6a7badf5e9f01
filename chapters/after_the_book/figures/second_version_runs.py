"""Recorded run of a transaction of the second version (KIP-890). Its older form is chapter 10's ``transaction``."""

from __future__ import annotations

import threading
from collections.abc import Callable

from chapters.ch10_advanced.figures.transaction_runs import (
    COORDINATOR,
    LEADERS,
    ONE_REPLICA,
    PRODUCER,
    TRANSACTIONAL_ID,
    arrow,
    calls_of_producer,
    wait_for_end,
)
from kafka_learn.recording.recorded_run import Kind, RecordedRun
from kafka_learn.recording.recorder import Call, Recording, Watch
from kafka_learn.recording.run_brokers import TOPIC, connect, in_thread
from kafka_learn.recording.run_clusters import running_brokers
from kafka_lite.common.errors import Errors
from kafka_lite.coordinator.transaction.transaction_coordinator import TransactionCoordinator
from kafka_lite.coordinator.transaction.transaction_metadata import TransactionMetadata
from kafka_lite.log.log import Log
from kafka_lite.producer import KafkaProducer, ProducerRecord
from kafka_lite.producer.transaction_manager import TransactionManager
from kafka_lite.protocol.messages.api_00_produce import (
    PartitionProduceData,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from kafka_lite.record.default_record_batch import DefaultRecordBatch
from kafka_lite.record.memory_records_builder import MemoryRecordsBuilder
from kafka_lite.record.records import batches
from kafka_lite.server.transactions.transaction_verification import TransactionVerification

LATE = "late batch"
"""The lane of a batch of the producer that a slow connection delivers after the end of its transaction."""
OLDER = ("inter.broker.protocol.version", "log.message.format.version")
SETTINGS = {key: value for key, value in ONE_REPLICA.items() if key not in OLDER}
PRODUCE_VERSION = 12
"""The first version of a Produce request by which the leader adds the partition to the transaction."""


def _watches(is_late: threading.Event) -> list[Watch]:
    """Produce when it arrives, which is before the partition is in the transaction; and the epochs."""

    def produce(call: Call) -> None:
        sender = LATE if is_late.is_set() else PRODUCER
        for partition in call.argument("base_sequences"):
            arrow(call, sender, LEADERS[partition.partition], "Produce", f"epoch {call.argument('producer').epoch}")

    def add(call: Call) -> None:
        for partition in call.argument("partitions"):
            arrow(call, LEADERS[partition.partition], COORDINATOR, "AddPartitionsToTxn", str(partition))

    def append(call: Call) -> None:
        at = call.subject.topic_partition
        if at.topic == TOPIC:
            for batch in batches(call.argument("records")):
                assert isinstance(batch, DefaultRecordBatch)
                what = f"marker, epoch {batch.producer_epoch}" if batch.is_control else "appended"
                call.emit(Kind.NOTE, LEADERS[at.partition], what)

    def end(call: Call) -> None:
        arrow(call, PRODUCER, COORDINATOR, "EndTxn", f"commit, epoch {call.argument('producer').epoch}")

    def ended(call: Call) -> None:
        following = call.argument("following")
        if following is not None:
            arrow(call, COORDINATOR, PRODUCER, "EndTxn response", f"epoch {following.epoch}")

    return [
        Watch.of(TransactionVerification.verify, produce),
        Watch.of(TransactionCoordinator.handle_add_partitions, add),
        Watch.of(Log.append_as_leader, append),
        Watch.of(TransactionCoordinator.handle_bumped_end, end),
        Watch.of(TransactionManager.transaction_ended, ended),
        *_states(),
    ]


def _states() -> list[Watch]:
    def before(call: Call) -> None:
        call.scratch = call.subject.state.title

    def after(call: Call) -> None:
        detail = {"before": call.scratch, "after": call.subject.state.title}
        if detail["before"] != detail["after"]:
            call.emit(Kind.STATE, COORDINATOR, call.subject.transactional_id, detail)

    return [Watch.of(TransactionMetadata.complete, before, after)]


def transaction_of_second_version() -> RecordedRun:
    """Two records for two partitions; then a batch of the same transaction that comes too late."""
    calls = calls_of_producer(KafkaProducer.begin_transaction, KafkaProducer.send, KafkaProducer.commit_transaction)
    title, is_late = "A transaction of the second version", threading.Event()
    with (
        Recording(calls, _watches(is_late), title=title, paused=True) as recording,
        running_brokers(SETTINGS) as brokers,
    ):
        brokers.create_topic([1], [2])
        servers = ",".join(f"127.0.0.1:{server.bound_port()}" for server in brokers.servers.values())
        configs = {"bootstrap.servers": servers, "transactional.id": TRANSACTIONAL_ID, "retry.backoff.ms": 20}
        with KafkaProducer(configs) as producer:
            producer.init_transactions()
            producer.partitions_for(TOPIC)
            state = producer._manager
            producer_id, epoch = state.producer_id, state.producer_epoch

            def scene() -> None:
                producer.begin_transaction()
                for partition, value in enumerate((b"-100", b"+100")):
                    producer.send(ProducerRecord(TOPIC, value, partition=partition)).get()
                producer.commit_transaction()
                wait_for_end(recording)

            def too_late() -> None:
                with connect(brokers.servers[1]) as channel:
                    response = channel.exchange(_late_batch(producer_id, epoch), PRODUCE_VERSION)
                assert isinstance(response, ProduceResponse)
                code = response.responses[0].partition_responses[0].error_code
                recording.emit(Kind.NOTE, LEADERS[0], Errors.for_code(code).name)

            with recording.running():
                in_thread(PRODUCER, scene)
                is_late.set()
                in_thread(LATE, too_late)
    return recording.run.recorded_in(__name__, "transaction_of_second_version", (PRODUCER, COORDINATOR, *LEADERS, LATE))


def _late_batch(producer_id: int, epoch: int) -> ProduceRequest:
    """The batch after the one that the producer has sent to partition 0, in the epoch of that transaction."""
    builder = MemoryRecordsBuilder(
        producer_id=producer_id, producer_epoch=epoch, base_sequence=1, is_transactional=True
    )
    builder.append(1000, None, b"-7")
    partition = PartitionProduceData(index=0, records=builder.build())
    topic = TopicProduceData(name=TOPIC, partition_data=[partition])
    return ProduceRequest(transactional_id=TRANSACTIONAL_ID, acks=-1, timeout_ms=5_000, topic_data=[topic])


RUNS: dict[str, Callable[[], RecordedRun]] = {"transaction-of-second-version": transaction_of_second_version}

"""Requests of transactional producers in right and wrong orders, and the errors with which Kafka 3.9.1 responds.

One test sends them to our broker, another one to Kafka 3.9.1: the table is held to both.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from kafka_lite.common.errors import Errors
from kafka_lite.network.blocking_channel import BlockingChannel
from kafka_lite.protocol.messages.api_00_produce import PartitionProduceData, ProduceRequest, TopicProduceData
from kafka_lite.protocol.messages.api_10_find_coordinator import FindCoordinatorRequest
from kafka_lite.protocol.messages.api_22_init_producer_id import InitProducerIdRequest
from kafka_lite.protocol.messages.api_24_add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from kafka_lite.protocol.messages.api_25_add_offsets_to_txn import AddOffsetsToTxnRequest
from kafka_lite.protocol.messages.api_26_end_txn import EndTxnRequest
from kafka_lite.protocol.messages.api_27_write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)
from kafka_lite.protocol.messages.api_28_txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from kafka_lite.protocol.messages.api_65_describe_transactions import DescribeTransactionsRequest
from kafka_lite.protocol.messages.api_66_list_transactions import ListTransactionsRequest
from kafka_lite.record.memory_records_builder import MemoryRecordsBuilder
from tests.support.patience import Patience

TOPIC = "scripted"
GROUP = "scripted-group"
TEMPORARY = frozenset({Errors.COORDINATOR_NOT_AVAILABLE, Errors.COORDINATOR_LOAD_IN_PROGRESS, Errors.NOT_COORDINATOR})
DEADLINE_S = 60


@dataclass
class ScriptedProducer:
    """A producer that sends whatever it is told, with its id and epoch or wrong ones."""

    channel: BlockingChannel
    transactional_id: str = field(default_factory=lambda: uuid.uuid4().hex)
    producer_id: int = -1
    epoch: int = -1
    sequence: int = 0

    def send(self, request: Any, version: int, error_of: Callable[[Any], int], *, wait: bool = True) -> Errors:
        """Send until the coordinator is there; with ``wait`` also until it is not busy with the id."""
        again = TEMPORARY | {Errors.CONCURRENT_TRANSACTIONS} if wait else TEMPORARY
        patience = Patience(DEADLINE_S)
        while True:
            self.response = self.channel.exchange(request, version)
            error = Errors.for_code(error_of(self.response))
            if error not in again or patience.is_over():
                return error
            time.sleep(0.02)


Step = Callable[[ScriptedProducer], Errors]


def find(key_type: int = 1, version: int = 3) -> Step:
    """FindCoordinator."""

    def step(producer: ScriptedProducer) -> Errors:
        request = FindCoordinatorRequest(key=producer.transactional_id, key_type=key_type)
        return producer.send(request, version, lambda response: response.error_code)

    return step


def init(
    named: tuple[int, int] | None = None, *, timeout_ms: int = 60_000, version: int = 4, wait: bool = True
) -> Step:
    """InitProducerId; ``named`` is added to the producer's id and epoch, which it then names."""

    def step(producer: ScriptedProducer) -> Errors:
        request = InitProducerIdRequest(transactional_id=producer.transactional_id, transaction_timeout_ms=timeout_ms)
        if named is not None:
            request.producer_id, request.producer_epoch = producer.producer_id + named[0], producer.epoch + named[1]
        error = producer.send(request, version, lambda response: response.error_code, wait=wait)
        if error is Errors.NONE:
            producer.producer_id, producer.epoch = producer.response.producer_id, producer.response.producer_epoch
            producer.sequence = 0
        return error

    return step


def add(topic: str = TOPIC, partition: int = 0, *, epoch: int = 0, pid: int = 0, version: int = 3) -> Step:
    """AddPartitionsToTxn."""

    def step(producer: ScriptedProducer) -> Errors:
        request = AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=producer.transactional_id,
            v3_and_below_producer_id=producer.producer_id + pid,
            v3_and_below_producer_epoch=producer.epoch + epoch,
            v3_and_below_topics=[AddPartitionsToTxnTopic(name=topic, partitions=[partition])],
        )
        return producer.send(
            request,
            version,
            lambda response: response.results_by_topic_v3_and_below[0].results_by_partition[0].partition_error_code,
        )

    return step


def add_offsets(group: str = GROUP, *, epoch: int = 0, pid: int = 0, version: int = 3) -> Step:
    """AddOffsetsToTxn."""

    def step(producer: ScriptedProducer) -> Errors:
        request = AddOffsetsToTxnRequest(
            transactional_id=producer.transactional_id,
            producer_id=producer.producer_id + pid,
            producer_epoch=producer.epoch + epoch,
            group_id=group,
        )
        return producer.send(request, version, lambda response: response.error_code)

    return step


def commit_offsets(
    group: str = GROUP, topic: str = TOPIC, *, epoch: int = 0, generation: int = -1, member: str = "", version: int = 3
) -> Step:
    """TxnOffsetCommit of one partition."""

    def step(producer: ScriptedProducer) -> Errors:
        partition = TxnOffsetCommitRequestPartition(partition_index=0, committed_offset=1, committed_metadata="")
        request = TxnOffsetCommitRequest(
            transactional_id=producer.transactional_id,
            group_id=group,
            producer_id=producer.producer_id,
            producer_epoch=producer.epoch + epoch,
            topics=[TxnOffsetCommitRequestTopic(name=topic, partitions=[partition])],
        )
        if version >= 3:
            request.generation_id, request.member_id = generation, member
        return producer.send(request, version, lambda response: response.topics[0].partitions[0].error_code)

    return step


def end(*, commit: bool, epoch: int = 0, pid: int = 0, version: int = 3) -> Step:
    """EndTxn."""

    def step(producer: ScriptedProducer) -> Errors:
        request = EndTxnRequest(
            transactional_id=producer.transactional_id,
            producer_id=producer.producer_id + pid,
            producer_epoch=producer.epoch + epoch,
            committed=commit,
        )
        return producer.send(request, version, lambda response: response.error_code)

    return step


def verify(topic: str = TOPIC, *, epoch: int = 0, pid: int = 0, version: int = 5) -> Step:
    """AddPartitionsToTxn of another broker, which does not add the partition: is it in the transaction?"""

    def step(producer: ScriptedProducer) -> Errors:
        transaction = AddPartitionsToTxnTransaction(
            transactional_id=producer.transactional_id,
            producer_id=producer.producer_id + pid,
            producer_epoch=producer.epoch + epoch,
            verify_only=True,
            topics=[AddPartitionsToTxnTopic(name=topic, partitions=[0])],
        )
        return producer.send(
            AddPartitionsToTxnRequest(transactions=[transaction]),
            version,
            lambda response: (
                response.results_by_transaction[0].topic_results[0].results_by_partition[0].partition_error_code
            ),
        )

    return step


def produce(
    topic: str = TOPIC,
    *,
    epoch: int = 0,
    pid: int = 0,
    sequence: int | None = None,
    transactional: bool = True,
    named: bool = True,
    version: int = 9,
    age_ms: int = 0,
) -> Step:
    """Produce one record, which is ``age_ms`` old; with ``named`` the request has the transactional id."""

    def step(producer: ScriptedProducer) -> Errors:
        builder = MemoryRecordsBuilder(
            producer_id=producer.producer_id + pid,
            producer_epoch=producer.epoch + epoch,
            base_sequence=producer.sequence if sequence is None else sequence,
            is_transactional=transactional,
        )
        builder.append(int(time.time() * 1000) - age_ms, None, b"value")
        request = ProduceRequest(
            transactional_id=producer.transactional_id if named else None,
            acks=-1,
            timeout_ms=30_000,
            topic_data=[
                TopicProduceData(name=topic, partition_data=[PartitionProduceData(index=0, records=builder.build())])
            ],
        )
        error_of = lambda response: response.responses[0].partition_responses[0].error_code  # noqa: E731
        error = producer.send(request, version, error_of)
        producer.sequence += error is Errors.NONE
        return error

    return step


def describe(state: str) -> Step:
    """DescribeTransactions; the id must be in this state eventually."""

    def step(producer: ScriptedProducer) -> Errors:
        request = DescribeTransactionsRequest(transactional_ids=[producer.transactional_id])
        patience = Patience(DEADLINE_S)
        while True:
            error = producer.send(request, 0, lambda response: response.transaction_states[0].error_code)
            found = producer.response.transaction_states[0].transaction_state
            if found == state or error is not Errors.NONE:
                return error
            assert not patience.is_over(), f"the id is {found}, not {state}"
            time.sleep(0.02)

    return step


def listed(state: str) -> Step:
    """ListTransactions with a filter by state; the id must be listed eventually, unless the state is unknown."""

    def step(producer: ScriptedProducer) -> Errors:
        request = ListTransactionsRequest(state_filters=[state])
        patience = Patience(DEADLINE_S)
        while True:
            error = producer.send(request, 0, lambda response: response.error_code)
            ids = {found.transactional_id for found in producer.response.transaction_states}
            if producer.transactional_id in ids or producer.response.unknown_state_filters == [state]:
                return error
            assert not patience.is_over(), f"{state}: {ids}"
            time.sleep(0.02)

    return step


def mark(topic: str = TOPIC, *, epoch: int = 0, coordinator_epoch: int = 0, version: int = 1) -> Step:
    """WriteTxnMarkers, as if another coordinator committed the transaction."""

    def step(producer: ScriptedProducer) -> Errors:
        marker = WritableTxnMarker(
            producer_id=producer.producer_id,
            producer_epoch=producer.epoch + epoch,
            transaction_result=True,
            topics=[WritableTxnMarkerTopic(name=topic, partition_indexes=[0])],
            coordinator_epoch=coordinator_epoch,
        )
        request = WriteTxnMarkersRequest(markers=[marker])
        return producer.send(request, version, lambda response: response.markers[0].topics[0].partitions[0].error_code)

    return step


def named(name: str, step: Step) -> Step:
    """The same under another transactional id."""

    def renamed(producer: ScriptedProducer) -> Errors:
        own, producer.transactional_id = producer.transactional_id, name
        try:
            return step(producer)
        finally:
            producer.transactional_id = own

    return renamed


def take_on(producer_id: int, epoch: int) -> Step:
    """Go on with another producer id and epoch; nothing is sent."""

    def step(producer: ScriptedProducer) -> Errors:
        producer.producer_id, producer.epoch = producer_id, epoch
        return Errors.NONE

    return step


COMMIT, ABORT = end(commit=True), end(commit=False)
FENCED, UNMAPPED, INVALID = "PRODUCER_FENCED", "INVALID_PRODUCER_ID_MAPPING", "INVALID_TXN_STATE"
OLD_EPOCH, OUT_OF_ORDER = "INVALID_PRODUCER_EPOCH", "OUT_OF_ORDER_SEQUENCE_NUMBER"

Script = list[tuple[Step, str]]
SCRIPTS: dict[str, Script] = {
    "commit": [
        (find(), "NONE"), (init(), "NONE"), (add(), "NONE"), (produce(), "NONE"), (COMMIT, "NONE"),
        (describe("CompleteCommit"), "NONE"), (listed("CompleteCommit"), "NONE"),
    ],
    "abort": [
        (init(), "NONE"), (add(), "NONE"), (produce(), "NONE"), (ABORT, "NONE"),
        (describe("CompleteAbort"), "NONE"),
    ],
    "two in a row": [
        (init(), "NONE"), (add(), "NONE"), (produce(), "NONE"), (COMMIT, "NONE"), (add(), "NONE"),
        (produce(), "NONE"), (ABORT, "NONE"),
    ],
    "end without a transaction": [
        (init(), "NONE"), (COMMIT, INVALID), (ABORT, INVALID), (describe("Empty"), "NONE"),
    ],
    "end twice": [
        (init(), "NONE"), (add(), "NONE"), (COMMIT, "NONE"), (describe("CompleteCommit"), "NONE"),
        (COMMIT, "NONE"), (ABORT, INVALID),
    ],
    "abort twice": [
        (init(), "NONE"), (add(), "NONE"), (ABORT, "NONE"), (describe("CompleteAbort"), "NONE"), (ABORT, "NONE"),
        (COMMIT, INVALID),
    ],
    "without init": [
        (add(), UNMAPPED), (add_offsets(), UNMAPPED), (COMMIT, UNMAPPED), (ABORT, UNMAPPED),
        (describe(""), "TRANSACTIONAL_ID_NOT_FOUND"),
    ],
    "other producer id": [
        (init(), "NONE"), (add(pid=1), UNMAPPED), (add_offsets(pid=1), UNMAPPED), (add(), "NONE"),
        (end(commit=True, pid=1), UNMAPPED),
    ],
    "other epochs": [
        (init(), "NONE"), (init(), "NONE"), (add(epoch=-1), FENCED), (add(epoch=1), FENCED),
        (add_offsets(epoch=-1), FENCED), (add(), "NONE"), (end(commit=True, epoch=-1), FENCED),
        (end(commit=True, epoch=1), FENCED), (produce(epoch=0), "NONE"), (COMMIT, "NONE"),
    ],
    "other epochs of old clients": [
        (init(version=1), "NONE"), (init(version=1), "NONE"), (add(epoch=-1, version=1), OLD_EPOCH),
        (add_offsets(epoch=-1, version=1), OLD_EPOCH), (end(commit=True, epoch=-1, version=1), OLD_EPOCH),
    ],
    "a topic that there is not": [
        (init(), "NONE"), (add("missing"), "UNKNOWN_TOPIC_OR_PARTITION"),
        (add(partition=99), "UNKNOWN_TOPIC_OR_PARTITION"), (COMMIT, INVALID),
    ],
    "timeouts": [
        (init(timeout_ms=0), "INVALID_TRANSACTION_TIMEOUT"), (init(timeout_ms=-1), "INVALID_TRANSACTION_TIMEOUT"),
        (init(timeout_ms=900_001), "INVALID_TRANSACTION_TIMEOUT"), (init(timeout_ms=900_000), "NONE"),
    ],
    "init during a transaction": [
        (init(), "NONE"), (add(), "NONE"), (produce(), "NONE"), (init(wait=False), "CONCURRENT_TRANSACTIONS"),
        (init(), "NONE"), (add(epoch=-2), FENCED), (add(), "NONE"), (produce(epoch=-2, sequence=1), OLD_EPOCH),
        (COMMIT, "NONE"),
    ],
    "continue after an error": [
        (init(), "NONE"), (init((0, 0)), "NONE"), (init((0, -1)), "NONE"), (init((0, -1)), "NONE"),
        (init((0, 0)), "NONE"), (init((0, 5)), FENCED), (init((1, 0)), FENCED),
        (init((0, 5), version=3), OLD_EPOCH),
    ],
    "an id without its epoch": [
        (init((1, 1), version=3), "NONE"), (init((-10**9, 0)), FENCED),
    ],
    "offsets": [
        (find(0), "NONE"), (init(), "NONE"), (add_offsets(), "NONE"), (commit_offsets(), "NONE"), (COMMIT, "NONE"),
    ],
    "offsets of a group with members": [
        (find(0), "NONE"), (init(), "NONE"), (add_offsets(), "NONE"),
        (commit_offsets(generation=1, member="m"), "UNKNOWN_MEMBER_ID"),
        (commit_offsets(generation=-1, member="m"), "NONE"),
        (commit_offsets(topic="missing"), "UNKNOWN_TOPIC_OR_PARTITION"), (ABORT, "NONE"),
    ],
    "offsets of old clients": [
        (find(0), "NONE"), (init(version=0), "NONE"), (add_offsets(version=0), "NONE"),
        (commit_offsets(version=0), "NONE"), (end(commit=True, version=0), "NONE"),
    ],
    "a nameless group": [
        (find(0), "NONE"), (init(), "NONE"), (add_offsets(""), "NONE"), (commit_offsets(""), "INVALID_GROUP_ID"),
        (ABORT, "NONE"),
    ],
    "produce without an id": [
        (init(), "NONE"), (add(), "NONE"), (produce(named=False), "TRANSACTIONAL_ID_AUTHORIZATION_FAILED"),
        (ABORT, "NONE"),
    ],
    "produce outside of the transaction": [
        (init(), "NONE"), (add(), "NONE"), (produce(), "NONE"), (produce(transactional=False), INVALID),
        (ABORT, "NONE"),
    ],
    "markers": [
        (init(), "NONE"), (init(), "NONE"), (add(), "NONE"), (produce(), "NONE"),
        (mark("missing"), "UNKNOWN_TOPIC_OR_PARTITION"), (mark(epoch=-1), OLD_EPOCH),
        (mark(coordinator_epoch=5), "NONE"), (mark(coordinator_epoch=5), "NONE"),
        (mark(coordinator_epoch=4), "TRANSACTION_COORDINATOR_FENCED"), (produce(transactional=False), "NONE"),
    ],
    "produce to a partition that is not in the transaction": [
        (init(), "NONE"), (produce(), INVALID), (add_offsets(), "NONE"), (produce(), INVALID), (add(), "NONE"),
        (produce(), "NONE"), (produce(), "NONE"), (COMMIT, "NONE"),
    ],
    "produce late": [
        (init(), "NONE"), (add(), "NONE"), (produce(), "NONE"), (COMMIT, "NONE"), (describe("CompleteCommit"), "NONE"),
        (produce(), INVALID), (add(), "NONE"), (produce(), "NONE"), (ABORT, "NONE"),
        (describe("CompleteAbort"), "NONE"), (produce(), INVALID), (produce(version=3), INVALID),
    ],
    "produce a batch again after its transaction": [
        (init(), "NONE"), (add(), "NONE"), (produce(), "NONE"), (COMMIT, "NONE"), (describe("CompleteCommit"), "NONE"),
        (produce(sequence=0), INVALID), (produce(sequence=7), INVALID), (add(), "NONE"), (produce(sequence=0), "NONE"),
        (produce(sequence=2), OUT_OF_ORDER), (produce(sequence=1), OUT_OF_ORDER), (COMMIT, "NONE"),
    ],
    "produce with the wrong producer": [
        (init(), "NONE"), (produce(pid=1), UNMAPPED), (produce(epoch=1), OLD_EPOCH), (produce(epoch=1), OLD_EPOCH),
        (add(), "NONE"), (produce(epoch=1), OLD_EPOCH), (produce(pid=1), UNMAPPED), (produce(), "NONE"),
        (COMMIT, "NONE"),
    ],
    "produce with an unknown id": [
        (produce(pid=1000), UNMAPPED),
    ],
    "a batch ahead of one that was refused": [
        (init(), "NONE"), (produce(sequence=0), INVALID), (add(), "NONE"), (produce(sequence=1), OUT_OF_ORDER),
        (produce(sequence=0), "NONE"), (produce(sequence=1), "NONE"), (COMMIT, "NONE"),
    ],
    "offsets that are not in the transaction": [
        (find(0), "NONE"), (init(), "NONE"), (commit_offsets(), INVALID), (add(), "NONE"), (commit_offsets(), INVALID),
        (add_offsets(), "NONE"), (commit_offsets(epoch=1), OLD_EPOCH), (commit_offsets(epoch=-1), OLD_EPOCH),
        (commit_offsets(), "NONE"), (commit_offsets(version=0), "NONE"), (COMMIT, "NONE"),
        (describe("CompleteCommit"), "NONE"), (commit_offsets(), INVALID), (commit_offsets(version=0), INVALID),
    ],
    "other brokers verify": [
        (verify(), UNMAPPED), (init(), "NONE"), (verify(), "TRANSACTION_ABORTABLE"), (add(), "NONE"),
        (verify(), "NONE"), (verify(version=4), "NONE"), (verify(pid=1), UNMAPPED), (verify(epoch=1), FENCED),
        (verify(epoch=-1, version=4), FENCED), (verify("missing"), "UNKNOWN_TOPIC_OR_PARTITION"), (COMMIT, "NONE"),
        (describe("CompleteCommit"), "NONE"), (verify(version=4), "TRANSACTION_ABORTABLE"),
    ],
    "an internal topic": [
        (init(), "NONE"), (add("__consumer_offsets"), "TOPIC_AUTHORIZATION_FAILED"),
        (add("__transaction_state"), "TOPIC_AUTHORIZATION_FAILED"), (add(""), "UNKNOWN_TOPIC_OR_PARTITION"),
        (add(partition=-1), "UNKNOWN_TOPIC_OR_PARTITION"), (COMMIT, INVALID),
    ],
    "an empty id": [
        (named("", init()), "INVALID_REQUEST"), (named("", add()), "INVALID_REQUEST"),
        (named("", COMMIT), "INVALID_REQUEST"), (named("", describe("")), "INVALID_REQUEST"),
        (named("nobody", describe("")), "TRANSACTIONAL_ID_NOT_FOUND"),
    ],
    "hostile epochs and ids": [
        (init(), "NONE"), (add(epoch=-5), FENCED), (add(epoch=30_000), FENCED), (add(pid=-10**9), UNMAPPED),
        (end(commit=True, epoch=30_000), FENCED), (end(commit=False, pid=-10**9), UNMAPPED),
        (add_offsets(epoch=30_000), FENCED), (add_offsets(pid=-10**9), UNMAPPED), (add(), "NONE"),
        (produce(epoch=-5), OLD_EPOCH), (produce(epoch=3000), OLD_EPOCH), (commit_offsets(epoch=3000), OLD_EPOCH),
        (verify(epoch=30_000), FENCED), (verify(epoch=-30), FENCED), (ABORT, "NONE"),
    ],
    "a producer that has no id": [
        (init(), "NONE"), (take_on(-1, -1), "NONE"), (add(), UNMAPPED), (add_offsets(), UNMAPPED), (COMMIT, UNMAPPED),
        (take_on(-5, -5), "NONE"), (add(), UNMAPPED), (COMMIT, UNMAPPED), (take_on(5, -1), "NONE"),
        (init((0, 0)), "INVALID_REQUEST"), (take_on(-1, 5), "NONE"), (init((0, 0)), "INVALID_REQUEST"),
    ],
    "other epochs in the first version that fences": [
        (init(version=2), "NONE"), (init(version=2), "NONE"), (end(commit=True, epoch=-1, version=2), FENCED),
        (end(commit=True, epoch=-1, version=1), OLD_EPOCH), (add(epoch=-1, version=2), FENCED),
        (add_offsets(epoch=-1, version=2), FENCED),
    ],
    "unknown states": [
        (find(), "NONE"), (init(), "NONE"), (listed("Asleep"), "NONE"),
    ],
}  # fmt: skip


def play(bootstrap_server: str, script: Script) -> list[str]:
    """Send the requests of a script; returns the names of the errors."""
    host, _, port = bootstrap_server.rpartition(":")
    with BlockingChannel(host, int(port), client_id="scripted", read_timeout_ms=60_000) as channel:
        producer = ScriptedProducer(channel)
        return [step(producer).name for step, _ in script]


def await_topics(bootstrap_server: str) -> None:
    """Wait until both coordinators' topics have leaders."""
    assert play(bootstrap_server, [(find(1), ""), (find(0), "")]) == ["NONE", "NONE"]

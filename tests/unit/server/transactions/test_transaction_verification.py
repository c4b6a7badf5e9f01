"""What a partition's leader asks the coordinator before the first batch of a transaction, and how often."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.common.producer_id_and_epoch import ProducerIdAndEpoch
from kafka_lite.common.scheduler import MockScheduler
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.log import Log
from kafka_lite.log.producers.producer_state_manager_config import ProducerStateManagerConfig
from kafka_lite.server.transactions.add_partitions_to_txn_manager import TransactionSupportedOperation
from kafka_lite.server.transactions.transaction_verification import TransactionVerification
from tests.support.logs import open_log

VERIFY, ADD = TransactionSupportedOperation.GENERIC_ERROR_SUPPORTED, TransactionSupportedOperation.ADD_PARTITION
T0, T1, ELSEWHERE = TopicPartition("t", 0), TopicPartition("t", 1), TopicPartition("u", 0)
PRODUCER = ProducerIdAndEpoch(7, 3)
BUSY = Errors.CONCURRENT_TRANSACTIONS


class Leader:
    """Leads T0 and T1; the coordinator answers with the next of ``answers``, or without an error."""

    def __init__(self, directory: Path, *, enabled: bool = True) -> None:
        self.time = MockTime()
        self.config = ProducerStateManagerConfig(10_000, transaction_verification_enabled=enabled)
        self.logs: dict[TopicPartition, Log] = {
            tp: open_log(directory / str(tp), time=self.time, producer_config=self.config) for tp in (T0, T1)
        }
        self.answers: list[dict[TopicPartition, Errors]] = []
        self.asked: list[tuple[set[TopicPartition], TransactionSupportedOperation]] = []
        replicas = cast(Any, SimpleNamespace(get_leader_log=self.leader_log))
        scheduler = MockScheduler(self.time)
        self.verification = TransactionVerification(replicas, self.config, cast(Any, self), scheduler, self.time)
        self.responses: list[tuple[dict[TopicPartition, Errors], set[TopicPartition]]] = []

    def leader_log(self, topic_partition: TopicPartition) -> Any:
        if topic_partition not in self.logs:
            raise Errors.NOT_LEADER_OR_FOLLOWER.exception()
        return None, None, self.logs[topic_partition]

    def add_or_verify(
        self, _name: str, producer: Any, partitions: Collection[TopicPartition], operation: Any, respond: Any
    ) -> None:
        assert producer == PRODUCER
        self.asked.append((set(partitions), operation))
        respond(self.answers.pop(0) if self.answers else {})

    def verify(self, *partitions: TopicPartition, operation: TransactionSupportedOperation = VERIFY) -> None:
        self.verification.verify(
            "id",
            PRODUCER,
            dict.fromkeys(partitions, 0),
            operation,
            lambda errors, guards: self.responses.append((dict(errors), set(guards))),
        )


@pytest.fixture
def leader(tmp_path: Path) -> Leader:
    return Leader(tmp_path)


@pytest.mark.parametrize("operation", [VERIFY, ADD])
def test_partitions_that_this_broker_leads_are_asked_for(
    leader: Leader, operation: TransactionSupportedOperation
) -> None:
    leader.answers = [{T1: Errors.TRANSACTION_ABORTABLE}]
    leader.verify(T0, T1, ELSEWHERE, operation=operation)
    assert leader.asked == [({T0, T1}, operation)]
    expected = {ELSEWHERE: Errors.NOT_LEADER_OR_FOLLOWER, T1: Errors.TRANSACTION_ABORTABLE}
    assert leader.responses == [(expected, {T0, T1})]


def test_without_verification_partitions_are_still_added(tmp_path: Path) -> None:
    leader = Leader(tmp_path, enabled=False)
    leader.verify(T0)
    assert leader.responses == [({}, set())]
    assert not leader.asked
    leader.verify(T0, operation=ADD)
    assert leader.asked == [({T0}, ADD)]


@pytest.mark.parametrize("operation", [VERIFY, ADD])
def test_a_fenced_producer_needs_no_coordinator(leader: Leader, operation: TransactionSupportedOperation) -> None:
    producers = leader.logs[T0].producer_state
    producers._producers[7] = cast(Any, SimpleNamespace(producer_epoch=4, current_txn_first_offset=None))
    leader.verify(T0, operation=operation)
    assert leader.responses == [({T0: Errors.INVALID_PRODUCER_EPOCH}, set())]
    assert not leader.asked


# ── while the last transaction ends ───────────────────────────────────────────────────────────────────────────────


def test_a_partition_is_added_as_soon_as_the_last_transaction_has_ended(leader: Leader) -> None:
    leader.answers = [{T0: BUSY}, {T0: BUSY}]
    leader.verify(T0, operation=ADD)
    leader.time.sleep(20)
    assert not leader.responses
    leader.time.sleep(20)
    assert leader.responses == [({}, {T0})]
    assert len(leader.asked) == 3


def test_after_a_while_the_producer_has_to_retry(leader: Leader) -> None:
    leader.answers = [{T0: BUSY}] * 100
    leader.verify(T0, operation=ADD)
    for _ in range(20):
        leader.time.sleep(20)
    assert leader.responses == [({T0: BUSY}, {T0})]
    assert len(leader.asked) == 6, "at once, and then every 20 ms for 100 ms"


def test_other_errors_are_not_waited_for(leader: Leader) -> None:
    leader.answers = [{T0: Errors.NOT_COORDINATOR}]
    leader.verify(T0, operation=ADD)
    assert leader.responses == [({T0: Errors.NOT_COORDINATOR}, {T0})]


def test_a_partition_that_is_only_verified_is_asked_for_once(leader: Leader) -> None:
    leader.answers = [{T0: BUSY}]
    leader.verify(T0)
    assert leader.responses == [({T0: BUSY}, {T0})]


def test_offsets_are_verified_like_batches(leader: Leader) -> None:
    found: list[Any] = []
    leader.answers = [{T0: Errors.TRANSACTION_ABORTABLE}]
    leader.verification.verify_offsets("id", PRODUCER, T0, ADD, lambda *result: found.append(result))
    [(error, guard)] = found
    assert error is Errors.TRANSACTION_ABORTABLE
    assert guard is not None

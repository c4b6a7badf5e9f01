"""Which open transactions are hanging, and the arguments of ``kafka-lite transactions``."""

from __future__ import annotations

import pytest

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.protocol.messages.api_61_describe_producers import ProducerState
from kafka_lite.protocol.messages.api_65_describe_transactions import TopicData, TransactionState
from kafka_lite.tools.main import main
from kafka_lite.tools.transactions.transaction_service import OpenTransaction, is_known, open_longer_than

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)


def producer(producer_id: int, last_timestamp: int, start_offset: int = 5) -> ProducerState:
    return ProducerState(
        producer_id=producer_id, producer_epoch=0, last_timestamp=last_timestamp, current_txn_start_offset=start_offset
    )


def test_candidates_are_open_and_old() -> None:
    producers = {T0: [producer(1, 1_000), producer(2, 1_000, -1)], T1: [producer(3, 9_001), producer(4, 8_999)]}
    found = open_longer_than(producers, age_ms=1_000, now_ms=10_000)
    assert [(each.partition, each.producer.producer_id) for each in found] == [(T0, 1), (T1, 4)]


@pytest.mark.parametrize(
    ("state", "known"),
    [
        (None, False),
        (TransactionState(transaction_state="Empty"), False),
        (TransactionState(transaction_state="Ongoing", topics=[TopicData(topic="t", partitions=[1, 2])]), False),
        (TransactionState(transaction_state="Ongoing", topics=[TopicData(topic="u", partitions=[0])]), False),
        (TransactionState(transaction_state="Ongoing", topics=[TopicData(topic="t", partitions=[0])]), True),
    ],
)
def test_a_transaction_hangs_unless_its_coordinator_knows_the_partition(
    state: TransactionState | None, known: bool
) -> None:
    assert is_known(OpenTransaction(T0, producer(1, 0)), state) is known


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["abort", "--topic", "t", "--partition", "0"], "must be identified either with --start-offset"),
        (["abort", "--topic", "t", "--partition", "0", "--producer-id", "3"], "must be identified either"),
        (["find-hanging"], "requires either --topic or --broker-id"),
        (["find-hanging", "--broker-id", "0", "--partition", "3"], "--partition argument requires --topic"),
    ],
)
def test_incomplete_arguments_are_refused_before_connecting(
    arguments: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["transactions", "--bootstrap-server", "localhost:1", *arguments]) == 1
    assert complaint in capsys.readouterr().err


def test_the_brokers_may_be_named_before_or_behind_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (["--bootstrap-server", "bad", "list"], ["list", "--bootstrap-server", "bad"]):
        assert main(["transactions", *arguments]) == 1
        assert "Invalid value bad for configuration bootstrap.servers" in capsys.readouterr().err
    assert main(["transactions", "list"]) == 1
    assert "--bootstrap-server is required" in capsys.readouterr().err

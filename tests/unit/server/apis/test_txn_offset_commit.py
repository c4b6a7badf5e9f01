"""TxnOffsetCommit, between the wire and the group's offsets."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.common.producer_id_and_epoch import ProducerIdAndEpoch
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.protocol.messages import api_28_txn_offset_commit as txn_offset_commit
from kafka_lite.server.apis.offset_apis import OffsetApis
from kafka_lite.server.transactions.add_partitions_to_txn_manager import TransactionSupportedOperation

OURS, ALSO_OURS, UNKNOWN = TopicPartition("t", 0), TopicPartition("u", 0), TopicPartition("t", 9)
STORED_IN = TopicPartition("__consumer_offsets", 4)
NOW_MS = 1234


class Offsets:
    """The offsets of the groups: verifies the transaction, and stores everything or refuses it."""

    def __init__(self) -> None:
        self.error = Errors.NONE
        self.asked: Any = None
        self.verified: Any = None

    def handle_txn_commit_offsets(
        self, group: str, producer: Any, committer: Any, offsets: Any, send: Any, verify: Callable[..., None]
    ) -> None:
        self.asked = (group, producer, committer, offsets)
        verify(STORED_IN, lambda error, guard: setattr(self, "verified", (error, guard)))
        send(dict.fromkeys(offsets, self.error))


class Apis:
    def __init__(self) -> None:
        self.offsets = Offsets()
        self.verifications: list[Any] = []
        cache = SimpleNamespace(get_partition_info=lambda tp: object() if tp != UNKNOWN else None)
        self.apis = OffsetApis(
            cast(Any, self.offsets),
            cast(Any, None),
            cast(Any, cache),
            cast(Any, None),
            MockTime(NOW_MS),
            cast(Any, self),
        )

    def verify_offsets(self, *arguments: Any) -> None:
        *asked, respond = arguments
        self.verifications.append(tuple(asked))
        respond(Errors.INVALID_TXN_STATE, None)

    def commit(self, *partitions: TopicPartition, version: int = 4) -> list[Errors]:
        topics = [
            txn_offset_commit.TxnOffsetCommitRequestTopic(
                name=tp.topic,
                partitions=[
                    txn_offset_commit.TxnOffsetCommitRequestPartition(
                        partition_index=tp.partition,
                        committed_offset=7,
                        committed_leader_epoch=2,
                        committed_metadata=None if tp == OURS else "note",
                    )
                ],
            )
            for tp in partitions
        ]
        body = txn_offset_commit.TxnOffsetCommitRequest(
            transactional_id="x",
            group_id="g",
            producer_id=70,
            producer_epoch=3,
            generation_id=5,
            member_id="m",
            group_instance_id="i",
            topics=topics,
        )
        responses: list[Any] = []
        request = SimpleNamespace(header=SimpleNamespace(api_version=version))
        self.apis.handle_txn_offset_commit(cast(Any, request), body, responses.append)
        (response,) = responses
        response.encode(version)
        results = [
            (TopicPartition(t.name, p.partition_index), p.error_code) for t in response.topics for p in t.partitions
        ]
        assert [tp for tp, _ in results] == list(partitions)
        return [Errors.for_code(code) for _, code in results]


def test_the_offsets_of_known_partitions_are_stored() -> None:
    apis = Apis()
    assert apis.commit(OURS, UNKNOWN, ALSO_OURS) == [Errors.NONE, Errors.UNKNOWN_TOPIC_OR_PARTITION, Errors.NONE]
    group, producer, committer, offsets = apis.offsets.asked
    assert (group, producer) == ("g", ProducerIdAndEpoch(70, 3))
    assert (committer.member_id, committer.generation_id, committer.group_instance_id) == ("m", 5, "i")
    assert [(tp, each.offset, each.metadata, each.leader_epoch) for tp, each in offsets.items()] == [
        (OURS, 7, "", 2),
        (ALSO_OURS, 7, "note", 2),
    ]
    assert {(each.commit_timestamp_ms, each.expire_timestamp_ms) for each in offsets.values()} == {(NOW_MS, None)}


def test_without_a_known_partition_there_is_nothing_to_store() -> None:
    apis = Apis()
    assert apis.commit(UNKNOWN) == [Errors.UNKNOWN_TOPIC_OR_PARTITION]
    assert apis.offsets.asked is None


@pytest.mark.parametrize(
    ("version", "operation"),
    [
        (3, TransactionSupportedOperation.DEFAULT_ERROR),
        (4, TransactionSupportedOperation.GENERIC_ERROR_SUPPORTED),
        (5, TransactionSupportedOperation.ADD_PARTITION),
    ],
)
def test_the_coordinator_is_asked_whether_the_transaction_has_the_partition(
    version: int, operation: TransactionSupportedOperation
) -> None:
    apis = Apis()
    apis.commit(OURS, version=version)
    assert apis.verifications == [("x", ProducerIdAndEpoch(70, 3), STORED_IN, operation)]
    assert apis.offsets.verified == (Errors.INVALID_TXN_STATE, None)


@pytest.mark.parametrize(
    ("version", "told"), [(1, Errors.COORDINATOR_NOT_AVAILABLE), (2, Errors.COORDINATOR_LOAD_IN_PROGRESS)]
)
def test_old_producers_get_an_error_that_they_retry(version: int, told: Errors) -> None:
    apis = Apis()
    apis.offsets.error = Errors.COORDINATOR_LOAD_IN_PROGRESS
    topics_only = apis.commit(OURS, version=version)
    assert topics_only == [told]

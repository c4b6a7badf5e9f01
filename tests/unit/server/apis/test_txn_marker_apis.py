"""WriteTxnMarkers: one control batch per transaction and partition, and what becomes of the group's offsets."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import SimpleNamespace
from typing import Any, cast

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.append_origin import AppendOrigin
from kafka_lite.protocol.messages.api_27_write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)
from kafka_lite.record.control_record import ControlRecordType
from kafka_lite.record.records import first_batch
from kafka_lite.server.apis.txn_marker_apis import TxnMarkerApis
from kafka_lite.server.produce_status import PartitionResponse

GROUPS = "__consumer_offsets"


class Logs:
    """A replica manager that leads what has a format here, and keeps every append until ``finish``."""

    def __init__(self) -> None:
        self.formats = {TopicPartition("t", 0): 2, TopicPartition("t", 1): 1, TopicPartition(GROUPS, 3): 2}
        self.errors: dict[TopicPartition, Errors] = {}
        self.appended: list[tuple[dict[TopicPartition, bytes], Any]] = []
        self.arguments: list[tuple[Any, ...]] = []

    def get_leader_log(self, topic_partition: TopicPartition) -> tuple[Any, Any, Any]:
        if topic_partition not in self.formats:
            raise Errors.NOT_LEADER_OR_FOLLOWER.exception()
        return None, None, SimpleNamespace(config=SimpleNamespace(magic=self.formats[topic_partition]))

    def append_records(
        self, timeout_ms: int, acks: int, internal: bool, entries: Mapping[TopicPartition, Any], respond: Any,
        origin: AppendOrigin,
    ) -> None:  # fmt: skip
        self.arguments.append((timeout_ms, acks, internal, origin))
        self.appended.append(({tp: bytes(each) for tp, each in entries.items()}, respond))

    def finish(self, number: int = 0) -> None:
        entries, respond = self.appended[number]
        respond({tp: PartitionResponse(self.errors.get(tp, Errors.NONE)) for tp in entries})


class Apis:
    def __init__(self) -> None:
        self.logs = Logs()
        self.completed: list[tuple[int, list[int], bool]] = []
        self.responses: list[Any] = []
        self.apis = TxnMarkerApis(cast(Any, self.logs), self.complete, 5000, MockTime(1234))

    def complete(self, producer_id: int, partitions: Collection[int], *, commit: bool) -> None:
        self.completed.append((producer_id, list(partitions), commit))

    def write(self, *markers: WritableTxnMarker) -> None:
        body = WriteTxnMarkersRequest(markers=list(markers))
        self.apis.handle_write_txn_markers(cast(Any, None), body, self.responses.append)

    @property
    def errors(self) -> list[dict[TopicPartition, Errors]]:
        """The errors of the markers in the only response."""
        (response,) = self.responses
        response.encode(1)
        return [
            {
                TopicPartition(topic.name, each.partition_index): Errors.for_code(each.error_code)
                for topic in marker.topics
                for each in topic.partitions
            }
            for marker in response.markers
        ]


@pytest.fixture
def apis() -> Apis:
    return Apis()


def marker(*partitions: tuple[str, int], producer_id: int = 70, commit: bool = True) -> WritableTxnMarker:
    topics = [WritableTxnMarkerTopic(name=name, partition_indexes=[index]) for name, index in partitions]
    return WritableTxnMarker(
        producer_id=producer_id, producer_epoch=3, transaction_result=commit, topics=topics, coordinator_epoch=8
    )


T0, T1, AWAY, OFFSETS = (
    TopicPartition("t", 0),
    TopicPartition("t", 1),
    TopicPartition("t", 9),
    TopicPartition(GROUPS, 3),
)


@pytest.mark.parametrize(("commit", "kind"), [(True, ControlRecordType.COMMIT), (False, ControlRecordType.ABORT)])
def test_a_marker_is_a_control_batch_that_all_replicas_must_have(
    apis: Apis, commit: bool, kind: ControlRecordType
) -> None:
    apis.write(marker(T0, commit=commit))
    assert apis.responses == []
    assert apis.logs.arguments == [(5000, -1, True, AppendOrigin.COORDINATOR)]
    batch = first_batch(apis.logs.appended[0][0][T0])
    assert batch is not None
    assert (batch.is_control, batch.is_transactional) == (True, True)
    assert (batch.producer_id, batch.producer_epoch, batch.max_timestamp) == (70, 3, 1234)
    (record,) = batch.records()
    assert record.key is not None
    assert bytes(record.key)[2:] == kind.value.to_bytes(2, "big")
    assert record.value is not None
    assert bytes(record.value)[2:] == (8).to_bytes(4, "big")
    apis.logs.finish()
    assert apis.errors == [{T0: Errors.NONE}]
    assert apis.completed == []


def test_a_partition_that_takes_no_marker_does_not_hold_the_others_up(apis: Apis) -> None:
    apis.write(marker(T0, T1, AWAY))
    assert list(apis.logs.appended[0][0]) == [T0]
    apis.logs.finish()
    assert apis.errors == [
        {T0: Errors.NONE, T1: Errors.UNSUPPORTED_FOR_MESSAGE_FORMAT, AWAY: Errors.NOT_LEADER_OR_FOLLOWER}
    ]


def test_a_marker_that_no_partition_takes_is_answered_at_once(apis: Apis) -> None:
    apis.write(marker(AWAY))
    assert apis.errors == [{AWAY: Errors.NOT_LEADER_OR_FOLLOWER}]
    assert apis.logs.appended == []


def test_a_request_without_markers_is_answered(apis: Apis) -> None:
    apis.write()
    assert apis.errors == []


def test_the_response_waits_for_the_markers_of_all_transactions(apis: Apis) -> None:
    apis.write(marker(T0), marker(T0, producer_id=71))
    apis.logs.finish(1)
    assert apis.responses == []
    apis.logs.errors = {T0: Errors.REQUEST_TIMED_OUT}
    apis.logs.finish(0)
    assert apis.errors == [{T0: Errors.REQUEST_TIMED_OUT}, {T0: Errors.NONE}]
    assert [each.producer_id for each in apis.responses[0].markers] == [70, 71]


@pytest.mark.parametrize("commit", [True, False])
def test_the_groups_learn_of_offsets_whose_transaction_has_ended(apis: Apis, commit: bool) -> None:
    apis.write(marker(T0, OFFSETS, commit=commit))
    assert apis.completed == []
    apis.logs.finish()
    assert apis.completed == [(70, [3], commit)]


def test_the_groups_do_not_learn_of_a_marker_that_was_not_replicated(apis: Apis) -> None:
    apis.logs.errors = {OFFSETS: Errors.REQUEST_TIMED_OUT}
    apis.write(marker(T0, OFFSETS))
    apis.logs.finish()
    assert apis.completed == []
    assert apis.errors == [{T0: Errors.NONE, OFFSETS: Errors.REQUEST_TIMED_OUT}]

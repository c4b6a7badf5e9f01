"""The epochs of a share session, and what each request says about its partitions."""

from __future__ import annotations

from uuid import UUID

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.common.ids.topic_id_partition import TopicIdPartition
from kafka_lite.consumer.share.acknowledgements import AcknowledgementBatch
from kafka_lite.consumer.share.share_session_handler import MAX_EPOCH, FetchLimits, ShareSessionHandler
from kafka_lite.protocol.messages.api_78_share_fetch import ShareFetchRequest

T = UUID(int=1)
P0, P1, P2 = (TopicIdPartition(T, number) for number in range(3))
LIMITS = FetchLimits(max_wait_ms=500, min_bytes=1, max_bytes=99, max_records=10)


def named(request: ShareFetchRequest) -> tuple[list[int], list[int]]:
    """The numbers of the partitions that it adds, or acknowledges records of, and of those that it forgets."""
    added = [each.partition_index for topic in request.topics for each in topic.partitions]
    return added, [number for topic in request.forgotten_topics_data for number in topic.partitions]


def test_only_changes_are_named_while_the_session_lasts() -> None:
    session = ShareSessionHandler("g", "m")
    first = session.fetch_request([P0, P1], {}, LIMITS)
    assert (first.share_session_epoch, named(first)) == (0, ([0, 1], []))
    assert (first.group_id, first.member_id, first.max_records, first.batch_size) == ("g", "m", 10, 10)
    assert session.handle_response(Errors.NONE)
    second = session.fetch_request([P0, P1], {}, LIMITS)
    assert (second.share_session_epoch, named(second)) == (1, ([], []))
    session.handle_response(Errors.NONE)
    third = session.fetch_request([P1, P2], {}, LIMITS)
    assert (third.share_session_epoch, named(third)) == (2, ([2], [0]))


def test_acknowledgements_go_with_a_fetch_also_of_partitions_that_are_not_fetched() -> None:
    session = ShareSessionHandler("g", "m")
    session.fetch_request([P0], {}, LIMITS)
    session.handle_response(Errors.NONE)
    request = session.fetch_request([P0], {P1: [AcknowledgementBatch(3, 4, [1])]}, LIMITS)
    (partition,) = request.topics[0].partitions
    (batch,) = partition.acknowledgement_batches
    assert (partition.partition_index, batch.first_offset, batch.last_offset, batch.acknowledge_types) == (1, 3, 4, [1])
    assert session.partitions == {P0}


def test_acknowledgements_alone_have_the_next_epoch_or_end_the_session() -> None:
    session = ShareSessionHandler("g", "m")
    session.fetch_request([P0], {}, LIMITS)
    session.handle_response(Errors.NONE)
    batches = {P0: [AcknowledgementBatch(3, 4, [1, 2])]}
    request = session.acknowledge_request(batches, close=False)
    assert request.share_session_epoch == 1
    assert request.topics[0].partitions[0].acknowledgement_batches[0].acknowledge_types == [1, 2]
    assert session.acknowledge_request({}, close=True).share_session_epoch == -1


@pytest.mark.parametrize(
    "error", [Errors.SHARE_SESSION_NOT_FOUND, Errors.INVALID_SHARE_SESSION_EPOCH, Errors.SHARE_SESSION_LIMIT_REACHED]
)
def test_a_session_that_is_gone_is_opened_again(error: Errors) -> None:
    session = ShareSessionHandler("g", "m")
    session.fetch_request([P0], {}, LIMITS)
    session.handle_response(Errors.NONE)
    assert not session.is_new
    assert not session.handle_response(error)
    assert session.is_new
    again = session.fetch_request([P0], {}, LIMITS)
    assert (again.share_session_epoch, named(again)) == (0, ([0], []))


def test_another_error_keeps_the_session() -> None:
    session = ShareSessionHandler("g", "m")
    session.fetch_request([P0], {}, LIMITS)
    assert not session.handle_response(Errors.UNKNOWN_SERVER_ERROR)
    assert session.fetch_request([P0], {}, LIMITS).share_session_epoch == 1


def test_epochs_begin_again_at_one() -> None:
    session = ShareSessionHandler("g", "m")
    session._epoch = MAX_EPOCH
    session.handle_response(Errors.NONE)
    assert session.fetch_request([P0], {}, LIMITS).share_session_epoch == 1

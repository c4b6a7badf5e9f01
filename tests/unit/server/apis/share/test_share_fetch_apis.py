"""ShareFetch and ShareAcknowledge as clients see them: errors, sessions, and acknowledgements in a fetch."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.common.ids.topic_id_partition import TopicIdPartition
from kafka_lite.protocol.messages import api_78_share_fetch as fetch
from kafka_lite.protocol.messages import api_79_share_acknowledge as acknowledge
from kafka_lite.server.share.record_state import ACCEPT, REJECT, RELEASE
from kafka_lite.server.share.share_session import FINAL_EPOCH
from tests.support.share_leaders import AT, AT1, ORDERS, TP, TP1, ShareLeader, acquired, errors

NONE = Errors.NONE


@pytest.fixture
def leader(tmp_path: Path) -> Iterator[ShareLeader]:
    made = ShareLeader(tmp_path)
    made.broker.produce(TP, 3)
    yield made
    made.broker.replicas.shutdown()


def test_a_fetch_acknowledges_what_came_before(leader: ShareLeader) -> None:
    client = leader.client("a")
    response = client.fetch(AT)
    assert response.acquisition_lock_timeout_ms == 30_000
    assert acquired(response) == {0: [(0, 2, 1)]}
    leader.broker.produce(TP, 2)
    response = client.fetch(said=[(0, 1, ACCEPT), (2, 2, RELEASE)])
    assert errors(response) == {0: (NONE, NONE)}
    assert acquired(response) == {0: [(2, 2, 2), (3, 4, 1)]}


def test_an_acknowledgement_that_fails_does_not_fail_the_fetch(leader: ShareLeader) -> None:
    one, two = leader.client("a"), leader.client("b")
    one.fetch(AT)
    two.fetch(AT1, max_wait_ms=1)
    leader.sleep(2)
    leader.broker.produce(TP, 2)
    response = two.fetch(said=[(0, 2, ACCEPT)])
    assert errors(response)[0] == (NONE, Errors.INVALID_RECORD_STATE)
    assert acquired(response)[0] == [(3, 4, 1)], "naming a partition adds it to the session"


def test_acknowledgements_by_themselves(leader: ShareLeader) -> None:
    client = leader.client("a")
    client.fetch(AT)
    response = client.acknowledge((0, 0, ACCEPT), (1, 2, REJECT))
    assert (response.error_code, errors(response)) == (0, {0: (NONE, NONE)})
    assert leader.persister.calls[-1][0] == "write_state"
    assert errors(client.acknowledge()) == {0: (NONE, NONE)}, "nothing to acknowledge is no error"
    assert errors(client.acknowledge((5, 6, ACCEPT)))[0][0] in (Errors.INVALID_REQUEST, Errors.INVALID_RECORD_STATE)


@pytest.mark.parametrize("said", [(2, 1, ACCEPT), (0, 2, 4), (0, 2, -1), (-1, 0, ACCEPT)])
def test_batches_that_make_no_sense_are_refused(leader: ShareLeader, said: tuple[int, int, int]) -> None:
    client = leader.client("a")
    client.fetch(AT)
    assert errors(client.acknowledge(said))[0][0] is Errors.INVALID_REQUEST
    assert errors(client.acknowledge((0, 0, ACCEPT), (0, 1, ACCEPT)))[0][0] is Errors.INVALID_REQUEST


def test_the_final_epoch_closes_the_session_and_releases_records(leader: ShareLeader) -> None:
    one, two = leader.client("a"), leader.client("b")
    one.fetch(AT)
    response = one.fetch(said=[(0, 0, ACCEPT)], epoch=FINAL_EPOCH)
    assert (errors(response), acquired(response)) == ({0: (NONE, NONE)}, {0: []})
    assert acquired(two.fetch(AT)) == {0: [(1, 2, 1)]}
    assert two.acknowledge((1, 1, ACCEPT), epoch=FINAL_EPOCH).error_code == 0
    assert two.acknowledge((2, 2, ACCEPT), epoch=1).error_code == Errors.SHARE_SESSION_NOT_FOUND.code
    assert acquired(one.fetch(AT, epoch=0)) == {0: [(2, 2, 1)]}


@pytest.mark.parametrize(
    ("epoch", "error"),
    [(1, Errors.SHARE_SESSION_NOT_FOUND), (FINAL_EPOCH, Errors.SHARE_SESSION_NOT_FOUND)],
)
def test_without_a_session_there_are_no_records(leader: ShareLeader, epoch: int, error: Errors) -> None:
    assert leader.client("a").fetch(AT, epoch=epoch).error_code == error.code


def test_a_session_is_at_one_epoch(leader: ShareLeader) -> None:
    client = leader.client("a")
    client.fetch(AT)
    assert client.fetch(epoch=5).error_code == Errors.INVALID_SHARE_SESSION_EPOCH.code
    assert client.acknowledge((0, 0, ACCEPT), epoch=0).error_code == Errors.INVALID_SHARE_SESSION_EPOCH.code
    assert client.acknowledge((0, 0, ACCEPT), epoch=1).error_code == 0


def test_a_request_that_opens_a_session_has_nothing_to_acknowledge(leader: ShareLeader) -> None:
    client = leader.client("a")
    assert client.fetch(said=[(0, 0, ACCEPT)]).error_code == Errors.INVALID_REQUEST.code


def test_a_client_without_room_waits_before_it_hears_of_it(tmp_path: Path) -> None:
    leader = ShareLeader(tmp_path, max_share_sessions=1)
    leader.broker.produce(TP, 3)
    leader.client("a").fetch(AT)
    client = leader.client("b")
    assert client.fetch(AT, max_wait_ms=700) is None
    ((ms, respond),) = leader.later
    respond()
    assert (ms, client.responses[0].error_code) == (700, Errors.SHARE_SESSION_LIMIT_REACHED.code)


def test_unknown_topics_and_partitions_have_their_errors(leader: ShareLeader) -> None:
    unknown, no_partition = TopicIdPartition(UUID(int=9), 5), TopicIdPartition(ORDERS, 7)
    found = errors(leader.client("a").fetch(AT, unknown, no_partition))
    assert found[0] == (NONE, NONE)
    assert found[5][0] is Errors.UNKNOWN_TOPIC_ID
    assert found[7][0] is Errors.UNKNOWN_TOPIC_OR_PARTITION


def test_topics_that_may_not_be_read_are_refused(leader: ShareLeader) -> None:
    client = leader.client("a")
    client.fetch(AT)
    leader.denied = {TP.topic}
    response = client.fetch(said=[(0, 2, ACCEPT)])
    assert errors(response)[0] == (Errors.TOPIC_AUTHORIZATION_FAILED, Errors.TOPIC_AUTHORIZATION_FAILED)
    assert errors(client.acknowledge((0, 2, ACCEPT)))[0][0] is Errors.TOPIC_AUTHORIZATION_FAILED


def test_partitions_are_added_and_forgotten(leader: ShareLeader) -> None:
    client = leader.client("a")
    client.fetch(AT)
    leader.broker.produce(TP1, 2)
    assert acquired(client.fetch(AT1)) == {1: [(0, 1, 1)]}
    leader.broker.produce(TP, 2)
    leader.broker.produce(TP1, 2)
    assert acquired(client.fetch(forgotten=[AT])) == {1: [(2, 3, 1)]}


def test_a_member_without_a_proper_id_is_refused(leader: ShareLeader) -> None:
    client, told = leader.client("a"), []
    for member in (None, "short", "ä"):
        body = fetch.ShareFetchRequest(group_id="g", member_id=member)
        leader.apis.handle_share_fetch(client.request, body, told.append)
        body_2 = acknowledge.ShareAcknowledgeRequest(group_id="g", member_id=member)
        leader.apis.handle_share_acknowledge(client.request, body_2, told.append)
    assert {response.error_code for response in told} == {Errors.UNKNOWN_SERVER_ERROR.code}


def test_the_records_of_a_client_that_has_left_are_for_others(leader: ShareLeader) -> None:
    one, two = leader.client("a"), leader.client("b")
    one.request.client_has_left = True
    one.fetch(AT)
    assert one.responses == [None]
    assert acquired(two.fetch(AT)) == {0: [(0, 2, 1)]}


def test_an_empty_session_has_an_empty_response(leader: ShareLeader) -> None:
    assert acquired(leader.client("a").fetch()) == {}

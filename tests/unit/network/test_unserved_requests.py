"""The line that tells of a client that asks for what is not served: once, whatever the client does."""

import logging

import pytest

from kafka_lite.network.request_parser import InvalidRequestError, LaterApiError, parse_request
from kafka_lite.network.unserved_requests import MAX_REMEMBERED, UnservedRequests, describe_api
from kafka_lite.protocol.messages.headers import RequestHeader


@pytest.fixture
def warnings(caplog):
    caplog.set_level(logging.DEBUG, "kafka_lite.network.unserved_requests")
    return lambda: [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]


def test_a_client_is_reported_once_for_each_api(warnings):
    unserved = UnservedRequests()
    for _ in range(3):
        unserved.report("app", "10.0.0.7", "ShareFetch (share groups)", "its connection is closed")
    assert warnings() == [
        "Client 'app' at 10.0.0.7 asks for ShareFetch (share groups), which this broker does not serve yet: "
        "its connection is closed"
    ]
    unserved.report("app", "10.0.0.7", "DescribeAcls (security)", "its connection is closed")
    unserved.report("app", "10.0.0.8", "DescribeAcls (security)", "its connection is closed")
    unserved.report(None, "10.0.0.8", "DescribeAcls (security)", "its connection is closed")
    assert len(warnings()) == 4


def test_memory_is_bounded_and_the_client_that_has_not_asked_for_longest_is_forgotten(warnings):
    unserved = UnservedRequests()
    unserved.report("first", "::1", "Vote", "closed")
    for number in range(MAX_REMEMBERED - 1):
        unserved.report(f"client-{number}", "::1", "Vote", "closed")
    unserved.report("first", "::1", "Vote", "closed")
    unserved.report("one more", "::1", "Vote", "closed")  # client-0 is forgotten
    assert len(warnings()) == MAX_REMEMBERED + 1
    unserved.report("first", "::1", "Vote", "closed")
    assert len(warnings()) == MAX_REMEMBERED + 1
    unserved.report("client-0", "::1", "Vote", "closed")
    assert len(warnings()) == MAX_REMEMBERED + 2


def test_a_client_id_cannot_fill_memory_or_forge_lines(warnings):
    unserved = UnservedRequests()
    unserved.report("a\n[2026] INFO forged" + "x" * 30_000, "::1", "Vote", "closed")
    unserved.report("a\n[2026] INFO forged" + "x" * 30_001, "::1", "Vote", "closed")
    (line,) = warnings()
    assert "\n" not in line
    assert len(line) < 250


def test_an_api_is_described_by_what_it_belongs_to():
    assert describe_api(88, "StreamsGroupHeartbeat") == "StreamsGroupHeartbeat (groups of Streams, KIP-1071)"
    assert describe_api(57, "UpdateFeatures") == "UpdateFeatures"


def test_a_frame_of_a_later_api_is_distinguished_from_garbage():
    heartbeat = RequestHeader(api_key=88, api_version=0, correlation_id=7, client_id="new").encode(2)
    with pytest.raises(LaterApiError) as later:
        parse_request(memoryview(heartbeat + bytes(20)))
    assert (later.value.header.api_key, later.value.header.client_id) == (88, "new")
    for garbage in (heartbeat[:9], bytes((3, 231)) + heartbeat[2:]):
        with pytest.raises(InvalidRequestError, match="there is no API with key") as unknown:
            parse_request(memoryview(garbage))
        assert not isinstance(unknown.value, LaterApiError)

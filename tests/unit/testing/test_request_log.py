"""The requests that the broker has received."""

import threading

import pytest

from kafka_lite.network.request import Request
from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.messages import api_01_fetch as fetch
from kafka_lite.protocol.messages import api_20_delete_topics as delete_topics
from kafka_lite.protocol.messages.headers import RequestHeader
from kafka_lite.testing.request_log import RequestLog


def request(client_id="app", size=100, body=None):
    header = RequestHeader(api_key=1, api_version=11, correlation_id=3, client_id=client_id)
    body = body or fetch.FetchRequest(topics=[fetch.FetchTopic(topic="a"), fetch.FetchTopic(topic="b")])
    return Request(0, "127.0.0.1:9092-127.0.0.1:50000-7", "PLAINTEXT", "PLAINTEXT", "127.0.0.1", header, body, size, 0)


def test_requests_are_kept_in_order():
    log = RequestLog()
    log.add(ApiKey.METADATA, request(), 1)
    log.add(ApiKey.FETCH, request("one"), 2)
    log.add(ApiKey.FETCH, request("two"), 3)
    assert len(log) == 3
    assert [seen.client_id for seen in log.of("Fetch")] == ["one", "two"]
    assert [seen.client_id for seen in log.of(ApiKey.FETCH, where=lambda seen: seen.client_id != "one")] == ["two"]
    log.clear()
    assert list(log) == []


def test_a_request_is_printed_with_api_version_and_client():
    seen = RequestLog().add(ApiKey.FETCH, request(), 1_500_000_000_123)
    assert seen.topics == ["a", "b"]
    assert seen.version == 11
    assert str(seen).endswith(".123 FETCH v11 of 'app' at 127.0.0.1:50000 a, b")
    seen.fault = "FETCH: handled, slow response"
    assert str(seen).endswith(" a, b  ← FETCH: handled, slow response")


def test_topics_may_be_plain_names():
    body = delete_topics.DeleteTopicsRequest(topic_names=["x"])
    assert RequestLog().add(ApiKey.DELETE_TOPICS, request(body=body), 0).topics == ["x"]


def test_the_oldest_requests_are_dropped_if_there_are_too_many():
    log = RequestLog(max_requests=3)
    for number in range(5):
        log.add(ApiKey.FETCH, request(str(number)), number)
    assert [seen.client_id for seen in log] == ["2", "3", "4"]


def test_the_oldest_requests_are_dropped_if_they_are_too_large_but_the_last_is_kept():
    log = RequestLog(max_bytes=250)
    for size in (100, 100, 100, 1000):
        log.add(ApiKey.FETCH, request(size=size), 0)
    assert [seen.size_in_bytes for seen in log] == [1000]
    log.add(ApiKey.FETCH, request(size=100), 0)
    log.add(ApiKey.FETCH, request(size=100), 0)
    assert [seen.size_in_bytes for seen in log] == [100, 100]


def test_wait_for_a_request():
    log = RequestLog()
    log.add(ApiKey.FETCH, request(), 0)
    thread = threading.Timer(0.01, log.add, (ApiKey.FETCH, request("second"), 0))
    thread.start()
    assert [seen.client_id for seen in log.wait_for("Fetch", count=2)] == ["app", "second"]
    thread.join()


def test_a_timeout_reports_the_requests_that_came_instead():
    log = RequestLog()
    log.add(ApiKey.FETCH, request(), 0)
    with pytest.raises(TimeoutError, match=r"0 of 1 PRODUCE requests within 0 s; the last requests:\n  .*FETCH v11"):
        log.wait_for("Produce", timeout_s=0)


def test_the_tail_has_the_last_requests():
    log = RequestLog()
    for number in range(30):
        log.add(ApiKey.FETCH, request(str(number)), number)
    lines = log.tail(5).splitlines()
    assert lines[0] == "  … 25 before"
    assert "'29'" in lines[-1]
    assert len(lines) == 6

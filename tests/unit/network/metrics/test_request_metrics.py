"""Metrics of requests are the same as if each request were measured by itself."""

from __future__ import annotations

import random
import statistics
import threading

import pytest

from kafka_lite.common.time import MockTime
from kafka_lite.metrics.metric_name import MetricName
from kafka_lite.metrics.metrics_registry import MetricsRegistry
from kafka_lite.network.metrics.request_metrics import MAX_PENDING, MAX_PENDING_MS, RequestChannelMetrics, request_name
from kafka_lite.network.request import Request, RequestTimes
from kafka_lite.protocol.api_keys import API_SPECS, ApiKey
from kafka_lite.protocol.messages.api_01_fetch import FetchRequest
from kafka_lite.protocol.messages.api_12_heartbeat import HeartbeatRequest
from kafka_lite.protocol.messages.headers import RequestHeader
from kafka_lite.protocol.schema import Message

PHASES = {
    "RequestQueueTimeMs": "request_queue_ms",
    "LocalTimeMs": "local_ms",
    "RemoteTimeMs": "remote_ms",
    "ThrottleTimeMs": "throttle_ms",
    "ResponseQueueTimeMs": "response_queue_ms",
    "ResponseSendTimeMs": "response_send_ms",
    "TotalTimeMs": "total_ms",
}


def request_of(api_key: ApiKey, body: Message | None = None, start_ms: float = 0.0) -> Request:
    return Request(
        processor=0,
        connection_id="c",
        listener_name="PLAINTEXT",
        security_protocol="PLAINTEXT",
        client_address="127.0.0.1",
        header=RequestHeader(api_key=api_key, api_version=0),
        body=body or HeartbeatRequest(),
        size_in_bytes=1,
        start_time_ms=start_ms,
    )


def some_request(rng: random.Random) -> tuple[Request, float]:
    """Any possible order of marks: some are not set, some are set late."""
    request = request_of(ApiKey.PRODUCE, start_ms=rng.uniform(0, 1000))
    request.request_dequeue_time_ms = request.start_time_ms + rng.uniform(0, 1)
    request.response_complete_time_ms = request.request_dequeue_time_ms + rng.uniform(0, 2)
    request.api_local_complete_time_ms = rng.choice([-1, request.request_dequeue_time_ms + rng.uniform(0, 3)])
    request.api_remote_complete_time_ms = rng.choice([-1, request.response_complete_time_ms])
    request.response_dequeue_time_ms = request.response_complete_time_ms + rng.uniform(0, 1)
    return request, request.response_dequeue_time_ms + rng.uniform(0, 1)


@pytest.fixture
def registry() -> MetricsRegistry:
    return MetricsRegistry()


@pytest.fixture
def metrics(registry: MetricsRegistry) -> RequestChannelMetrics:
    return RequestChannelMetrics(registry, MockTime(), [ApiKey.PRODUCE, ApiKey.FETCH])


def bean(registry: MetricsRegistry, name: str, request: str) -> dict[str, object]:
    full_name = MetricName.of("kafka.network", "RequestMetrics", name, {"request": request})
    return dict(registry.beans()[full_name])


@pytest.mark.parametrize("count", [1, MAX_PENDING - 1, MAX_PENDING, 3 * MAX_PENDING + 5])
def test_phases_are_those_of_each_request(
    registry: MetricsRegistry, metrics: RequestChannelMetrics, count: int
) -> None:
    rng = random.Random(count)
    times: list[RequestTimes] = []
    for _ in range(count):
        request, end_ms = some_request(rng)
        metrics.request_completed(request, end_ms)
        times.append(request.times(end_ms))
    assert bean(registry, "RequestsPerSec", "Produce")["Count"] == count
    for name, phase in PHASES.items():
        values = [getattr(each, phase) for each in times]
        shown = bean(registry, name, "Produce")
        assert shown["Count"] == count
        assert shown["Max"] == pytest.approx(max(values))
        assert shown["Mean"] == pytest.approx(statistics.fmean(values))


def test_fetches_of_consumers_and_followers_are_counted_apart(
    registry: MetricsRegistry, metrics: RequestChannelMetrics
) -> None:
    for replica_id in (-1, -1, 3):
        metrics.request_completed(request_of(ApiKey.FETCH, FetchRequest(replica_id=replica_id)), 1.0)
    counts = {
        name: bean(registry, "RequestsPerSec", name)["Count"] for name in ("Fetch", "FetchConsumer", "FetchFollower")
    }
    assert counts == {"Fetch": 3, "FetchConsumer": 2, "FetchFollower": 1}


def test_an_unannounced_api_is_shown_from_its_first_request_on(
    registry: MetricsRegistry, metrics: RequestChannelMetrics
) -> None:
    assert not [name for name in registry.beans() if ("request", "Heartbeat") in name.tags]
    metrics.request_completed(request_of(ApiKey.HEARTBEAT), 1.0)
    assert bean(registry, "TotalTimeMs", "Heartbeat")["Count"] == 1


def test_nothing_waits_longer_than_a_second_while_there_are_requests(
    registry: MetricsRegistry, metrics: RequestChannelMetrics
) -> None:
    total = registry.get(MetricName.of("kafka.network", "RequestMetrics", "TotalTimeMs", {"request": "Produce"}))
    metrics.request_completed(request_of(ApiKey.PRODUCE), 10.0)
    metrics.request_completed(request_of(ApiKey.PRODUCE), 10.0 + MAX_PENDING_MS)
    assert total.count == 0  # type: ignore[union-attr]
    metrics.request_completed(request_of(ApiKey.PRODUCE), 11.0 + MAX_PENDING_MS)
    assert total.count == 3  # type: ignore[union-attr]


def test_concurrent_completions_lose_no_request(registry: MetricsRegistry, metrics: RequestChannelMetrics) -> None:
    def end_many() -> None:
        for number in range(5000):
            metrics.request_completed(request_of(ApiKey.PRODUCE), float(number))

    threads = [threading.Thread(target=end_many) for _ in range(4)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        metrics.collect()
    assert bean(registry, "TotalTimeMs", "Produce")["Count"] == 20_000
    assert bean(registry, "RequestsPerSec", "Produce")["Count"] == 20_000


def test_requests_have_the_names_of_0_10_2() -> None:
    names = {request_name(key) for key in API_SPECS if key <= ApiKey.DELETE_TOPICS}
    # As its beans name them, but for the two halves of Fetch.
    assert names == {
        "ApiVersions", "ControlledShutdown", "CreateTopics", "DeleteTopics", "DescribeGroups", "Fetch",
        "GroupCoordinator", "Heartbeat", "JoinGroup", "LeaderAndIsr", "LeaveGroup", "ListGroups", "Metadata",
        "OffsetCommit", "OffsetFetch", "Offsets", "Produce", "SaslHandshake", "StopReplica", "SyncGroup",
        "UpdateMetadata",
    }  # fmt: skip
    assert request_name(ApiKey.INIT_PRODUCER_ID) == "InitProducerId"

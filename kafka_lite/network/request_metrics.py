"""How many requests of each kind there are, and how long they spend in each phase.

Kafka 0.10.2: core/.../network/RequestChannel.scala (RequestMetrics) · book 2.3.3
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable, Sequence

from kafka_lite.common.time import Time
from kafka_lite.metrics.kafka_metrics_group import KafkaMetricsGroup
from kafka_lite.metrics.metrics_registry import MetricsRegistry
from kafka_lite.network.request_channel import Request
from kafka_lite.protocol.api_keys import API_SPECS, ApiKey
from kafka_lite.protocol.messages.api_01_fetch import FetchRequest

NAMES_OF_0_10_2 = {ApiKey.LIST_OFFSETS: "Offsets", ApiKey.FIND_COORDINATOR: "GroupCoordinator"}
"""Requests that were called otherwise then; dashboards know them by these names."""

CONSUMER_FETCH_METRIC_NAME = "FetchConsumer"
FOLLOW_FETCH_METRIC_NAME = "FetchFollower"

MAX_PENDING = 128
MAX_PENDING_MS = 1000.0

Marks = tuple[float, float, float, float, float, float, float]
"""The times of one request: start, request dequeued, local and remote part complete, response complete, response
dequeued, end."""


def request_name(api_key: int) -> str:
    """What the tag ``request`` says of an API."""
    key = ApiKey(api_key)
    return NAMES_OF_0_10_2.get(key) or API_SPECS[key].request.__name__.removesuffix("Request")


class RequestMetrics:
    """The beans ``kafka.network:type=RequestMetrics,name=…,request=Produce``."""

    def __init__(self, group: KafkaMetricsGroup, name: str) -> None:
        tags = {"request": name}
        self.name = name
        self.request_rate = group.new_meter("RequestsPerSec", "requests", tags)
        self.request_queue_time_hist = group.new_histogram("RequestQueueTimeMs", tags)
        self.local_time_hist = group.new_histogram("LocalTimeMs", tags)
        self.remote_time_hist = group.new_histogram("RemoteTimeMs", tags)
        self.throttle_time_hist = group.new_histogram("ThrottleTimeMs", tags)
        self.response_queue_time_hist = group.new_histogram("ResponseQueueTimeMs", tags)
        self.response_send_time_hist = group.new_histogram("ResponseSendTimeMs", tags)
        self.total_time_hist = group.new_histogram("TotalTimeMs", tags)

    def update(self, marks: Sequence[Marks]) -> None:
        """Work in the times of several requests, as ``Request.times`` does for one: a column each."""
        start, dequeued, local, remote, complete, response_dequeued, end = zip(*marks, strict=True)
        local = tuple([c if mark < 0 else mark for mark, c in zip(local, complete, strict=True)])
        remote = tuple([c if mark < 0 else mark for mark, c in zip(remote, complete, strict=True)])
        now_ms = end[-1]
        self.request_rate.mark(len(marks))
        self.request_queue_time_hist.update_all(_durations(start, dequeued), now_ms)
        self.local_time_hist.update_all(_durations(dequeued, local), now_ms)
        self.remote_time_hist.update_all(_durations(local, remote), now_ms)
        self.throttle_time_hist.update_all(_durations(remote, complete), now_ms)
        self.response_queue_time_hist.update_all(_durations(complete, response_dequeued), now_ms)
        self.response_send_time_hist.update_all(_durations(response_dequeued, end), now_ms)
        self.total_time_hist.update_all(_durations(start, end), now_ms)


def _durations(begin: Iterable[float], end: Iterable[float]) -> list[float]:
    """From begin to end, never negative: another thread may have set a mark late."""
    return [e - b if e > b else 0.0 for b, e in zip(begin, end, strict=True)]


class PendingRequests:
    """Marks of completed requests that are still to be worked into metrics.

    Eight metrics change with every request. Done one by one, that would cost as much as a small request itself; done
    for many requests at once, C does most of it.
    """

    __slots__ = ("_lock", "_marks", "_metrics", "_since_ms")

    def __init__(self, metrics: Sequence[RequestMetrics]) -> None:
        self._metrics = metrics
        self._marks: deque[Marks] = deque()
        self._since_ms = 0.0
        self._lock = threading.Lock()

    def add(self, request: Request, end_time_ms: float) -> None:
        """Note the times of a request; any thread may."""
        marks = self._marks
        if not marks:
            self._since_ms = end_time_ms
        marks.append(
            (
                request.start_time_ms,
                request.request_dequeue_time_ms,
                request.api_local_complete_time_ms,
                request.api_remote_complete_time_ms,
                request.response_complete_time_ms,
                request.response_dequeue_time_ms,
                end_time_ms,
            )
        )
        if len(marks) >= MAX_PENDING or end_time_ms - self._since_ms > MAX_PENDING_MS:
            self.work_in()

    def work_in(self) -> None:
        """Bring the metrics up to date."""
        with self._lock:
            # Others may append meanwhile: what is there now is taken, one by one, which is safe without their help.
            marks = [self._marks.popleft() for _ in range(len(self._marks))]
            if marks:
                for metrics in self._metrics:
                    metrics.update(marks)


class RequestChannelMetrics:
    """Measures the requests of a channel: give ``request_completed`` to ``RequestChannel.add_completion_listener``."""

    def __init__(self, registry: MetricsRegistry, time: Time, api_keys: Iterable[ApiKey]) -> None:
        """``api_keys``: the APIs that are shown from the start, before there is a request."""
        self._group = KafkaMetricsGroup(registry, time, "kafka.network", "RequestMetrics")
        self._lock = threading.Lock()
        fetch = self._new(request_name(ApiKey.FETCH))
        self._consumer_fetch = PendingRequests([self._new(CONSUMER_FETCH_METRIC_NAME), fetch])
        self._follower_fetch = PendingRequests([self._new(FOLLOW_FETCH_METRIC_NAME), fetch])
        self._by_key: dict[int, PendingRequests] = {int(ApiKey.FETCH): self._consumer_fetch}
        for api_key in api_keys:
            self._pending(api_key)
        registry.add_collector(self.collect)

    def _new(self, name: str) -> RequestMetrics:
        return RequestMetrics(self._group, name)

    def _pending(self, api_key: int) -> PendingRequests:
        with self._lock:
            if api_key not in self._by_key:
                self._by_key[int(api_key)] = PendingRequests([self._new(request_name(api_key))])
            return self._by_key[api_key]

    def request_completed(self, request: Request, end_time_ms: float) -> None:
        """A request has ended, well or not: it counts."""
        api_key = request.header.api_key
        pending = self._by_key.get(api_key) or self._pending(api_key)
        body = request.body
        if isinstance(body, FetchRequest) and body.replica_id >= 0:
            pending = self._follower_fetch
        pending.add(request, end_time_ms)

    def collect(self) -> None:
        """Bring all metrics up to date."""
        with self._lock:
            pending = (self._follower_fetch, *self._by_key.values())
        for each in pending:
            each.work_in()

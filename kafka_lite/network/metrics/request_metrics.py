"""How many requests of each API there are, and how long they spend in each phase.

Kafka 0.10.2: core/.../network/RequestChannel.scala (RequestMetrics) · book 2.3.3
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from typing import Final

from kafka_lite.common.time import Time
from kafka_lite.metrics.histogram import Moments
from kafka_lite.metrics.kafka_metrics_group import KafkaMetricsGroup
from kafka_lite.metrics.metrics_registry import MetricsRegistry
from kafka_lite.network.request import Request
from kafka_lite.protocol.api_keys import API_SPECS, ApiKey
from kafka_lite.protocol.messages.api_01_fetch import FetchRequest

NAMES_OF_0_10_2 = {ApiKey.LIST_OFFSETS: "Offsets", ApiKey.FIND_COORDINATOR: "GroupCoordinator"}
"""APIs that 0.10.2 calls by another name; dashboards know them by these."""

CONSUMER_FETCH_METRIC_NAME = "FetchConsumer"
FOLLOW_FETCH_METRIC_NAME = "FetchFollower"

MAX_PENDING: Final = 128
MAX_PENDING_MS: Final = 1000.0

Phases = tuple[float, ...]
"""How long one request spent in each of ``PHASES``, in ms."""

PHASES = (
    "RequestQueueTimeMs",
    "LocalTimeMs",
    "RemoteTimeMs",
    "ThrottleTimeMs",
    "ResponseQueueTimeMs",
    "ResponseSendTimeMs",
    "TotalTimeMs",
)
"""Each has a histogram. ``Request.times`` works the phases of one request out of its marks."""


def request_name(api_key: int) -> str:
    """The tag ``request`` of an API's beans."""
    key = ApiKey(api_key)
    return NAMES_OF_0_10_2.get(key) or API_SPECS[key].request.__name__.removesuffix("Request")


class RequestMetrics:
    """The beans ``kafka.network:type=RequestMetrics,name=…,request=Produce``."""

    def __init__(self, group: KafkaMetricsGroup, name: str) -> None:
        tags = {"request": name}
        self.name = name
        self.request_rate = group.new_meter("RequestsPerSec", "requests", tags)
        self.histograms = tuple([group.new_histogram(phase, tags) for phase in PHASES])


class PendingRequests:
    """The times of completed requests that are not in the metrics yet.

    Every request changes eight metrics. To update them one by one would cost as much as a small request itself; for
    many requests at once, C does most of the work.
    """

    __slots__ = ("_last_ms", "_lock", "_metrics", "_pending", "_since_ms")

    def __init__(self, metrics: Sequence[RequestMetrics]) -> None:
        self._metrics = metrics
        self._pending: list[Phases] = []
        self._since_ms = 0.0
        self._last_ms = 0.0
        self._lock = threading.Lock()

    def add(self, request: Request, end_time_ms: float) -> None:
        """Note the times of a request; thread-safe."""
        pending = self._pending
        if not pending:
            self._since_ms = end_time_ms
        start = request.start_time_ms
        dequeued = request.request_dequeue_time_ms
        local = request.api_local_complete_time_ms
        remote = request.api_remote_complete_time_ms
        complete = request.response_complete_time_ms
        response_dequeued = request.response_dequeue_time_ms
        if local < 0:
            local = complete
        if remote < 0:
            remote = complete
        pending.append(
            (
                dequeued - start,
                local - dequeued,
                remote - local,
                (complete - remote) or request.api_throttle_time_ms,
                response_dequeued - complete,
                end_time_ms - response_dequeued,
                end_time_ms - start,
            )
        )
        self._last_ms = end_time_ms
        if len(pending) >= MAX_PENDING or end_time_ms - self._since_ms > MAX_PENDING_MS:
            self.work_in()

    def work_in(self) -> None:
        """Bring the metrics up to date."""
        with self._lock:  # held to the end: a concurrent reader must not miss what has been taken out
            count = len(self._pending)  # other threads may append more in the meantime
            requests = self._pending[:count]
            del self._pending[:count]
            if requests:
                self._work_in(requests)

    def _work_in(self, requests: list[Phases]) -> None:
        for metrics in self._metrics:
            metrics.request_rate.mark(len(requests))
        for phase, durations in enumerate(zip(*requests, strict=True)):
            moments = Moments.of(durations)
            if moments.min < 0:  # another thread set a mark late
                durations = tuple([max(duration, 0.0) for duration in durations])
                moments = Moments.of(durations)
            for metrics in self._metrics:
                metrics.histograms[phase].add(moments, durations, self._last_ms)


class RequestChannelMetrics:
    """Measures the requests of a channel: give ``request_completed`` to ``RequestChannel.add_completion_listener``."""

    def __init__(self, registry: MetricsRegistry, time: Time, api_keys: Iterable[ApiKey]) -> None:
        """``api_keys``: the APIs whose beans exist from the start, before their first request."""
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
        """Count a request that has ended, well or not."""
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

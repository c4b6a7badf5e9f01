"""Records the cost of requests, and delays those whose client has exceeded a quota.

Kafka 2.8: core/.../server/RequestHandlerHelper.scala; 0.10.2: core/.../server/ClientQuotaManager.scala
(recordAndMaybeThrottle) · book 10.1
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from kafka_lite.common.sendable import Part, size_of
from kafka_lite.common.time import Time
from kafka_lite.network.request import Request
from kafka_lite.network.request_channel import RequestChannel
from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.messages.api_01_fetch import FetchRequest
from kafka_lite.protocol.schema import Response
from kafka_lite.server.quotas.client_quota_manager import ClientQuotaManager
from kafka_lite.server.quotas.client_quota_managers import ClientQuotaManagers
from kafka_lite.server.quotas.controller_mutation_quota_manager import ControllerMutationQuota
from kafka_lite.server.quotas.throttled_channel import ThrottleCallback, ThrottledResponse
from kafka_lite.zookeeper.sanitizer import sanitize

FIRST_VERSION_WHOSE_CLIENTS_WAIT = {
    ApiKey.PRODUCE: 6, ApiKey.FETCH: 8, ApiKey.LIST_OFFSETS: 3, ApiKey.METADATA: 6, ApiKey.OFFSET_COMMIT: 4,
    ApiKey.OFFSET_FETCH: 4, ApiKey.FIND_COORDINATOR: 2, ApiKey.JOIN_GROUP: 3, ApiKey.HEARTBEAT: 2,
    ApiKey.LEAVE_GROUP: 2, ApiKey.SYNC_GROUP: 2, ApiKey.DESCRIBE_GROUPS: 2, ApiKey.LIST_GROUPS: 2,
    ApiKey.API_VERSIONS: 2, ApiKey.CREATE_TOPICS: 3, ApiKey.DELETE_TOPICS: 2, ApiKey.DELETE_RECORDS: 1,
    ApiKey.INIT_PRODUCER_ID: 1, ApiKey.ADD_PARTITIONS_TO_TXN: 1, ApiKey.ADD_OFFSETS_TO_TXN: 1, ApiKey.END_TXN: 1,
    ApiKey.TXN_OFFSET_COMMIT: 1, ApiKey.DESCRIBE_CONFIGS: 2, ApiKey.ALTER_CONFIGS: 1,
    ApiKey.ALTER_REPLICA_LOG_DIRS: 1, ApiKey.DESCRIBE_LOG_DIRS: 1, ApiKey.CREATE_PARTITIONS: 1,
    ApiKey.DELETE_GROUPS: 1,
}  # fmt: skip
"""The versions since KIP-219. Their clients wait by themselves after a response with a throttle time, so that the
response can go out at once. APIs that are not in the table are younger."""

EXEMPT = frozenset({
    ApiKey.LEADER_AND_ISR, ApiKey.STOP_REPLICA, ApiKey.UPDATE_METADATA, ApiKey.CONTROLLED_SHUTDOWN,
    ApiKey.WRITE_TXN_MARKERS,
})  # fmt: skip
"""Requests between brokers; the Fetch requests of followers are exempt, too."""


def client_waits(request: Request) -> bool:
    """Whether the request's version is one whose clients wait by themselves."""
    header = request.header
    return header.api_version >= FIRST_VERSION_WHOSE_CLIENTS_WAIT.get(ApiKey(header.api_key), 0)


class RequestHandlerHelper:
    """Stands between the handlers and the channel while there are quotas.

    ::

        what is recorded                           by             the delay of
        ─────────────────────────────────────────────────────────────────────────────────────────────
        Produce       the request's bytes          produce    ┐
        Fetch         the response's bytes         fetch      │
        CreateTopics, DeleteTopics,                           ├   the quota with the longest delay
        CreatePartitions    partitions             controller │
        all of them   time of threads              request    ┘
        of brokers    time of threads              request        none: it is only shown

    A connection is muted after the response, or, if its client does not wait by itself, the response is held back. The
    records of a throttled Fetch are not sent at all, unless it is held back: they would lie in memory, or the client
    would get, all at once, what it should have waited for.
    """

    def __init__(self, request_channel: RequestChannel, quotas: ClientQuotaManagers, time: Time) -> None:
        self._channel = request_channel
        self.quotas = quotas
        self._time = time

    # ── any response ──────────────────────────────────────────────────────────────────────────────────────────────

    def respond(self, request: Request, response: Response | None, send: Callable[[Response | None], None]) -> None:
        """Record a request, and ``send`` its response, now or after a delay. None: there is none (acks=0)."""
        if _is_exempt(request):
            self.quotas.request.maybe_record_exempt(self._thread_time_ms(request))
        elif request.header.api_key != ApiKey.FETCH or not client_waits(request):  # see throttle_fetch
            manager, throttle_time_ms = self._record(request, response)
            if throttle_time_ms > 0 and not client_waits(request):
                self._hold_back(manager, request, throttle_time_ms, response, send)
                return
            self._mute(manager, request, throttle_time_ms)
        _set_throttle_time(response, int(request.api_throttle_time_ms))
        send(response)

    def _record(self, request: Request, response: Response | None) -> tuple[ClientQuotaManager, int]:
        """Record what a request costs. Returns the quota with the longest delay, and that delay in ms."""
        now_ms = self._time.hi_res_ms()
        user, client_id = user_of(request), client_id_of(request)
        manager, own_ms = self._record_own(request, response, user, client_id, now_ms)
        if response is None:
            self.quotas.request.maybe_record_exempt(self._thread_time_ms(request))
            return manager, own_ms
        request_ms = self._record_request_time(request, user, client_id, now_ms)
        return (manager, own_ms) if own_ms > request_ms else (self.quotas.request, request_ms)

    def _record_own(
        self, request: Request, response: Response | None, user: str, client_id: str, now_ms: float
    ) -> tuple[ClientQuotaManager, int]:
        """Record what only this API has a quota for."""
        quotas, api_key = self.quotas, request.header.api_key
        if api_key == ApiKey.PRODUCE:
            size = request.size_in_bytes
            return quotas.produce, quotas.produce.maybe_record_and_get_throttle_time_ms(user, client_id, size, now_ms)
        if api_key == ApiKey.FETCH and response is not None:
            size = _size_of(response, request.header.api_version)
            return quotas.fetch, quotas.fetch.maybe_record_and_get_throttle_time_ms(user, client_id, size, now_ms)
        return quotas.controller_mutation, int(request.api_throttle_time_ms)  # set by throttle_mutation

    def _record_request_time(self, request: Request, user: str, client_id: str, now_ms: float) -> int:
        quota = self.quotas.request
        if not quota.quotas_enabled:
            return 0
        request.record_network_thread_time = lambda time_ms: quota.maybe_record_network_time(user, client_id, time_ms)
        return quota.maybe_record_request_time(user, client_id, self._thread_time_ms(request), now_ms)

    def _thread_time_ms(self, request: Request) -> float:
        """The time of the thread that has handled the request, without the time it waited for others."""
        local_ms = request.api_local_complete_time_ms
        return max((local_ms if local_ms >= 0 else self._time.hi_res_ms()) - request.request_dequeue_time_ms, 0)

    def _mute(self, manager: ClientQuotaManager, request: Request, throttle_time_ms: int) -> None:
        """Mute the connection, if there is a delay; the response is sent nevertheless."""
        request.api_throttle_time_ms = float(throttle_time_ms)
        self._throttle(manager, request, throttle_time_ms, _MutedChannel(self._channel, request))

    def _hold_back(
        self,
        manager: ClientQuotaManager,
        request: Request,
        throttle_time_ms: int,
        response: Response | None,
        send: Callable[[Response | None], None],
    ) -> None:
        request.api_throttle_time_ms = float(throttle_time_ms)
        request.api_remote_complete_time_ms = self._time.hi_res_ms()
        _set_throttle_time(response, throttle_time_ms)
        callback = ThrottledResponse(throttle_time_ms, lambda _: send(response))
        self._throttle(manager, request, throttle_time_ms, callback)

    def _throttle(
        self, manager: ClientQuotaManager, request: Request, throttle_time_ms: int, callback: ThrottleCallback
    ) -> None:
        manager.throttle(user_of(request), client_id_of(request), throttle_time_ms, callback)

    # ── Fetch ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def max_fetch_bytes(self, request: Request) -> int:
        """How many bytes a consumer may fetch at once: a larger response would be throttled each time."""
        quota = self.quotas.fetch
        return int(quota.max_value_in_quota_window(user_of(request), client_id_of(request)))

    def throttle_fetch(self, request: Request, size_bytes: int) -> int:
        """Record a response that is not made yet, to a client that waits by itself.

        Returns the delay in ms. If it is more than 0, the connection is being muted, and the response must be empty;
        its bytes do not count.
        """
        now_ms = self._time.hi_res_ms()
        user, client_id = user_of(request), client_id_of(request)
        fetch = self.quotas.fetch
        request_ms = self._record_request_time(request, user, client_id, now_ms)
        fetch_ms = fetch.maybe_record_and_get_throttle_time_ms(user, client_id, size_bytes, now_ms)
        throttle_time_ms = max(request_ms, fetch_ms)
        if throttle_time_ms > 0:
            if fetch.quotas_enabled:
                fetch.unrecord_quota_sensor(user, client_id, size_bytes, now_ms)
            self._mute(fetch if fetch_ms > request_ms else self.quotas.request, request, throttle_time_ms)
        return throttle_time_ms

    # ── changes of topics ─────────────────────────────────────────────────────────────────────────────────────────

    def new_mutation_quota(self, request: Request, strict_since_version: int) -> ControllerMutationQuota:
        """The quota of a request that changes topics; strict for versions that know THROTTLING_QUOTA_EXCEEDED."""
        return self.quotas.controller_mutation.new_quota_for(
            user_of(request), client_id_of(request), request.header.api_version, strict_since_version
        )

    def throttle_mutation(self, request: Request, quota: ControllerMutationQuota) -> None:
        """Delay the client for as long as its changes of topics have earned; before the response is sent."""
        request.api_throttle_time_ms = float(quota.throttle_time_ms)


class _MutedChannel:
    """A ThrottleCallback that mutes the connection of a request (KIP-219)."""

    def __init__(self, channel: RequestChannel, request: Request) -> None:
        self._channel = channel
        self._request = request

    def start_throttling(self) -> None:
        """Mute it; the response, which follows, is sent nevertheless."""
        self._channel.start_throttling(self._request)

    def end_throttling(self) -> None:
        """Unmute it."""
        self._channel.end_throttling(self._request)


def _is_exempt(request: Request) -> bool:
    body = request.body
    return request.header.api_key in EXEMPT or (isinstance(body, FetchRequest) and body.replica_id >= 0)


def user_of(request: Request) -> str:
    """The sanitised name of the user that has sent a request."""
    return _sanitized(request.principal.name)


def client_id_of(request: Request) -> str:
    """The client id of a request; a client without one has an empty one."""
    return request.header.client_id or ""


@lru_cache(maxsize=1000)
def _sanitized(name: str) -> str:
    return sanitize(name)


def _set_throttle_time(response: Response | None, throttle_time_ms: int) -> None:
    if throttle_time_ms and hasattr(response, "throttle_time_ms"):
        response.throttle_time_ms = throttle_time_ms  # type: ignore[union-attr]


def _size_of(response: Response, version: int) -> int:
    parts: list[Part] = []
    response.encode_to(parts, version)
    return sum(map(size_of, parts))

"""Tells clients which metrics to push, and takes the pushes.

Kafka 3.7: server/.../server/ClientMetricsManager.java, KIP-714; 0.10 has none of it · book 10.1
"""

from __future__ import annotations

import logging
import random
import threading
import zlib
from collections import OrderedDict
from collections.abc import Mapping
from uuid import UUID

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.ids.uuids import encode_uuid
from kafka_lite.common.time import Time
from kafka_lite.network.request import Request
from kafka_lite.protocol.messages.api_71_get_telemetry_subscriptions import (
    GetTelemetrySubscriptionsRequest,
    GetTelemetrySubscriptionsResponse,
)
from kafka_lite.protocol.messages.api_72_push_telemetry import PushTelemetryRequest, PushTelemetryResponse
from kafka_lite.record.compression import CompressionType, decompress
from kafka_lite.record.record import CorruptRecordError
from kafka_lite.server.client_telemetry.client_metrics_configs import (
    ALL_METRICS,
    DEFAULT_INTERVAL_MS,
    Subscription,
    parse_subscription,
)
from kafka_lite.server.client_telemetry.client_metrics_instance import ClientMetricsInstance
from kafka_lite.server.client_telemetry.client_metrics_store import ClientMetricsStore
from kafka_lite.server.client_telemetry.metrics_data import MetricsDataError, read_metrics_data

logger = logging.getLogger(__name__)

ACCEPTED = (CompressionType.ZSTD, CompressionType.LZ4, CompressionType.GZIP, CompressionType.SNAPPY)
"""How a push may be compressed, the best first; not at all is fine, too."""
MAX_INSTANCES = 16_384
"""How many clients a broker remembers; then the one that was not heard of for the longest time is forgotten."""
MIN_EXPIRY_MS = 60_000
"""How long a client is remembered after its last request; longer for push intervals of more than a third of it."""
EXPIRY_CHECK_MS = 30_000
MAX_EXPANSION = 20
"""How many times larger than ``telemetry.max.bytes`` a push may be once it is decompressed."""
RESERVED_IDS = (UUID(int=0), UUID(int=1))
MAX_INT32 = 0x7FFF_FFFF


class ClientMetricsManager:
    """The subscriptions, and the clients that know of them. Thread-safe.

    ::

        client                                              broker
        GetTelemetrySubscriptions (id 0) ─────────────────▶ a new instance: all subscriptions that match it
              ◀───── its id, subscription, metrics, interval
        PushTelemetry (id, subscription), once in an interval ▶ ClientMetricsStore
              ◀───── UNKNOWN_SUBSCRIPTION_ID ────────────── the subscriptions have changed: ask again
        PushTelemetry (terminating) ──────────────────────▶ the last one
    """

    def __init__(self, max_bytes: int, store: ClientMetricsStore, time: Time) -> None:
        """``max_bytes``: ``telemetry.max.bytes``."""
        self._max_bytes = max_bytes
        self._store = store
        self._time = time
        self._lock = threading.Lock()
        self._subscriptions: dict[str, Subscription] = {}
        self._version = 0
        self._instances: OrderedDict[UUID, ClientMetricsInstance] = OrderedDict()
        self.unknown_subscriptions = 0
        """How many pushes had another subscription than the client's."""

    # ── subscriptions ─────────────────────────────────────────────────────────────────────────────────────────────

    def process_config_changes(self, entity_name: str, config: Mapping[str, str]) -> None:
        """The configuration of a resource has changed; an empty one ends the subscription. Raises ApiError."""
        subscription = parse_subscription(entity_name, config)
        with self._lock:
            if config:
                self._subscriptions[entity_name] = subscription
            elif self._subscriptions.pop(entity_name, None) is None:
                return
            self._version += 1
        logger.info("The subscription %s to metrics of clients is now %s", entity_name, dict(config))

    @property
    def has_subscriptions(self) -> bool:
        """Whether clients are to push anything."""
        return bool(self._subscriptions)

    # ── requests ──────────────────────────────────────────────────────────────────────────────────────────────────

    def get_subscriptions(
        self, request: Request, body: GetTelemetrySubscriptionsRequest
    ) -> GetTelemetrySubscriptionsResponse:
        """The subscription of a client, which gets an id if it has none."""
        with self._lock:
            instance = self._instance(body.client_instance_id if body.client_instance_id.int else _new_id(), request)
            error = instance.check_get(instance.last_request_ms)
            if error is not Errors.NONE:
                return GetTelemetrySubscriptionsResponse(error_code=error.code)
            return GetTelemetrySubscriptionsResponse(
                client_instance_id=instance.instance_id,
                subscription_id=instance.subscription_id,
                accepted_compression_types=[codec.code for codec in ACCEPTED],
                push_interval_ms=instance.push_interval_ms,
                telemetry_max_bytes=self._max_bytes,
                delta_temporality=True,
                requested_metrics=sorted(instance.metrics),
            )

    def push(self, request: Request, body: PushTelemetryRequest) -> PushTelemetryResponse:
        """Take the metrics of a client, if it may push them now."""
        if body.client_instance_id in RESERVED_IDS:
            return PushTelemetryResponse(error_code=Errors.INVALID_REQUEST.code)
        with self._lock:
            instance = self._instance(body.client_instance_id, request)
            error = instance.check_push(instance.last_request_ms, body.terminating)
            instance.terminating = body.terminating
            if error is Errors.NONE:
                error = self._check(instance, body)
        if error is Errors.NONE and body.metrics:
            error = self._take(instance, body)
        if error is not Errors.NONE:
            logger.debug("Refusing a push of client %s: %s", encode_uuid(body.client_instance_id), error.name)
        return PushTelemetryResponse(error_code=error.code)

    def _check(self, instance: ClientMetricsInstance, body: PushTelemetryRequest) -> Errors:
        if body.subscription_id != instance.subscription_id:
            self.unknown_subscriptions += 1
            return Errors.UNKNOWN_SUBSCRIPTION_ID
        if body.compression_type not in {CompressionType.NONE.code, *(codec.code for codec in ACCEPTED)}:
            return Errors.UNSUPPORTED_COMPRESSION_TYPE
        return Errors.TELEMETRY_TOO_LARGE if len(body.metrics) > self._max_bytes else Errors.NONE

    def _take(self, instance: ClientMetricsInstance, body: PushTelemetryRequest) -> Errors:
        """Without the lock: decompressing takes time. INVALID_RECORD, as in Kafka if a plugin cannot read it."""
        codec = CompressionType.from_code(body.compression_type)
        try:
            expanded = decompress(codec, body.metrics, magic=2, max_bytes=MAX_EXPANSION * self._max_bytes)
            points = read_metrics_data(expanded)
        except (CorruptRecordError, MetricsDataError, ApiError) as error:
            logger.info("Unreadable metrics of client %s: %s", encode_uuid(instance.instance_id), error)
            return Errors.INVALID_RECORD
        self._store.add(instance.instance_id, instance.attributes, points)
        return Errors.NONE

    # ── clients ───────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def instance_count(self) -> int:
        """How many clients are remembered."""
        return len(self._instances)

    def _instance(self, instance_id: UUID, request: Request) -> ClientMetricsInstance:
        """The client with this id, as it is since the last change of the subscriptions."""
        instance = self._instances.pop(instance_id, None)
        if instance is None:
            instance = self._new_instance(instance_id, _attributes(instance_id, request))
        elif instance.version != self._version:
            instance = self._new_instance(instance_id, instance.attributes)
        instance.last_request_ms = self._time.hi_res_ms()
        self._instances[instance_id] = instance
        if len(self._instances) > MAX_INSTANCES:
            forgotten, _ = self._instances.popitem(last=False)
            self._store.remove(forgotten)
        return instance

    def _new_instance(self, instance_id: UUID, attributes: Mapping[str, str]) -> ClientMetricsInstance:
        matching = [each for each in self._subscriptions.values() if each.matches(attributes)]
        metrics = frozenset[str]().union(*(each.metrics for each in matching))
        if ALL_METRICS in metrics:
            metrics = frozenset({ALL_METRICS})
        interval_ms = min([DEFAULT_INTERVAL_MS, *(each.interval_ms for each in matching)])
        described = f"{sorted(metrics)}{interval_ms}".encode() + instance_id.bytes
        subscription_id = zlib.crc32(described) & MAX_INT32
        return ClientMetricsInstance(instance_id, attributes, metrics, interval_ms, subscription_id, self._version)

    def expire(self) -> None:
        """Forget the clients that have not been heard of for some time, with their metrics."""
        now_ms = self._time.hi_res_ms()
        with self._lock:
            expired = [
                each.instance_id
                for each in self._instances.values()
                if now_ms - each.last_request_ms > max(MIN_EXPIRY_MS, 3 * each.push_interval_ms)
            ]
            for instance_id in expired:
                del self._instances[instance_id]
        for instance_id in expired:
            self._store.remove(instance_id)


def _new_id() -> UUID:
    return UUID(int=random.getrandbits(128), version=4)


def _attributes(instance_id: UUID, request: Request) -> dict[str, str]:
    """The values that subscriptions match. A client that does not tell its software has unknown there."""
    _, _, peer = request.connection_id.partition("-")  # local:port-peer:port-number
    software = request.client_information
    return {
        "client_instance_id": encode_uuid(instance_id),
        "client_id": request.header.client_id or "",
        "client_software_name": software.software_name if software is not None else "",
        "client_software_version": software.software_version if software is not None else "",
        "client_source_address": request.client_address,
        "client_source_port": peer.rpartition("-")[0].rpartition(":")[2],
    }

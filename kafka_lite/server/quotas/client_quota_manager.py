"""Measures what clients send, fetch or change, and delays those that exceed their quotas.

Kafka 0.10.2: core/.../server/ClientQuotaManager.scala; since 2.0 it mutes channels · book 10.1
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace

from kafka_lite.common.time import Time
from kafka_lite.metrics.metrics import Metrics
from kafka_lite.metrics.quota import UNLIMITED, Quota, QuotaViolationError, rate_throttle_time_ms
from kafka_lite.metrics.quota_rate import QuotaRate
from kafka_lite.metrics.sensor import KafkaMetricName, Sensor
from kafka_lite.metrics.stats import Avg, CumulativeSum, MetricConfig
from kafka_lite.server.quotas.client_quota_callback import ClientQuotaCallback
from kafka_lite.server.quotas.client_quota_entity import DEFAULT, SINGLE_TYPES, KafkaQuotaEntity, QuotaTags, QuotaTypes
from kafka_lite.server.quotas.custom_quotas import CustomQuotas, MetricTags
from kafka_lite.server.quotas.default_quota_callback import DefaultQuotaCallback
from kafka_lite.server.quotas.quota_type import QuotaType
from kafka_lite.server.quotas.throttled_channel import (
    DelayQueue,
    ThrottleCallback,
    ThrottledChannel,
    ThrottledChannelReaper,
)

logger = logging.getLogger(__name__)

INACTIVE_SENSOR_EXPIRATION_MS = 3600 * 1000


@dataclass(frozen=True)
class ClientSensors:
    """The sensors of the clients that share a quota."""

    tags: QuotaTags
    quota_sensor: Sensor
    throttle_time_sensor: Sensor


class ClientQuotaManager:
    """The quotas of one type, on one broker: no broker knows what a client does on others.

    ::

        request ─▶ record_and_get_throttle_time_ms ─▶ 0: the response goes out, and that is all
                                                    ─▶ more: throttle ─▶ the channel waits in the delay queue
                                                                         until the reaper takes it out

    All connections of the same user or client id share a sensor, however many they are (see PRECEDENCE). A value is
    recorded before it is compared: it has been sent already, and refusing it would not take it back. Instead the next
    request is read later. There is no list of clients: a sensor that recorded nothing for an hour expires.

    Users are sanitised names, which a connection's session keeps. Times are ms of the monotonic clock.
    """

    metric_name = "byte-rate"
    metric_description = "Tracking byte-rate per user/client-id"

    def __init__(
        self,
        config: MetricConfig,
        metrics: Metrics,
        quota_type: QuotaType,
        time: Time,
        default_bound: float = UNLIMITED,
        callback: ClientQuotaCallback | None = None,
    ) -> None:
        """``config`` has the samples and their length (``quota.window.…``); see DefaultQuotaCallback for the bound.

        ``callback``: whose quotas they are, in place of those in ZooKeeper.
        """
        self.quota_type = quota_type
        self._config = config
        self._metrics = metrics
        self._time = time
        self._custom = None if callback is None else CustomQuotas(callback, quota_type)
        self._callback: DefaultQuotaCallback | CustomQuotas = self._custom or DefaultQuotaCallback(default_bound)
        self._lock = threading.Lock()
        self._is_running = False
        self._delay_queue = DelayQueue(time)
        self._delay_queue_sensor = metrics.sensor(f"{quota_type.value}-delayQueue")
        queue_size = metrics.metric_name("queue-size", quota_type.value, "Tracks the size of the delay queue")
        self._delay_queue_sensor.add(queue_size, CumulativeSum())
        name = f"ThrottledChannelReaper-{quota_type.value}"
        self._reaper = ThrottledChannelReaper(name, self._delay_queue, lambda: self._delay_queue_sensor.record(-1))

    def startup(self) -> None:
        """Let the reaper start with the first delay: most brokers never have one."""
        self._is_running = True

    def shutdown(self) -> None:
        """Stop the reaper. Channels that still wait are closed with the broker's others."""
        with self._lock:
            self._is_running = False
        if self._reaper.is_alive():
            self._reaper.shutdown()

    # ── what clients do ───────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def quotas_enabled(self) -> bool:
        """Whether an entity has ever had a quota, of any kind. As long as there is none, nothing is recorded."""
        return self._callback.types_enabled is not QuotaTypes.NO_QUOTAS

    def maybe_record_and_get_throttle_time_ms(self, user: str, client_id: str, value: float, now_ms: float) -> int:
        """Like ``record_and_get_throttle_time_ms``, but without quotas nothing is recorded."""
        return self.record_and_get_throttle_time_ms(user, client_id, value, now_ms) if self.quotas_enabled else 0

    def record_and_get_throttle_time_ms(self, user: str, client_id: str, value: float, now_ms: float) -> int:
        """Record a value. Returns how long the client is to be delayed, in ms; 0 if it keeps to its quota."""
        sensors = self.sensors_of(user, client_id)
        try:
            self._record_checked(sensors.quota_sensor, value, now_ms)
        except QuotaViolationError as violation:
            throttle_time_ms = self._throttle_time_ms(violation)
            logger.debug("Quota violated for %s: delay %d ms", sensors.quota_sensor.name, throttle_time_ms)
            return throttle_time_ms
        return 0

    def record_no_throttle(self, user: str, client_id: str, value: float) -> None:
        """Record a value that delays nobody by itself, but counts for the next one that is compared."""
        self.sensors_of(user, client_id).quota_sensor.record(value, check_quotas=False)

    def unrecord_quota_sensor(self, user: str, client_id: str, value: float, now_ms: float) -> None:
        """Take a recorded value back: the records of a throttled fetch are not sent."""
        self.sensors_of(user, client_id).quota_sensor.record(-value, now_ms, check_quotas=False)

    def max_value_in_quota_window(self, user: str, client_id: str) -> float:
        """The largest value that an idle client could record without a delay.

        A fetch is cut to it: a larger one would be throttled, answered empty, and tried again for ever.
        """
        if not self.quotas_enabled:
            return UNLIMITED
        limit = self._callback.quota_limit(self._callback.quota_metric_tags(user, client_id))
        if limit == UNLIMITED:
            return UNLIMITED
        return limit * (self._config.samples - 1) * self._config.time_window_ms / 1000

    def throttle(self, user: str, client_id: str, throttle_time_ms: int, callback: ThrottleCallback) -> None:
        """Delay a client's channel, if ``throttle_time_ms`` is more than 0."""
        if throttle_time_ms <= 0:
            return
        self.sensors_of(user, client_id).throttle_time_sensor.record(throttle_time_ms)
        channel = ThrottledChannel(self._time, throttle_time_ms, callback)
        self._delay_queue_sensor.record(1)
        self._delay_queue.add(channel)
        if self._is_running and not self._reaper.is_alive():
            self._start_reaper()

    def _start_reaper(self) -> None:
        with self._lock:
            if self._is_running and self._reaper.ident is None:
                self._reaper.start()

    # ── quotas ────────────────────────────────────────────────────────────────────────────────────────────────────────

    def quota(self, user: str, client_id: str) -> Quota:
        """The quota that applies to a client."""
        return Quota.upper_bound(self._callback.quota_limit(self._callback.quota_metric_tags(user, client_id)))

    def update_quota(self, entity: KafkaQuotaEntity, bound: float | None) -> None:
        """Set the quota of an entity, or remove it (None). It applies to existing sensors at once."""
        with self._lock:
            if bound is None:
                logger.info("Removing the %s quota of %s", self.quota_type.value, entity)
                self._callback.remove_quota(entity)
            else:
                logger.info("Changing the %s quota of %s to %s", self.quota_type.value, entity, bound)
                self._callback.update_quota(entity, bound)
            self._update_quota_metric_configs(entity)

    def _update_quota_metric_configs(self, entity: KafkaQuotaEntity) -> None:
        """Give the metrics that the change may affect their new bounds: one only, or any."""
        is_single = self._callback.types_enabled in SINGLE_TYPES and DEFAULT not in (entity.user, entity.client_id)
        if is_single:
            tags = QuotaTags(str(entity.user or ""), str(entity.client_id or ""))
            found = self._metrics.metric(self._quota_metric_name(tags))
            if found is not None:
                found.config = self._quota_metric_config(tags)
        else:
            self.update_all_quota_metric_configs()

    def update_all_quota_metric_configs(self) -> None:
        """Give all sensors their current bounds."""
        for name, metric in self._metrics.metrics.items():
            if (name.name, name.group) == (self.metric_name, self.quota_type.value):
                metric.config = self._quota_metric_config(MetricTags.of(dict(name.tags)))

    # ── sensors ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def sensors_of(self, user: str, client_id: str) -> ClientSensors:
        """The sensors that a client shares, created if necessary."""
        tags = self._callback.quota_metric_tags(user, client_id)
        kind = self.quota_type.value
        with self._lock:  # no thread may see a sensor that has no metrics yet
            sensors = ClientSensors(
                tags,
                self._sensor(f"{kind}-{tags}", lambda sensor: self._register_quota_metrics(sensor, tags)),
                self._sensor(f"{kind}ThrottleTime-{tags}", lambda sensor: self._register_throttle_time(sensor, tags)),
            )
        if self._custom is not None and self._custom.quota_reset_required():
            self.update_all_quota_metric_configs()
        return sensors

    def _sensor(self, name: str, register: Callable[[Sensor], None]) -> Sensor:
        sensor = self._metrics.get_sensor(name)
        if sensor is None:
            sensor = self._metrics.sensor(name, inactive_expiration_ms=INACTIVE_SENSOR_EXPIRATION_MS)
            register(sensor)
        return sensor

    def _register_quota_metrics(self, sensor: Sensor, tags: QuotaTags) -> None:
        sensor.add(self._quota_metric_name(tags), QuotaRate(), self._quota_metric_config(tags))

    def _register_throttle_time(self, sensor: Sensor, tags: QuotaTags) -> None:
        description = "Tracking average throttle-time per user/client-id"
        sensor.add(self._name("throttle-time", description, tags), Avg())

    def _record_checked(self, sensor: Sensor, value: float, now_ms: float) -> None:
        sensor.record(value, now_ms)

    def _throttle_time_ms(self, violation: QuotaViolationError) -> int:
        return rate_throttle_time_ms(violation)

    def _quota_metric_config(self, tags: QuotaTags) -> MetricConfig:
        limit = self._callback.quota_limit(tags)
        return replace(self._config, quota=None if limit == UNLIMITED else Quota.upper_bound(limit))

    def _quota_metric_name(self, tags: QuotaTags) -> KafkaMetricName:
        return self._name(self.metric_name, self.metric_description, tags)

    def _name(self, name: str, description: str, tags: QuotaTags) -> KafkaMetricName:
        return self._metrics.metric_name(name, self.quota_type.value, description, tags.as_dict())

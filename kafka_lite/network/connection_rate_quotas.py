"""How many connections per second the broker, a listener and an address may open.

Kafka 2.7: core/.../network/SocketServer.scala (ConnectionQuotas, ListenerConnectionQuota), KIP-612 · book 10.1
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from kafka_lite.common.errors import KafkaError
from kafka_lite.common.time import Time
from kafka_lite.metrics.metrics import Metrics
from kafka_lite.metrics.quota import Quota, QuotaViolationError, rate_throttle_time_ms
from kafka_lite.metrics.quota_rate import QuotaRate
from kafka_lite.metrics.sensor import KafkaMetricName, Sensor
from kafka_lite.metrics.stats import Avg, MetricConfig

logger = logging.getLogger(__name__)

UNLIMITED_RATE = (1 << 31) - 1
METRICS_GROUP = "socket-server-metrics"
SENSOR_NAME, METRIC_NAME = "Connection-Accept-Rate", "connection-accept-rate"
IP_SENSOR_EXPIRATION_MS = 3600 * 1000


class ConnectionThrottledError(KafkaError):
    """An address opens connections too fast: close this one, but only after ``throttle_time_ms``.

    A client that is refused at once would try again at once.
    """

    def __init__(self, address: str, throttle_time_ms: int) -> None:
        super().__init__(f"{address} is throttled for {throttle_time_ms} ms")
        self.address = address
        self.throttle_time_ms = throttle_time_ms


@dataclass(frozen=True)
class ListenerSensors:
    """The rate of a listener, and its delays: by its own rate or the broker's, and by those of addresses."""

    rate: Sensor
    throttle_time: Sensor
    ip_throttle_time: Sensor


@dataclass(frozen=True)
class ConnectionRateConfig:
    """The rates of the broker's configuration, by its names. Those of addresses are in ZooKeeper."""

    window: MetricConfig = field(default_factory=lambda: MetricConfig(11, 1000))
    """The samples and their length: ``quota.window.…``."""
    max_connection_creation_rate: int = UNLIMITED_RATE
    listener_rates: Mapping[str, int] = field(default_factory=dict)
    """Listener → ``listener.name.L.max.connection.creation.rate``."""
    protected_listener: str | None = None
    """The inter-broker listener, if it is not the only one."""


class ConnectionRateQuotas:
    """The rates of new connections, as the acceptors ask::

        broker      max.connection.creation.rate                     ┐ record_connection: how long the acceptor of the
        listener    listener.name.L.max.connection.creation.rate     ┘ listener waits before it hands the connection on
        address     /config/ips/A: connection_creation_rate            record_ip_connection: this one is refused

    The inter-broker listener is not limited by the broker's rate: clients that reconnect in a storm must not part the
    brokers from each other. Delays are at most one window.
    """

    def __init__(self, config: ConnectionRateConfig, metrics: Metrics, time: Time) -> None:
        self._config = config.window
        self._metrics = metrics
        self._time = time
        self._protected_listener = config.protected_listener
        self._configured_listener_rates = config.listener_rates
        self._lock = threading.Lock()
        self._default_ip_rate = UNLIMITED_RATE
        self._ip_rates: dict[str, int] = {}
        self._listeners: dict[str, ListenerSensors] = {}
        broker_rate = config.max_connection_creation_rate
        self._broker_sensor = self._rate_sensor(SENSOR_NAME, self._broker_name(), broker_rate)

    # ── new connections ───────────────────────────────────────────────────────────────────────────────────────────────

    def record_connection(self, listener: str) -> int:
        """Count a connection. Returns how long its acceptor is to wait, in ms; the longer one of the two delays."""
        now_ms = self._time.hi_res_ms()
        with self._lock:
            throttle_time_ms = 0
            if listener != self._protected_listener:
                throttle_time_ms = self._record(self._broker_sensor, now_ms)
            sensors = self._listeners[listener]
            throttle_time_ms = max(throttle_time_ms, self._record(sensors.rate, now_ms))
            if throttle_time_ms > 0:
                sensors.throttle_time.record(throttle_time_ms, now_ms)
            return throttle_time_ms

    def record_ip_connection(self, listener: str, address: str) -> None:
        """Count a connection of an address. Raises ConnectionThrottledError; then it is counted nowhere."""
        now_ms = self._time.hi_res_ms()
        with self._lock:
            rate = self.connection_rate_for_ip(address)
            if rate == UNLIMITED_RATE:
                return
            name = f"{SENSOR_NAME}-{address}"
            sensor = self._rate_sensor(name, self._ip_name(address), rate, IP_SENSOR_EXPIRATION_MS)
            throttle_time_ms = self._record(sensor, now_ms)
            if throttle_time_ms == 0:
                return
            self._take_back(listener, sensor, now_ms)
            self._listeners[listener].ip_throttle_time.record(throttle_time_ms, now_ms)
        raise ConnectionThrottledError(address, throttle_time_ms)

    def _record(self, sensor: Sensor, now_ms: float) -> int:
        try:
            sensor.record(1, now_ms)
        except QuotaViolationError as violation:
            return rate_throttle_time_ms(violation, int(self._config.time_window_ms))
        return 0

    def _take_back(self, listener: str, ip_sensor: Sensor, now_ms: float) -> None:
        """Uncount a connection that is refused: it must not count against the others of its listener."""
        sensors = [ip_sensor, self._listeners[listener].rate]
        if listener != self._protected_listener:
            sensors.append(self._broker_sensor)
        for sensor in sensors:
            sensor.record(-1, now_ms, check_quotas=False)

    # ── rates ─────────────────────────────────────────────────────────────────────────────────────────────────────────

    def connection_rate_for_ip(self, address: str) -> int:
        """Connections per second of an address."""
        return self._ip_rates.get(address, self._default_ip_rate)

    def update_broker_rate(self, rate: int) -> None:
        """Set the broker's rate."""
        self._set_bound(self._broker_name(), rate)

    def update_listener_rate(self, listener: str, rate: int) -> None:
        """Set the rate of a listener."""
        self._set_bound(self._listener_name(listener), rate)

    def update_ip_rate(self, address: str | None, rate: int | None) -> None:
        """Set the rate of an address, or of all that have none of their own (None); a rate of None removes it."""
        with self._lock:
            if address is None:
                self._default_ip_rate = UNLIMITED_RATE if rate is None else rate
            elif rate is None:
                self._ip_rates.pop(address, None)
            else:
                self._ip_rates[address] = rate
            logger.info("The connection rate of %s is now %s", address or "addresses without one", rate)
            affected = [address] if address is not None else self._known_addresses()
            for each in affected:
                self._set_bound(self._ip_name(each), self.connection_rate_for_ip(each))

    def _known_addresses(self) -> list[str]:
        names = [name for name in self._metrics.metrics if (name.name, name.group) == (METRIC_NAME, METRICS_GROUP)]
        return [value for name in names for key, value in name.tags if key == "ip"]

    # ── listeners and sensors ─────────────────────────────────────────────────────────────────────────────────────────

    def add_listener(self, listener: str) -> None:
        """Count the connections of a listener, too."""
        rate = self._configured_listener_rates.get(listener, UNLIMITED_RATE)
        with self._lock:
            self._listeners[listener] = ListenerSensors(
                self._rate_sensor(f"{SENSOR_NAME}-{listener}", self._listener_name(listener), rate),
                self._throttle_sensor("", listener),
                self._throttle_sensor("ip-", listener),
            )

    def remove_listener(self, listener: str) -> None:
        """Forget a listener."""
        with self._lock:
            sensors = self._listeners.pop(listener)
        for sensor in (sensors.rate, sensors.throttle_time, sensors.ip_throttle_time):
            self._metrics.remove_sensor(sensor.name)

    def _rate_sensor(
        self, name: str, metric: KafkaMetricName, rate: int, expiration_ms: float = float("inf")
    ) -> Sensor:
        sensor = self._metrics.get_sensor(name)
        if sensor is None:
            sensor = self._metrics.sensor(name, inactive_expiration_ms=expiration_ms)
            sensor.add(metric, QuotaRate(), self._metric_config(rate))
        return sensor

    def _throttle_sensor(self, prefix: str, listener: str) -> Sensor:
        sensor = self._metrics.sensor(f"{prefix}ConnectionRateThrottleTime-{listener}")
        description = "Tracking average throttle-time, out of non-zero throttle times, per listener"
        name = f"{prefix}connection-accept-throttle-time"
        sensor.add(self._metrics.metric_name(name, METRICS_GROUP, description, {"listener": listener}), Avg())
        return sensor

    def _set_bound(self, name: KafkaMetricName, rate: int) -> None:
        metric = self._metrics.metric(name)
        if metric is not None:
            metric.config = self._metric_config(rate)

    def _metric_config(self, rate: int) -> MetricConfig:
        return replace(self._config, quota=Quota.upper_bound(rate))

    def _broker_name(self) -> KafkaMetricName:
        return self._rate_name(f"broker-{METRIC_NAME}", {})

    def _listener_name(self, listener: str) -> KafkaMetricName:
        return self._rate_name(METRIC_NAME, {"listener": listener})

    def _ip_name(self, address: str) -> KafkaMetricName:
        return self._rate_name(METRIC_NAME, {"ip": address})

    def _rate_name(self, name: str, tags: dict[str, str]) -> KafkaMetricName:
        description = "Tracking rate of accepting new connections (per second)"
        return self._metrics.metric_name(name, METRICS_GROUP, description, tags)

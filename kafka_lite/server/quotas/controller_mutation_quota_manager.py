"""Limits how many partitions a client may create or delete per second.

Kafka 2.7: core/.../server/ControllerMutationQuotaManager.scala (ControllerMutationQuota,
StrictControllerMutationQuota, PermissiveControllerMutationQuota), KIP-599 · book 10.1
"""

from __future__ import annotations

from typing import Protocol

from kafka_lite.common.errors import Errors
from kafka_lite.common.time import Time
from kafka_lite.metrics.metrics import Metrics
from kafka_lite.metrics.quota import QuotaViolationError, tokens_throttle_time_ms
from kafka_lite.metrics.sensor import Sensor
from kafka_lite.metrics.stats import MetricConfig, Rate
from kafka_lite.metrics.token_bucket import TokenBucket
from kafka_lite.server.quotas.client_quota_callback import ClientQuotaCallback
from kafka_lite.server.quotas.client_quota_entity import QuotaTags
from kafka_lite.server.quotas.client_quota_manager import ClientQuotaManager
from kafka_lite.server.quotas.quota_type import QuotaType


class ControllerMutationQuota(Protocol):
    """The quota of one request, which asks it before each topic that it changes."""

    @property
    def is_unbounded(self) -> bool:
        """Whether there is no quota, so that nothing need be recorded."""
        ...

    @property
    def is_exceeded(self) -> bool:
        """Whether nothing more may be changed."""
        ...

    def record(self, permits: float) -> None:
        """Take tokens, one for each partition. Raises THROTTLING_QUOTA_EXCEEDED if the quota is strict and used up."""
        ...

    @property
    def throttle_time_ms(self) -> int:
        """The rest of the delay, in ms."""
        ...


class UnboundedControllerMutationQuota:
    """No quota."""

    is_unbounded = True
    is_exceeded = False
    throttle_time_ms = 0

    def record(self, permits: float) -> None:
        """Do nothing."""


class _ThrottledQuota:
    """The common part of strict and permissive quotas: the delay, which goes by while the request waits."""

    is_unbounded = False

    def __init__(self, time: Time, quota_sensor: Sensor) -> None:
        self._time = time
        self._quota_sensor = quota_sensor
        self._last_throttle_time_ms = 0
        self._last_recorded_ms = 0.0

    @property
    def throttle_time_ms(self) -> int:
        """The rest of the delay, in ms: topics may have been waited for since it was computed."""
        elapsed_ms = self._time.hi_res_ms() - self._last_recorded_ms
        return max(0, int(self._last_throttle_time_ms - elapsed_ms))

    def _update_throttle_time(self, violation: QuotaViolationError, now_ms: float) -> None:
        self._last_throttle_time_ms = tokens_throttle_time_ms(violation)
        self._last_recorded_ms = now_ms


class StrictControllerMutationQuota(_ThrottledQuota):
    """Refuses changes while the bucket is in debt: for clients that know THROTTLING_QUOTA_EXCEEDED.

    A topic that is admitted may put the bucket in debt by any number of partitions, so a large one can be created at
    all.
    """

    @property
    def is_exceeded(self) -> bool:
        """Whether a change has been refused."""
        return self._last_throttle_time_ms > 0

    def record(self, permits: float) -> None:
        """Take tokens. Raises THROTTLING_QUOTA_EXCEEDED, and takes none, while the bucket is in debt."""
        now_ms = self._time.hi_res_ms()
        try:
            self._quota_sensor.check_then_record(permits, now_ms)
        except QuotaViolationError as violation:
            self._update_throttle_time(violation, now_ms)
            raise Errors.THROTTLING_QUOTA_EXCEEDED.exception() from None


class PermissiveControllerMutationQuota(_ThrottledQuota):
    """Admits everything and only delays: for older clients, which would take the error for a failure."""

    is_exceeded = False

    def record(self, permits: float) -> None:
        """Take tokens, even more than there are."""
        now_ms = self._time.hi_res_ms()
        try:
            self._quota_sensor.record(permits, now_ms)
        except QuotaViolationError as violation:
            self._update_throttle_time(violation, now_ms)


class ControllerMutationQuotaManager(ClientQuotaManager):
    """The quota of changed partitions: a token bucket, so that a large change is followed by a long pause.

    With a rate over samples, as bandwidth has it, a change of any size would be forgotten after some seconds.
    """

    metric_name = "tokens"
    metric_description = "Tracking remaining tokens in the token bucket per user/client-id"

    def __init__(
        self, config: MetricConfig, metrics: Metrics, time: Time, callback: ClientQuotaCallback | None = None
    ) -> None:
        super().__init__(config, metrics, QuotaType.CONTROLLER_MUTATION, time, callback=callback)

    def new_strict_quota_for(self, user: str, client_id: str) -> ControllerMutationQuota:
        """The quota of a request that may be refused."""
        if not self.quotas_enabled:
            return UnboundedControllerMutationQuota()
        return StrictControllerMutationQuota(self._time, self.sensors_of(user, client_id).quota_sensor)

    def new_permissive_quota_for(self, user: str, client_id: str) -> ControllerMutationQuota:
        """The quota of a request that is only delayed."""
        if not self.quotas_enabled:
            return UnboundedControllerMutationQuota()
        return PermissiveControllerMutationQuota(self._time, self.sensors_of(user, client_id).quota_sensor)

    def new_quota_for(
        self, user: str, client_id: str, api_version: int, strict_since_version: int
    ) -> ControllerMutationQuota:
        """The quota of a request, by its version.

        CreateTopics is strict since version 6, DeleteTopics since 5, CreatePartitions since 3.
        """
        if api_version >= strict_since_version:
            return self.new_strict_quota_for(user, client_id)
        return self.new_permissive_quota_for(user, client_id)

    def _register_quota_metrics(self, sensor: Sensor, tags: QuotaTags) -> None:
        description = "Tracking mutation-rate per user/client-id"
        sensor.add(self._name("mutation-rate", description, tags), Rate())
        sensor.add(self._quota_metric_name(tags), TokenBucket(), self._quota_metric_config(tags))

    def _record_checked(self, sensor: Sensor, value: float, now_ms: float) -> None:
        sensor.check_then_record(value, now_ms)

    def _throttle_time_ms(self, violation: QuotaViolationError) -> int:
        return tokens_throttle_time_ms(violation)

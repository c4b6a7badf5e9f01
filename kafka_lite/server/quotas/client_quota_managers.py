"""The four quotas of clients, and the keys that set them.

Kafka 2.7: core/.../server/QuotaFactory.scala (QuotaManagers), ConfigHandler.scala (QuotaConfigHandler) · book 10.1
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from kafka_lite.clients.cluster import Cluster
from kafka_lite.common.config_def import ConfigError
from kafka_lite.common.time import Time
from kafka_lite.metrics.metrics import Metrics
from kafka_lite.metrics.quota import UNLIMITED
from kafka_lite.metrics.stats import MetricConfig
from kafka_lite.server.quotas.client_quota_callback import ClientQuotaCallback
from kafka_lite.server.quotas.client_quota_entity import KafkaQuotaEntity
from kafka_lite.server.quotas.client_quota_manager import ClientQuotaManager
from kafka_lite.server.quotas.client_request_quota_manager import ClientRequestQuotaManager
from kafka_lite.server.quotas.controller_mutation_quota_manager import ControllerMutationQuotaManager
from kafka_lite.server.quotas.custom_quotas import tell_of_metadata
from kafka_lite.server.quotas.quota_type import QuotaType

QUOTA_KEYS: Mapping[QuotaType, tuple[str, Callable[[str], float]]] = {
    QuotaType.PRODUCE: ("producer_byte_rate", int),
    QuotaType.FETCH: ("consumer_byte_rate", int),
    QuotaType.REQUEST: ("request_percentage", float),
    QuotaType.CONTROLLER_MUTATION: ("controller_mutation_rate", float),
}
"""The limited resource → the key in ``/config/users`` and ``/config/clients``, and how its value is read."""


@dataclass
class ClientQuotaManagers:
    """Bytes produced and fetched, time of threads, and partitions created and deleted."""

    produce: ClientQuotaManager
    fetch: ClientQuotaManager
    request: ClientRequestQuotaManager
    controller_mutation: ControllerMutationQuotaManager
    callback: ClientQuotaCallback | None = None
    """The class of the user that decides, in place of the quotas in ZooKeeper."""
    is_enabled: bool = False
    """Whether there is, or has been, any quota. Until then requests pay for this look at it, and for nothing else."""

    def __post_init__(self) -> None:
        self._note_enabled()

    def _note_enabled(self) -> None:
        self.is_enabled = any(manager.quotas_enabled for manager in self)

    def __iter__(self) -> Iterator[ClientQuotaManager]:
        return iter((self.produce, self.fetch, self.request, self.controller_mutation))

    def startup(self) -> None:
        """Let the reapers start when there is something to reap."""
        for manager in self:
            manager.startup()

    def shutdown(self) -> None:
        """Stop the reapers, and close the callback."""
        for manager in self:
            manager.shutdown()
        if self.callback is not None:
            self.callback.close()

    def update_quotas(self, entity: KafkaQuotaEntity, config: Mapping[str, str]) -> None:
        """Apply all quotas of an entity; one whose key is missing is removed. Raises ConfigError, and changes none."""
        bounds = [_bound(config, manager.quota_type) for manager in self]
        for manager, bound in zip(self, bounds, strict=True):
            manager.update_quota(entity, bound)
        self._note_enabled()

    def update_cluster_metadata(self, cluster: Callable[[], Cluster]) -> None:
        """Hand metadata over to the callback, if there is one, and apply the limits that change with it."""
        if self.callback is not None and tell_of_metadata(self.callback, cluster()):
            self.update_all_quota_metric_configs()

    def update_all_quota_metric_configs(self) -> None:
        """Give all sensors of all types their current bounds."""
        for manager in self:
            manager.update_all_quota_metric_configs()


def client_quota_managers(
    config: MetricConfig,
    controller_config: MetricConfig,
    metrics: Metrics,
    time: Time,
    producer_default: float = UNLIMITED,
    consumer_default: float = UNLIMITED,
    callback: ClientQuotaCallback | None = None,
) -> ClientQuotaManagers:
    """The quotas of a broker.

    The configurations have the samples of ``quota.window.…`` and ``controller.quota.window.…``; the next two values are
    ``quota.producer.default`` and ``quota.consumer.default``, which a callback takes the place of.
    """
    return ClientQuotaManagers(
        ClientQuotaManager(config, metrics, QuotaType.PRODUCE, time, producer_default, callback),
        ClientQuotaManager(config, metrics, QuotaType.FETCH, time, consumer_default, callback),
        ClientRequestQuotaManager(config, metrics, time, callback),
        ControllerMutationQuotaManager(controller_config, metrics, time, callback),
        callback,
    )


def _bound(config: Mapping[str, str], quota_type: QuotaType) -> float | None:
    key, parse = QUOTA_KEYS[quota_type]
    text = config.get(key)
    if text is None:
        return None
    try:
        bound = parse(text)
    except ValueError:
        raise ConfigError(key, text, "Not a number") from None
    if math.isnan(bound) or bound < 0:
        raise ConfigError(key, text, "Value must be at least 0")
    return bound

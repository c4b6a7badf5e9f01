"""Stands between a ``ClientQuotaCallback`` of the user and the quota managers, so that its errors harm nobody.

Kafka 2.0: core/.../server/ClientQuotaManager.scala (quotaCallback), QuotaFactory.scala, DynamicBrokerConfig.scala
(DynamicClientQuotaCallback) · book 10.1
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeVar

from kafka_lite.clients.cluster import Cluster
from kafka_lite.common.config_def import ConfigError
from kafka_lite.common.new_instance import new_instance
from kafka_lite.common.security.kafka_principal import USER_TYPE, KafkaPrincipal
from kafka_lite.metrics.quota import UNLIMITED
from kafka_lite.server.kafka_config import KafkaConfig
from kafka_lite.server.quotas.client_quota_callback import (
    ClientQuotaCallback,
    ClientQuotaEntity,
    ConfigEntity,
    ConfigEntityType,
)
from kafka_lite.server.quotas.client_quota_entity import DEFAULT, KafkaQuotaEntity, QuotaTags, QuotaTypes
from kafka_lite.server.quotas.quota_type import QuotaType
from kafka_lite.zookeeper.sanitizer import desanitize

logger = logging.getLogger(__name__)

CLASS_NAME = "client.quota.callback.class"
R = TypeVar("R")


@dataclass(frozen=True)
class MetricTags(QuotaTags):
    """Tags of any names, in their order."""

    items: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, tags: Mapping[str, str]) -> MetricTags:
        """These tags; the user and the client id among them, for the lookup of Kafka's own quotas."""
        return cls(tags.get("user", ""), tags.get("client-id", ""), tuple(tags.items()))

    def as_dict(self) -> dict[str, str]:
        """The tags."""
        return dict(self.items)

    def __str__(self) -> str:
        """Names and values: two sets of tags may have equal values. In Kafka they would share a sensor."""
        return ",".join(f"{name}={value}" for name, value in self.items)


class CustomQuotas:
    """A callback's quotas of one type, with the methods of ``DefaultQuotaCallback``.

    An error of the callback is logged, and then the client is not limited: it is the broker's, not the client's.
    """

    types_enabled = QuotaTypes.CUSTOM_QUOTAS

    def __init__(self, callback: ClientQuotaCallback, quota_type: QuotaType) -> None:
        self._callback = callback
        self._type = quota_type

    def update_quota(self, entity: KafkaQuotaEntity, bound: float) -> None:
        """Tell the callback of the quota of an entity."""
        self._ask("update_quota", lambda: self._callback.update_quota(self._type, client_quota_entity(entity), bound))

    def remove_quota(self, entity: KafkaQuotaEntity) -> None:
        """Tell the callback that an entity has no quota."""
        self._ask("remove_quota", lambda: self._callback.remove_quota(self._type, client_quota_entity(entity)))

    def quota_metric_tags(self, user: str, client_id: str) -> QuotaTags:
        """The tags of this client's sensor. ``user`` is sanitised."""
        principal = _principal(user)
        found = self._ask("tags", lambda: self._callback.quota_metric_tags(self._type, principal, client_id).items())
        return MetricTags.of({str(name): str(value) for name, value in found or ()})

    def quota_limit(self, tags: QuotaTags) -> float:
        """The bound of the sensor with these tags; UNLIMITED if there is none."""
        limit = self._ask("limit", lambda: self._callback.quota_limit(self._type, tags.as_dict()))
        return UNLIMITED if limit is None else limit

    def quota_reset_required(self) -> bool:
        """Whether the bounds of sensors have to be read again."""
        return bool(self._ask("quota_reset_required", lambda: self._callback.quota_reset_required(self._type)))

    def _ask(self, what: str, question: Callable[[], R]) -> R | None:
        try:
            return question()
        except Exception:
            logger.exception("%s: %s of %s failed; nobody is limited by it", CLASS_NAME, what, self._type.name)
            return None


def client_quota_entity(entity: KafkaQuotaEntity) -> ClientQuotaEntity:
    """An entity as callbacks see it."""
    parts: list[ConfigEntity] = []
    if entity.user is DEFAULT:
        parts.append(ConfigEntity(ConfigEntityType.DEFAULT_USER, DEFAULT.value))
    elif entity.user is not None:
        parts.append(ConfigEntity(ConfigEntityType.USER, desanitize(str(entity.user))))
    if entity.client_id is DEFAULT:
        parts.append(ConfigEntity(ConfigEntityType.DEFAULT_CLIENT_ID, DEFAULT.value))
    elif entity.client_id is not None:
        parts.append(ConfigEntity(ConfigEntityType.CLIENT_ID, str(entity.client_id)))
    return ClientQuotaEntity(tuple(parts))


@lru_cache(maxsize=1000)
def _principal(user: str) -> KafkaPrincipal:
    return KafkaPrincipal(USER_TYPE, desanitize(user))


def load_client_quota_callback(config: KafkaConfig) -> ClientQuotaCallback | None:
    """The callback of ``client.quota.callback.class``, configured; None if there is none.

    Raises ConfigError, and whatever the class raises.
    """
    name = config.values[CLASS_NAME]
    if name is None:
        return None
    callback: ClientQuotaCallback = new_instance(CLASS_NAME, ClientQuotaCallback, name)
    callback.configure({**config.original, "broker.id": config.broker_id})
    logger.info("Quotas of clients are decided by %s", name)
    return callback


def tell_of_metadata(callback: ClientQuotaCallback, cluster: Cluster) -> bool:
    """Whether limits have changed with the metadata. An error is logged: the broker needs the metadata all the same."""
    try:
        return callback.update_cluster_metadata(cluster)
    except Exception:
        logger.exception("%s: update_cluster_metadata failed", CLASS_NAME)
        return False


class DynamicClientQuotaCallback:
    """A BrokerReconfigurable for the keys of a callback."""

    def __init__(self, callback: ClientQuotaCallback, on_changed: Callable[[], None]) -> None:
        """``on_changed`` is called after a change of keys: limits may be others."""
        self.reconfigurable_configs = frozenset(callback.reconfigurable_configs)
        self._callback = callback
        self._on_changed = on_changed

    def validate_reconfiguration(self, new_config: KafkaConfig) -> None:
        """Raise ConfigError if the callback does not accept its keys, or fails with any other error."""
        try:
            self._callback.validate_reconfiguration(new_config.original)
        except ConfigError:
            raise
        except Exception as error:
            key = min(self.reconfigurable_configs)
            raise ConfigError(key, new_config.original.get(key), f"{type(error).__name__}: {error}") from error

    def reconfigure(self, new_config: KafkaConfig) -> None:
        """Hand the keys over. An error is logged: one at the start must not keep the broker from starting."""
        try:
            self._callback.reconfigure(new_config.original)
        except Exception:
            logger.exception("%s: reconfigure failed", CLASS_NAME)
        self._on_changed()

"""The base class of quotas of one's own, which ``client.quota.callback.class`` names.

Kafka 2.0: clients/.../server/quota/ClientQuotaCallback.java, ClientQuotaEntity.java, KIP-257 · book 10.1
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto

from kafka_lite.clients.cluster import Cluster
from kafka_lite.common.security.kafka_principal import KafkaPrincipal
from kafka_lite.server.quotas.quota_type import QuotaType


class ConfigEntityType(Enum):
    """The kind of name that a part of an entity has."""

    USER = auto()
    CLIENT_ID = auto()
    DEFAULT_USER = auto()
    DEFAULT_CLIENT_ID = auto()


@dataclass(frozen=True)
class ConfigEntity:
    """A part of an entity. The name is as users write it; that of a default is ``<default>``."""

    entity_type: ConfigEntityType
    name: str


@dataclass(frozen=True)
class ClientQuotaEntity:
    """A user, a client id, or a client id of a user: the owner of a quota that ``kafka-lite configs`` has set."""

    config_entities: tuple[ConfigEntity, ...]
    """One part, or the user and then the client id."""


class ClientQuotaCallback(ABC):
    """Decides who shares a quota, and how large it is::

        # my_company/quotas.py                                # server.properties
        class Tenants(ClientQuotaCallback):                   client.quota.callback.class=my_company.quotas.Tenants
            def quota_metric_tags(self, quota_type, principal, client_id):
                return {"tenant": principal.name.split("-")[0]}

            def quota_limit(self, quota_type, metric_tags):
                return 1_000_000.0 if quota_type is QuotaType.PRODUCE else None

    ::

        a request               quota_metric_tags ─▶ the sensor of these tags ─▶ quota_reset_required ─▶ delay, or none
        the first of its tags   quota_limit        ─▶ the bound of the sensor
        any change below        quota_limit        ─▶ the bounds of all sensors
              kafka-lite configs      update_quota, remove_quota
              the controller          update_cluster_metadata, if it returns True
              the callback itself     quota_reset_required, if it returns True

    Request handlers and network threads ask at the same time, for every request, so it has to be thread-safe, and
    quick. An exception is logged, and the request is not limited.
    """

    def configure(self, configs: Mapping[str, object]) -> None:  # noqa: B027  # not every one has keys
        """Called once, with all keys of ``server.properties`` and ``broker.id``; an exception ends the broker's
        start."""

    @abstractmethod
    def quota_metric_tags(self, quota_type: QuotaType, principal: KafkaPrincipal, client_id: str) -> Mapping[str, str]:
        """The tags of a client's sensor: clients with equal tags share a quota. They are the tags of its beans, too."""

    @abstractmethod
    def quota_limit(self, quota_type: QuotaType, metric_tags: Mapping[str, str]) -> float | None:
        """The quota of these tags, in the unit of the type; None: no limit, or the tags are no longer in use.

        Bytes per second, percent of a thread's time, or partitions per second. Tags are those of an earlier
        ``quota_metric_tags``.
        """

    def update_quota(  # noqa: B027  # its quotas may come from elsewhere
        self, quota_type: QuotaType, entity: ClientQuotaEntity, new_value: float
    ) -> None:
        """A quota in ZooKeeper was set, or is there at the start of the broker."""

    def remove_quota(self, quota_type: QuotaType, entity: ClientQuotaEntity) -> None:  # noqa: B027
        """An entity in ZooKeeper has no, or no longer a, quota of this type."""

    def quota_reset_required(self, quota_type: QuotaType) -> bool:  # noqa: ARG002
        """Whether limits have changed since the last call for this type, for another reason than the other methods.

        Called for each request: look at a flag, and reset it.
        """
        return False

    def update_cluster_metadata(self, cluster: Cluster) -> bool:  # noqa: ARG002
        """The controller has sent metadata. Returns whether limits have changed.

        For quotas that depend on how many partitions this broker leads. Topics that are being deleted are missing.
        """
        return False

    @property
    def reconfigurable_configs(self) -> frozenset[str]:
        """The callback's own keys that can change while the broker runs."""
        return frozenset()

    def validate_reconfiguration(self, configs: Mapping[str, object]) -> None:  # noqa: B027
        """Raise ConfigError if these keys cannot be applied."""

    def reconfigure(self, configs: Mapping[str, object]) -> None:  # noqa: B027
        """Apply new values of ``reconfigurable_configs``; ``configs`` has all keys. Limits are read again then."""

    def close(self) -> None:  # noqa: B027  # not every one has something to close
        """Called once, when the broker has stopped serving."""

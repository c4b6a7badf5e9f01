"""Quotas of a user's own, which a broker loads by their name: those of Kafka's own test of KIP-257."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

from kafka_lite.clients.cluster import Cluster
from kafka_lite.common.config_def import ConfigError
from kafka_lite.common.security.kafka_principal import KafkaPrincipal
from kafka_lite.server.quotas.client_quota_callback import ClientQuotaCallback, ClientQuotaEntity
from kafka_lite.server.quotas.quota_type import QuotaType

DEFAULT_KEY = "default.produce.quota"


class GroupQuotas(ClientQuotaCallback):
    """The users ``red_1`` and ``red_2`` share what is set for the user ``red_``, or the default, of which each broker
    gets the part that it leads of the partitions of the group's topics."""

    instances: ClassVar[list[Self]] = []

    def __init__(self) -> None:
        self.configs: dict[str, Any] = {}
        self.quotas: dict[tuple[QuotaType, str], float] = {}
        self.parts: dict[str, float] = {}
        self.is_changed = dict.fromkeys(QuotaType, False)
        self.calls: list[tuple[Any, ...]] = []
        self.closed = 0
        type(self).instances.append(self)

    def configure(self, configs: Mapping[str, object]) -> None:
        self.configs = dict(configs)

    @property
    def reconfigurable_configs(self) -> frozenset[str]:
        return frozenset({DEFAULT_KEY})

    def validate_reconfiguration(self, configs: Mapping[str, object]) -> None:
        if configs.get(DEFAULT_KEY) == "0":
            raise ConfigError(DEFAULT_KEY, "0", "too little")
        float(str(configs[DEFAULT_KEY]))

    def reconfigure(self, configs: Mapping[str, object]) -> None:
        self.quotas[QuotaType.PRODUCE, ""] = float(str(configs[DEFAULT_KEY]))

    def quota_metric_tags(self, quota_type: QuotaType, principal: KafkaPrincipal, client_id: str) -> Mapping[str, str]:
        if client_id == "broken":
            raise RuntimeError("no tags for you")
        self.calls.append((quota_type, principal, client_id))
        group = group_of(principal.name)
        return {} if self._quota(quota_type, group) is None else {"group": group}

    def quota_limit(self, quota_type: QuotaType, metric_tags: Mapping[str, str]) -> float | None:
        group = metric_tags.get("group")
        return None if group is None else self._quota(quota_type, group)

    def _quota(self, quota_type: QuotaType, group: str) -> float | None:
        limit = self.quotas.get((quota_type, group), self.quotas.get((quota_type, "")))
        return None if limit is None else limit * self.parts.get(group, 1)

    def update_quota(self, quota_type: QuotaType, entity: ClientQuotaEntity, new_value: float) -> None:
        self.quotas[quota_type, group_of(entity.config_entities[0].name)] = new_value

    def remove_quota(self, quota_type: QuotaType, entity: ClientQuotaEntity) -> None:
        self.quotas.pop((quota_type, group_of(entity.config_entities[0].name)), None)

    def quota_reset_required(self, quota_type: QuotaType) -> bool:
        was, self.is_changed[quota_type] = self.is_changed[quota_type], False
        return was

    def update_cluster_metadata(self, cluster: Cluster) -> bool:
        before = dict(self.parts)
        for group in {group_of(topic) for topic in cluster.topics}:
            infos = [info for info in cluster.partitions if group_of(info.topic) == group]
            led = [info for info in infos if info.leader and info.leader.id == self.configs["broker.id"]]
            self.parts[group] = max(len(led), 1) / len(infos)
        return self.parts != before

    def close(self) -> None:
        self.closed += 1


def group_of(name: str) -> str:
    """``red`` of ``red_1`` and ``red_``; "" of a name without a group."""
    return name.rpartition("_")[0]


class NoQuotas:
    """Of the wrong kind."""

"""What the base class of callbacks asks of a class, and what it does by itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from kafka_lite.clients.cluster import Cluster
from kafka_lite.common.security.kafka_principal import KafkaPrincipal
from kafka_lite.server.quotas.client_quota_callback import (
    ClientQuotaCallback,
    ClientQuotaEntity,
    ConfigEntity,
    ConfigEntityType,
)
from kafka_lite.server.quotas.quota_type import QuotaType


class Tenants(ClientQuotaCallback):
    """The example of the class's own text."""

    def quota_metric_tags(self, quota_type: QuotaType, principal: KafkaPrincipal, client_id: str) -> Mapping[str, str]:
        return {"tenant": principal.name.split("-")[0]}

    def quota_limit(self, quota_type: QuotaType, metric_tags: Mapping[str, str]) -> float | None:
        return 1_000_000.0 if quota_type is QuotaType.PRODUCE else None


def test_tags_and_limits_are_enough() -> None:
    tenants, entity = Tenants(), ClientQuotaEntity((ConfigEntity(ConfigEntityType.USER, "a"),))
    tenants.configure({})
    tenants.update_quota(QuotaType.FETCH, entity, 1)
    tenants.remove_quota(QuotaType.FETCH, entity)
    assert tenants.quota_metric_tags(QuotaType.PRODUCE, KafkaPrincipal("User", "blue-7"), "c") == {"tenant": "blue"}
    assert [tenants.quota_limit(kind, {}) for kind in QuotaType] == [1_000_000.0, None, None, None]


def test_a_callback_changes_nothing_by_itself() -> None:
    tenants = Tenants()
    assert not any(tenants.quota_reset_required(kind) for kind in QuotaType)
    assert not tenants.update_cluster_metadata(Cluster())
    assert tenants.reconfigurable_configs == frozenset()
    tenants.validate_reconfiguration({})
    tenants.reconfigure({})
    tenants.close()


def test_a_class_without_tags_or_limits_is_none() -> None:
    incomplete: Callable[[], object] = ClientQuotaCallback
    with pytest.raises(TypeError, match="quota_limit"):
        incomplete()

"""The quotas that are set, and the lookup of the one that applies.

Kafka 0.10.2: core/.../server/ClientQuotaManager.scala (quotaEntity); since 2.0 DefaultQuotaCallback · book 10.1
"""

from __future__ import annotations

import threading

from kafka_lite.metrics.quota import UNLIMITED
from kafka_lite.server.quotas.client_quota_entity import (
    PRECEDENCE,
    SINGLE_TYPES,
    KafkaQuotaEntity,
    QuotaTags,
    QuotaTypes,
)


class DefaultQuotaCallback:
    """Entity → bound, for one kind of quota.

    Lookups take no lock: a change replaces the table. While only one type of quota has ever been set, there is nothing
    to look up to know the tags: most clusters limit client ids only, or users only.
    """

    def __init__(self, default_bound: float = UNLIMITED) -> None:
        """``default_bound``: the last level, of client ids: ``quota.producer.default``, ``quota.consumer.default``."""
        self._lock = threading.Lock()
        self._overridden: dict[KafkaQuotaEntity, float] = {}
        self.default_bound = default_bound
        self.types_enabled = QuotaTypes.NO_QUOTAS if default_bound == UNLIMITED else QuotaTypes.CLIENT_ID_QUOTA

    def update_quota(self, entity: KafkaQuotaEntity, bound: float) -> None:
        """Set the quota of an entity."""
        with self._lock:
            self.types_enabled |= entity.type
            self._overridden = {**self._overridden, entity: bound}

    def remove_quota(self, entity: KafkaQuotaEntity) -> None:
        """Remove the quota of an entity, if it has one.

        Its type is enabled nevertheless, as in Kafka: a node without this quota may have one of another kind, and then
        clients are measured for all kinds.
        """
        with self._lock:
            self.types_enabled |= entity.type
            self._overridden = {each: bound for each, bound in self._overridden.items() if each != entity}

    def quota_metric_tags(self, user: str, client_id: str) -> QuotaTags:
        """The tags of this client's sensor. ``user`` is sanitised."""
        types = self.types_enabled
        if types is QuotaTypes.NO_QUOTAS or types is QuotaTypes.CLIENT_ID_QUOTA:
            return QuotaTags("", client_id)
        if types in SINGLE_TYPES:
            return QuotaTags(user, client_id if types is QuotaTypes.USER_CLIENT_ID_QUOTA else "")
        overridden = self._overridden
        for level in PRECEDENCE:
            if level.entity(user, client_id) in overridden:
                return level.tags(user, client_id)
        return QuotaTags("", client_id)

    def quota_limit(self, tags: QuotaTags) -> float:
        """The bound of the sensor with these tags; UNLIMITED if none is set."""
        overridden = self._overridden
        for level in PRECEDENCE:
            if level.can_have_given(tags):
                bound = overridden.get(level.entity(tags.user, tags.client_id))
                if bound is not None:
                    return bound
        return UNLIMITED if tags.user else self.default_bound

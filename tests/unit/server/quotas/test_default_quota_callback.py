"""Which quota applies to a client, and what shares it."""

from __future__ import annotations

from itertools import combinations

import pytest

from kafka_lite.metrics.quota import UNLIMITED
from kafka_lite.server.quotas.client_quota_entity import DEFAULT, PRECEDENCE, KafkaQuotaEntity, QuotaTags, QuotaTypes
from kafka_lite.server.quotas.default_quota_callback import DefaultQuotaCallback

ENTITIES = [level.entity("U", "C") for level in PRECEDENCE]


def quotas(*entities: KafkaQuotaEntity, default_bound: float = UNLIMITED) -> DefaultQuotaCallback:
    """Quotas whose bounds are the numbers of their levels."""
    callback = DefaultQuotaCallback(default_bound)
    for entity in entities:
        callback.update_quota(entity, ENTITIES.index(entity) + 1)
    return callback


def bound(callback: DefaultQuotaCallback, user: str, client_id: str) -> float:
    return callback.quota_limit(callback.quota_metric_tags(user, client_id))


@pytest.mark.parametrize("count", range(1, 9))
def test_the_most_specific_level_applies(count: int) -> None:
    for chosen in combinations(ENTITIES, count):
        callback = quotas(*chosen, default_bound=9)
        first = min(ENTITIES.index(entity) for entity in chosen)
        assert bound(callback, "U", "C") == first + 1
        assert callback.quota_metric_tags("U", "C") == PRECEDENCE[first].tags("U", "C")


def test_other_users_and_clients_get_the_defaults() -> None:
    callback = quotas(*ENTITIES)
    assert [bound(callback, *names) for names in (("U", "D"), ("V", "C"), ("V", "D"))] == [2, 4, 5]


@pytest.mark.parametrize(
    ("entity", "tags"),
    [
        (KafkaQuotaEntity(client_id=DEFAULT), QuotaTags("", "other")),
        (KafkaQuotaEntity("U"), QuotaTags("someone", "")),
        (KafkaQuotaEntity("U", "C"), QuotaTags("someone", "other")),
    ],
)
def test_with_one_type_of_quotas_all_clients_have_its_tags(entity: KafkaQuotaEntity, tags: QuotaTags) -> None:
    assert quotas(entity).quota_metric_tags("someone", "other") == tags


def test_without_a_matching_quota_a_client_is_unlimited_and_has_the_tags_of_its_id() -> None:
    callback = quotas(KafkaQuotaEntity("U"), KafkaQuotaEntity("U", "C"))
    assert callback.quota_metric_tags("V", "D") == QuotaTags("", "D")
    assert bound(callback, "V", "D") == UNLIMITED


def test_the_configured_default_is_for_client_ids_only() -> None:
    """As in 0.10.2, it enables quotas of client ids; beside quotas of users, it is the last level."""
    callback = DefaultQuotaCallback(9)
    assert callback.types_enabled is QuotaTypes.CLIENT_ID_QUOTA
    assert bound(callback, "V", "D") == 9
    assert callback.quota_limit(QuotaTags("V", "")) == UNLIMITED
    callback.update_quota(KafkaQuotaEntity("U"), 3)
    assert [bound(callback, user, "D") for user in "UV"] == [3, 9]


def test_a_removed_quota_no_longer_applies_but_its_type_stays_enabled() -> None:
    callback = quotas(KafkaQuotaEntity("U"), KafkaQuotaEntity(client_id=DEFAULT))
    callback.remove_quota(KafkaQuotaEntity("U"))
    callback.remove_quota(KafkaQuotaEntity("never set"))
    assert bound(callback, "U", "C") == 8
    callback.remove_quota(KafkaQuotaEntity(client_id=DEFAULT))
    assert bound(callback, "U", "C") == UNLIMITED
    assert callback.types_enabled == QuotaTypes.USER_QUOTA | QuotaTypes.CLIENT_ID_QUOTA


def test_an_empty_client_id_does_not_evade_a_default() -> None:
    """In 3.9.1 it does: there an empty part of the tags counts as missing."""
    assert bound(quotas(KafkaQuotaEntity(client_id=DEFAULT)), "U", "") == 8
    assert bound(quotas(KafkaQuotaEntity("U", DEFAULT)), "U", "") == 2
    assert bound(quotas(KafkaQuotaEntity("U", DEFAULT), KafkaQuotaEntity("U")), "U", "") == 2
    assert bound(quotas(KafkaQuotaEntity("U"), KafkaQuotaEntity(client_id=DEFAULT)), "U", "") == 3

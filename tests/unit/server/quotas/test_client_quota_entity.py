"""Entities, their names in ZooKeeper, and the levels of the precedence."""

from __future__ import annotations

import pytest

from kafka_lite.server.quotas.client_quota_entity import (
    DEFAULT,
    PRECEDENCE,
    KafkaQuotaEntity,
    QuotaTags,
    QuotaTypes,
)


@pytest.mark.parametrize(
    ("user", "client_id", "entity", "text"),
    [
        ("alice", None, KafkaQuotaEntity("alice"), "user alice"),
        ("<default>", None, KafkaQuotaEntity(DEFAULT), "default user"),
        (None, "a%20b", KafkaQuotaEntity(client_id="a b"), "client-id a b"),
        (None, "%3Cdefault%3E", KafkaQuotaEntity(client_id="<default>"), "client-id <default>"),
        ("a%20b", "<default>", KafkaQuotaEntity("a%20b", DEFAULT), "user a%20b default client-id"),
    ],
)
def test_an_entity_is_read_from_the_names_of_its_nodes(
    user: str | None, client_id: str | None, entity: KafkaQuotaEntity, text: str
) -> None:
    found = KafkaQuotaEntity.of_nodes(user, client_id)
    assert (found, str(found)) == (entity, text)


def test_a_client_called_default_is_not_the_default() -> None:
    assert KafkaQuotaEntity(client_id="<default>") != KafkaQuotaEntity(client_id=DEFAULT)


def test_the_type_of_an_entity_is_the_parts_that_it_has() -> None:
    assert KafkaQuotaEntity().type is QuotaTypes.NO_QUOTAS
    assert KafkaQuotaEntity(client_id="c").type is QuotaTypes.CLIENT_ID_QUOTA
    assert KafkaQuotaEntity(DEFAULT).type is QuotaTypes.USER_QUOTA
    assert KafkaQuotaEntity("u", DEFAULT).type is QuotaTypes.USER_CLIENT_ID_QUOTA


def test_the_precedence_is_kafkas() -> None:
    assert [str(level.entity("U", "C")) for level in PRECEDENCE] == [
        "user U client-id C",
        "user U default client-id",
        "user U",
        "default user client-id C",
        "default user default client-id",
        "default user",
        "client-id C",
        "default client-id",
    ]


def test_a_default_has_one_sensor_for_each_name() -> None:
    tags = [level.tags("U", "C") for level in PRECEDENCE]
    both, user, client = QuotaTags("U", "C"), QuotaTags("U"), QuotaTags("", "C")
    assert tags == [both, both, user, both, both, user, client, client]
    assert (both.as_dict(), str(both)) == ({"user": "U", "client-id": "C"}, "U:C")


@pytest.mark.parametrize(
    ("tags", "levels"),
    [
        (QuotaTags("U", "C"), [1, 2, 4, 5]),
        (QuotaTags("U", ""), [1, 2, 3, 4, 5, 6]),
        (QuotaTags("", "C"), [7, 8]),
        (QuotaTags("", ""), [7, 8]),
    ],
)
def test_tags_tell_which_levels_they_can_be_of(tags: QuotaTags, levels: list[int]) -> None:
    """A client id may be empty: the tags of user U are then those of a level with client ids, or of one without."""
    assert [number for number, level in enumerate(PRECEDENCE, 1) if level.can_have_given(tags)] == levels

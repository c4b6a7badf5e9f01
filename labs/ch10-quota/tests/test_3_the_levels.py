"""Task 3: which quota applies, and what shares a sensor."""

import pytest

from kafka_lite.metrics.quota import UNLIMITED
from kafka_lite.server.quotas.client_quota_entity import DEFAULT, KafkaQuotaEntity, QuotaTags
from kafka_lite.server.quotas.default_quota_callback import DefaultQuotaCallback


def callback(*quotas, default=UNLIMITED):
    """A callback with these quotas: (user, client id, bound)."""
    made = DefaultQuotaCallback(default)
    for user, client_id, bound in quotas:
        made.update_quota(KafkaQuotaEntity(user, client_id), bound)
    return made


def found(made, user="alice", client_id="app"):
    tags = made.quota_metric_tags(user, client_id)
    return tags, made.quota_limit(tags)


@pytest.mark.points(5, task=3)
def test_while_there_is_one_type_of_quota_nothing_is_looked_up():
    """None, client ids only, users only, clients of users only"""
    assert found(callback()) == (QuotaTags("", "app"), UNLIMITED), "without quotas, each client id has its own sensor"
    assert found(callback((None, "other", 5))) == (QuotaTags("", "app"), UNLIMITED), "only client ids have quotas"
    tags, bound = found(callback(("alice", None, 5)))
    assert tags == QuotaTags("alice", ""), f"all connections of a user share its quota, so the tags are not {tags}"
    assert bound == 5, f"alice has a quota of 5, not {bound}"
    assert found(callback((DEFAULT, DEFAULT, 7))) == (QuotaTags("alice", "app"), 7), "each user's client has its own"
    tags, _ = found(callback(("alice", None, 5)), "bob")
    assert tags == QuotaTags("bob", ""), (
        f"only users have quotas, so bob's connections share a sensor, though bob has no quota; yours: {tags}"
    )
    tags, _ = found(callback(("alice", "app", 5)), "bob")
    assert tags == QuotaTags("bob", "app"), (
        f"only clients of users have quotas, so bob's app has its own sensor, though it has none; yours: {tags}"
    )


@pytest.mark.points(8, task=3)
def test_the_first_level_counts():
    """All eight levels; one after the other is removed"""
    order = [
        ("alice", "app"), ("alice", DEFAULT), ("alice", None), (DEFAULT, "app"), (DEFAULT, DEFAULT), (DEFAULT, None),
        (None, "app"), (None, DEFAULT),
    ]  # fmt: skip
    made = callback(*((user, client_id, number) for number, (user, client_id) in enumerate(order)))
    for number, (user, client_id) in enumerate(order):
        _, bound = found(made)
        assert bound == number, f"the first level that has a quota counts: {order[number]}, not {order[bound]}"
        made.remove_quota(KafkaQuotaEntity(user, client_id))
    assert found(made) == (QuotaTags("", "app"), UNLIMITED), "no level has a quota any more"


@pytest.mark.points(6, task=3)
def test_a_sensor_has_the_quota_of_its_own_level():
    """alice has 3, her client 'app' has 9"""
    made = callback(("alice", "app", 9), ("alice", None, 3), (None, "app", 1))
    assert found(made) == (QuotaTags("alice", "app"), 9)
    assert found(made, client_id="other") == (QuotaTags("alice", ""), 3)
    limit = made.quota_limit(QuotaTags("alice", ""))
    assert limit == 3, f"the quota of a user's client is no quota of the user: 3, not {limit}"
    made = callback(("alice", None, 3), ("bob", "app", 9))
    limit = made.quota_limit(QuotaTags("bob", "app"))
    assert limit == 9, f"bob's app has a quota of 9, not {limit}"
    made = callback((DEFAULT, None, 4), ("bob", "app", 9))
    limit = made.quota_limit(QuotaTags("bob", "other"))
    assert limit == UNLIMITED, (
        f"the quota of a user's client is no quota of the user, nor the other way round: unlimited, not {limit}"
    )


@pytest.mark.points(6, task=3)
def test_the_ninth_level_is_for_client_ids():
    """quota.producer.default=2"""
    made = callback(default=2)
    assert found(made) == (QuotaTags("", "app"), 2), "the default of the configuration is for client ids"
    made = callback(("alice", None, 3), ("bob", "app", 9), default=2)
    assert found(made, "carol") == (QuotaTags("", "app"), 2), "carol has no quota, her client id has the default"
    made.remove_quota(KafkaQuotaEntity("alice"))
    limit = made.quota_limit(QuotaTags("alice", ""))
    assert limit == UNLIMITED, f"the default of the configuration is for client ids, not for users: not {limit}"

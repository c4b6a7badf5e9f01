"""A broker whose authorizer is a Python class of the user."""

from __future__ import annotations

import pytest

from kafka_lite.common.config_def import ConfigError
from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.testing.cluster import Cluster
from tests.support.own_authorizer import NoSecrets

CLASS = "tests.support.own_authorizer.NoSecrets"


@pytest.mark.filterwarnings("ignore:'my.secrets' is no key")
def test_a_class_of_the_user_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(NoSecrets, "closed", 0)
    with Cluster({"authorizer.class.name": CLASS, "my.secrets": "hidden-"}) as cluster:
        cluster.create_topic("orders")
        assert cluster.produce("orders", "a") == 0
        with pytest.raises(ApiError) as refused:
            cluster.create_topic("hidden-orders")
        assert refused.value.error is Errors.TOPIC_AUTHORIZATION_FAILED
        with pytest.raises(ApiError) as failed:
            cluster.create_topic("broken")
        assert failed.value.error is Errors.UNKNOWN_SERVER_ERROR
        assert cluster.values("orders") == [b"a"], "the broker serves others"
        assert NoSecrets.closed == 0
    assert NoSecrets.closed == 1


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("tests.support.own_authorizer.Missing", "not found; must be package.module.Class"),
        ("tests.support.own_authorizer.NoAuthorizer", "is not a CustomAuthorizer"),
        ("org.apache.kafka.metadata.authorizer.StandardAuthorizer", "or a Python class of your own"),
    ],
)
def test_another_class_is_refused_at_the_start(name: str, says: str) -> None:
    with pytest.raises(ConfigError, match=says), Cluster({"authorizer.class.name": name}):
        pass

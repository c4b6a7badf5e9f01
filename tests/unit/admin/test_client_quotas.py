"""Entities of quotas, their nodes, and their values, in Kafka's forms and with its errors."""

from __future__ import annotations

from typing import Any, cast

import pytest

from kafka_lite.admin.client_quotas import QuotaEntity, altered, entities_with_quotas, quota_path
from kafka_lite.common.errors import ApiError, Errors
from tests.support.config_store import ConfigStore


@pytest.mark.parametrize(
    ("entity", "path"),
    [
        ({"user": "alice", "client-id": "app"}, "users/alice/clients/app"),
        ({"client-id": None, "user": "alice"}, "users/alice/clients/<default>"),
        ({"user": None}, "users/<default>"),
        ({"user": "a/b c"}, "users/a%2Fb%20c"),
        ({"client-id": "<default>"}, "clients/%3Cdefault%3E"),
        ({"ip": "10.0.0.7"}, "ips/10.0.0.7"),
        ({"ip": None}, "ips/<default>"),
    ],
)
def test_the_node_of_an_entity(entity: QuotaEntity, path: str) -> None:
    assert quota_path(entity) == path


@pytest.mark.parametrize(
    ("entity", "says"),
    [
        ({}, "Invalid empty client quota entity"),
        ({"user": ""}, "Empty user not supported"),
        ({"group": "g"}, "Unhandled client quota entity type: group"),
        ({"user": "alice", "ip": "10.0.0.7"}, "IP entity should not be used"),
        ({"ip": "no such host"}, "not a valid IP"),
    ],
)
def test_an_impossible_entity_is_an_invalid_request(entity: QuotaEntity, says: str) -> None:
    with pytest.raises(ApiError, match=says) as raised:
        quota_path(entity)
    assert raised.value.error is Errors.INVALID_REQUEST


def test_values_are_stored_as_kafka_stores_them() -> None:
    changes = {"producer_byte_rate": 1048576.0, "request_percentage": 12.5, "controller_mutation_rate": 1e7}
    config = altered({"user": "u"}, {"consumer_byte_rate": "7", "SCRAM-SHA-256": "…"}, changes)
    assert config == {
        "consumer_byte_rate": "7",
        "SCRAM-SHA-256": "…",
        "producer_byte_rate": "1048576",
        "request_percentage": "12.5",
        "controller_mutation_rate": "1.0E7",
    }
    assert altered({"user": "u"}, config, {"consumer_byte_rate": None, "request_percentage": None}).keys() == {
        "SCRAM-SHA-256",
        "producer_byte_rate",
        "controller_mutation_rate",
    }


@pytest.mark.parametrize(
    ("entity", "key", "value", "error"),
    [
        ({"user": "u"}, "producer_byte_rate", 1.5, Errors.INVALID_REQUEST),
        ({"user": "u"}, "producer_byte_rate", float("nan"), Errors.INVALID_REQUEST),
        ({"user": "u"}, "producer_byte_rate", 1e30, Errors.INVALID_REQUEST),
        ({"user": "u"}, "connection_creation_rate", 1.0, Errors.INVALID_REQUEST),
        ({"ip": None}, "producer_byte_rate", 1.0, Errors.INVALID_REQUEST),
        ({"ip": None}, "connection_creation_rate", 1e10, Errors.INVALID_REQUEST),
        ({"ip": None}, "connection_creation_rate", -1.0, Errors.INVALID_CONFIG),
    ],
)
def test_a_value_that_does_not_fit_its_key_is_refused(
    entity: QuotaEntity, key: str, value: float, error: Errors
) -> None:
    with pytest.raises(ApiError, match=key) as raised:
        altered(entity, {}, {key: value})
    assert raised.value.error is error


@pytest.mark.parametrize("value", [2.9999999, 3.0, 3.0000001])
def test_a_double_that_is_nearly_whole_is_whole(value: float) -> None:
    assert altered({"user": "u"}, {}, {"producer_byte_rate": value}) == {"producer_byte_rate": "3"}


def test_only_nodes_with_quotas_are_listed() -> None:
    store = ConfigStore()
    store.nodes = {
        "users/<default>": {"consumer_byte_rate": "1"},
        "users/a%2Fb": {"SCRAM-SHA-256": "…"},
        "users/a%2Fb/clients/c": {"producer_byte_rate": "2"},
        "clients/c": {},
        "clients/<default>": {"request_percentage": "1.5"},
        "ips/10.0.0.7": {"connection_creation_rate": "3"},
    }
    assert list(entities_with_quotas(cast(Any, store))) == [
        ({"user": None}, {"consumer_byte_rate": 1}),
        ({"client-id": None}, {"request_percentage": 1.5}),
        ({"ip": "10.0.0.7"}, {"connection_creation_rate": 3}),
        ({"user": "a/b", "client-id": "c"}, {"producer_byte_rate": 2}),
    ]

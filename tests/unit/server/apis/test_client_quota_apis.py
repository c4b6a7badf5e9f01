"""What DescribeClientQuotas finds, what AlterClientQuotas writes, and Kafka's errors for bad requests."""

from __future__ import annotations

import logging
from typing import Any, cast

import pytest

from kafka_lite.common.bounded_log import MAX_LINES
from kafka_lite.common.errors import Errors
from kafka_lite.protocol.messages import api_48_describe_client_quotas as describe
from kafka_lite.protocol.messages import api_49_alter_client_quotas as alter
from kafka_lite.server.apis.client_quota_apis import ClientQuotaApis, MatchType
from tests.support.config_store import ConfigStore

EXACT, DEFAULT, ANY = MatchType
Component = tuple[str, int, str | None]

NODES = {
    "users/u": {"producer_byte_rate": "1"},
    "users/<default>": {"producer_byte_rate": "2"},
    "users/u/clients/c": {"producer_byte_rate": "3"},
    "users/u/clients/<default>": {"producer_byte_rate": "4"},
    "clients/c": {"producer_byte_rate": "5"},
    "ips/<default>": {"connection_creation_rate": "6"},
}


class Apis:
    def __init__(self) -> None:
        self.store = ConfigStore()
        self.apis = ClientQuotaApis(cast(Any, self.store))

    def describe(self, *components: Component, strict: bool = False) -> describe.DescribeClientQuotasResponse:
        body = describe.DescribeClientQuotasRequest(
            components=[describe.ComponentData(entity_type=e, match_type=m, match=n) for e, m, n in components],
            strict=strict,
        )
        responses: list[Any] = []
        self.apis.handle_describe_client_quotas(cast(Any, None), body, responses.append)
        (response,) = responses
        for version in (0, 1):
            response.encode(version)
        return cast(describe.DescribeClientQuotasResponse, response)

    def found(self, *components: Component, strict: bool = False) -> set[float]:
        """The values, which tell the entities apart."""
        entries = self.describe(*components, strict=strict).entries
        assert entries is not None
        return {value.value for entry in entries for value in entry.values}

    def alter(
        self, entity: dict[str, str | None], validate_only: bool = False, **values: float | None
    ) -> tuple[Errors, str | None]:
        ops = [alter.OpData(key=key, value=value or 0.0, remove=value is None) for key, value in values.items()]
        parts = [alter.EntityData(entity_type=part, entity_name=name) for part, name in entity.items()]
        bad = alter.EntryData(entity=[], ops=[])
        body = alter.AlterClientQuotasRequest(
            entries=[alter.EntryData(entity=parts, ops=ops), bad], validate_only=validate_only
        )
        responses: list[Any] = []
        self.apis.handle_alter_client_quotas(cast(Any, None), body, responses.append)
        result, other = responses[0].entries
        assert other.error_code == Errors.INVALID_REQUEST.code, "one entity's error does not affect the others"
        assert [(part.entity_type, part.entity_name) for part in result.entity] == list(entity.items())
        return Errors.for_code(result.error_code), result.error_message


@pytest.fixture
def apis() -> Apis:
    apis = Apis()
    apis.store.nodes = {path: dict(config) for path, config in NODES.items()}
    return apis


@pytest.mark.parametrize(
    ("components", "found", "strictly_found"),
    [
        ([], {1, 2, 3, 4, 5, 6}, set()),
        ([("user", EXACT, "u")], {1, 3, 4}, {1}),
        ([("user", DEFAULT, None)], {2}, {2}),
        ([("user", ANY, None)], {1, 2, 3, 4}, {1, 2}),
        ([("client-id", EXACT, "c")], {3, 5}, {5}),
        ([("client-id", ANY, None)], {3, 4, 5}, {5}),
        ([("user", EXACT, "u"), ("client-id", EXACT, "c")], {3}, {3}),
        ([("user", EXACT, "u"), ("client-id", DEFAULT, None)], {4}, {4}),
        ([("user", ANY, None), ("client-id", ANY, None)], {3, 4}, {3, 4}),
        ([("ip", ANY, None)], {6}, {6}),
        ([("ip", EXACT, "10.0.0.7")], set(), set()),
    ],
)
def test_a_filter_finds_entities(
    apis: Apis, components: list[Component], found: set[float], strictly_found: set[float]
) -> None:
    assert apis.found(*components) == found
    assert apis.found(*components, strict=True) == strictly_found


def test_a_default_has_no_name(apis: Apis) -> None:
    (entry,) = apis.describe(("user", DEFAULT, None)).entries or []
    assert [(part.entity_type, part.entity_name) for part in entry.entity] == [("user", None)]


@pytest.mark.parametrize(
    ("components", "error"),
    [
        ([("user", ANY, None), ("user", ANY, None)], Errors.INVALID_REQUEST),
        ([("", ANY, None)], Errors.INVALID_REQUEST),
        ([("user", ANY, None), ("ip", ANY, None)], Errors.INVALID_REQUEST),
        ([("group", ANY, None)], Errors.UNSUPPORTED_VERSION),
        ([("user", 7, None)], Errors.INVALID_REQUEST),
        ([("user", ANY, "u")], Errors.INVALID_REQUEST),
        ([("user", EXACT, None)], Errors.INVALID_REQUEST),
    ],
)
def test_a_bad_filter_gets_kafkas_error(apis: Apis, components: list[Component], error: Errors) -> None:
    response = apis.describe(*components)
    assert (Errors.for_code(response.error_code), response.entries) == (error, None)
    assert response.error_message


def test_a_change_is_merged_into_the_node_and_notified(apis: Apis) -> None:
    entity = {"user": "u", "client-id": "c"}
    assert apis.alter(entity, consumer_byte_rate=7.0, producer_byte_rate=None) == (Errors.NONE, None)
    assert apis.store.nodes["users/u/clients/c"] == {"consumer_byte_rate": "7"}
    assert apis.store.changes == ["users/u/clients/c"]


def test_a_check_only_writes_nothing(apis: Apis) -> None:
    assert apis.alter({"ip": "10.0.0.7"}, validate_only=True, connection_creation_rate=1.0)[0] is Errors.NONE
    assert apis.alter({"ip": "10.0.0.7"}, validate_only=True, producer_byte_rate=1.0)[0] is Errors.INVALID_REQUEST
    assert (apis.store.nodes, apis.store.changes) == (NODES, [])


def test_many_bad_entries_are_not_as_many_lines(caplog: pytest.LogCaptureFixture) -> None:
    body = alter.AlterClientQuotasRequest(entries=[alter.EntryData(entity=[], ops=[])] * 1000)
    responses: list[Any] = []
    with caplog.at_level(logging.INFO):
        Apis().apis.handle_alter_client_quotas(cast(Any, None), body, responses.append)
    assert len(responses[0].entries) == 1000
    assert len(caplog.records) == MAX_LINES + 1

"""The whole table: each request with all of its rights, and without each of them."""

from __future__ import annotations

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.messages.api_47_offset_delete import OffsetDeleteResponse
from kafka_lite.server.auth.authorizing_handlers import RULES
from kafka_lite.server.auth.rules import free
from tests.support.acl_matrix import AUTHORIZATION_ERRORS, CASES, Case, error_codes
from tests.support.authorizing import Broker

ELSEWHERE = {
    ApiKey.LEADER_AND_ISR, ApiKey.STOP_REPLICA, ApiKey.UPDATE_METADATA, ApiKey.CONTROLLED_SHUTDOWN,
    ApiKey.LIST_GROUPS, ApiKey.LIST_TRANSACTIONS, ApiKey.DESCRIBE_CLUSTER, ApiKey.LIST_CONFIG_RESOURCES,
    ApiKey.INITIALIZE_SHARE_GROUP_STATE, ApiKey.READ_SHARE_GROUP_STATE, ApiKey.WRITE_SHARE_GROUP_STATE,
    ApiKey.DELETE_SHARE_GROUP_STATE, ApiKey.READ_SHARE_GROUP_STATE_SUMMARY, ApiKey.SHARE_GROUP_HEARTBEAT,
    ApiKey.SHARE_GROUP_DESCRIBE, ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS, ApiKey.ALTER_SHARE_GROUP_OFFSETS,
    ApiKey.DELETE_SHARE_GROUP_OFFSETS, ApiKey.SHARE_FETCH, ApiKey.SHARE_ACKNOWLEDGE,
}  # fmt: skip
"""Requests of brokers, those that refuse nothing, and those that Kafka 3.9.1 does not serve with ZooKeeper, so that it
cannot be compared: see test_authorizing_handlers, test_admin_rules and test_share_rules."""


def test_every_request_is_in_the_table() -> None:
    refusing = {key for key, rule in RULES.items() if rule is not free} | {ApiKey.METADATA, ApiKey.DELETE_TOPICS}
    assert {case.api_key for case in CASES} == refusing - ELSEWHERE


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_with_all_rights_the_handler_gets_the_whole_request(case: Case) -> None:
    broker = Broker(*case.rights)
    body = case.request()
    response = broker.ask(body, case.version)
    assert broker.handled == [body]
    assert not AUTHORIZATION_ERRORS & set(error_codes(response))


@pytest.mark.parametrize(
    ("case", "missing"),
    [pytest.param(case, right, id=f"{case.name} without {right}") for case in CASES for right in case.rights],
)
def test_without_one_of_its_rights_it_is_refused(case: Case, missing: str) -> None:
    broker = Broker(*(right for right in case.rights if right != missing))
    response = broker.ask(case.request(), case.version)
    assert AUTHORIZATION_ERRORS & set(error_codes(response)) == {case.rights[missing]}
    others = [body for body in broker.handled if body == case.request()]
    assert others == [], "the handler never sees what is refused"


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_version_refuses_the_same(case: Case) -> None:
    versions = case.in_every_version()
    assert case in versions
    for each in versions:
        for missing in case.rights:
            broker = Broker(*(right for right in case.rights if right != missing))
            response = broker.ask(each.request(), each.version)
            found = AUTHORIZATION_ERRORS & set(error_codes(response))
            assert found == {case.rights[missing]}, (each.version, missing)
        broker = Broker(*case.rights)
        broker.ask(each.request(), each.version)
        assert len(broker.handled) == 1, each.version


@pytest.mark.parametrize("name", ["ELECT_LEADERS", "ALTER_PARTITION_REASSIGNMENTS", "DESCRIBE_USER_SCRAM_CREDENTIALS"])
def test_some_refusals_have_the_error_twice(name: str) -> None:
    (case,) = [each for each in CASES if each.name == name]
    (error,) = case.rights.values()
    assert error_codes(Broker().ask(case.request(), case.version)) == [error, error]


def test_an_error_of_the_whole_group_comes_before_those_of_its_topics() -> None:
    (case,) = [each for each in CASES if each.name == "OFFSET_DELETE"]
    gone = OffsetDeleteResponse(error_code=Errors.GROUP_ID_NOT_FOUND.code)
    denied = Broker("DELETE GROUP none")
    assert error_codes(denied.ask(case.request(), case.version, gone)) == [Errors.GROUP_ID_NOT_FOUND.code]
    assert [body.topics for body in denied.handled] == [[]]

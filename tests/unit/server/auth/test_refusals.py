"""Answers to requests that are refused: where the error is, and what stays empty or null."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.framing import encode_response
from kafka_lite.server.auth.refusals import changed, handle_rest, refused, with_refused
from tests.support.acl_matrix import CASES, TOPIC, Case
from tests.support.authorizing import Broker

CLUSTER = Errors.CLUSTER_AUTHORIZATION_FAILED


def case(name: str) -> Case:
    return next(each for each in CASES if each.name == name)


def refusal(name: str, version: int, error: Errors = CLUSTER) -> Any:
    body = case(name).request()
    response = refused(Broker().request(body.API_KEY, version, body), body, error)
    encode_response(response, version, 1)
    return response


@pytest.mark.parametrize(("version", "protocol"), [(0, ""), (6, ""), (7, None), (9, None)])
def test_a_refused_member_has_no_protocol(version: int, protocol: str | None) -> None:
    assert refusal("JOIN_GROUP", version, Errors.GROUP_AUTHORIZATION_FAILED).protocol_name == protocol


def test_refused_quotas_are_null() -> None:
    response = refusal("DESCRIBE_CLIENT_QUOTAS", 1)
    assert (response.error_code, response.entries) == (CLUSTER.code, None)


def test_refused_credentials_name_no_user() -> None:
    response = refusal("DESCRIBE_USER_SCRAM_CREDENTIALS", 0)
    assert response.error_code == CLUSTER.code
    assert [(each.user, each.error_code) for each in response.results] == [("", CLUSTER.code)]


def test_a_request_of_nothing_has_no_errors() -> None:
    body = case("DELETE_ACLS").request()
    body.filters = []  # type: ignore[attr-defined]
    response: Any = refused(Broker().request(ApiKey.DELETE_ACLS, 1, body), body, CLUSTER)
    assert response.filter_results == []


@pytest.mark.parametrize(("names", "handled", "errors"), [((), 1, []), (("t",), 0, [TOPIC]), (("elsewhere",), 1, [])])
def test_the_handler_does_what_is_left(names: tuple[str, ...], handled: int, errors: list[int]) -> None:
    body = case("LIST_OFFSETS").request()
    request = Broker().request(ApiKey.LIST_OFFSETS, 5, body)
    seen: list[Any] = []
    responses: list[Any] = []

    def handler(_request: object, rest: Any, _respond: object) -> None:
        seen.append(rest)

    handle_rest(request, body, responses.append, handler, Errors.TOPIC_AUTHORIZATION_FAILED, names)
    assert len(seen) == handled
    assert [each.topics[0].partitions[0].error_code for each in responses] == errors


def test_no_response_stays_none() -> None:
    body = case("PRODUCE").request()
    failed = refused(Broker().request(ApiKey.PRODUCE, 7, body), body, Errors.TOPIC_AUTHORIZATION_FAILED)
    responses: list[Any] = []
    with_refused(failed, 7, responses.append)(None)
    changed(responses.append, lambda response: response.topics.clear())(None)
    assert responses == [None, None]

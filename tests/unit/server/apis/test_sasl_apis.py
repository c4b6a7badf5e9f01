"""SASL requests after the authentication, and credentials of SCRAM's users."""

from __future__ import annotations

from typing import Any, cast

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.network.request import Request
from kafka_lite.protocol.framing import encode_response
from kafka_lite.protocol.messages import api_50_describe_user_scram_credentials as describe
from kafka_lite.protocol.messages import api_51_alter_user_scram_credentials as alter
from kafka_lite.protocol.messages.api_17_sasl_handshake import SaslHandshakeRequest
from kafka_lite.protocol.messages.api_36_sasl_authenticate import SaslAuthenticateRequest
from kafka_lite.server.apis.sasl_apis import SaslApis
from tests.support.config_store import ConfigStore

REQUEST = cast(Request, None)


def ask(handle: Any, body: Any) -> Any:
    responses: list[Any] = []
    handle(REQUEST, body, responses.append)
    encode_response(responses[0], 0, 1)
    return responses[0]


@pytest.fixture
def store() -> Any:
    return cast(Any, ConfigStore())


def upsertion(name: str) -> alter.AlterUserScramCredentialsRequest:
    changed = alter.ScramCredentialUpsertion(
        name=name, mechanism=1, iterations=4096, salt=b"s", salted_password=b"p" * 32
    )
    return alter.AlterUserScramCredentialsRequest(upsertions=[changed])


def test_a_second_authentication_is_an_illegal_state(store: Any) -> None:
    apis = SaslApis(["PLAIN"], store, lambda: True)
    response = ask(apis.handle_sasl_handshake, SaslHandshakeRequest(mechanism="PLAIN"))
    assert (response.error_code, response.mechanisms) == (Errors.ILLEGAL_SASL_STATE.code, ["PLAIN"])
    response = ask(apis.handle_sasl_authenticate, SaslAuthenticateRequest(auth_bytes=b"x"))
    assert response.error_code == Errors.ILLEGAL_SASL_STATE.code


def test_credentials_are_set_by_the_controller_and_described_by_all(store: Any) -> None:
    controller, other = SaslApis([], store, lambda: True), SaslApis([], store, lambda: False)
    (result,) = ask(other.handle_alter_user_scram_credentials, upsertion("alice")).results
    assert (result.user, result.error_code) == ("alice", Errors.NOT_CONTROLLER.code)
    (result,) = ask(controller.handle_alter_user_scram_credentials, upsertion("alice")).results
    assert (result.user, result.error_code, result.error_message) == ("alice", 0, None)
    body = describe.DescribeUserScramCredentialsRequest(users=None)
    (found,) = ask(other.handle_describe_user_scram_credentials, body).results
    assert [(each.mechanism, each.iterations) for each in found.credential_infos] == [(1, 4096)]
    body = describe.DescribeUserScramCredentialsRequest(users=[describe.UserName(name="bob")])
    (found,) = ask(other.handle_describe_user_scram_credentials, body).results
    assert found.error_code == Errors.RESOURCE_NOT_FOUND.code


def test_an_error_of_the_store_is_that_of_the_response(store: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise OSError("lost")

    monkeypatch.setattr(store, "get_entities", fails)
    body = describe.DescribeUserScramCredentialsRequest(users=None)
    response = ask(SaslApis([], store, lambda: True).handle_describe_user_scram_credentials, body)
    assert response.error_code == Errors.UNKNOWN_SERVER_ERROR.code

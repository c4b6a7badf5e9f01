"""SASL requests of clients that have authenticated already, and the credentials of SCRAM's users.

Kafka 0.10.2: core/.../server/KafkaApis.scala (handleSaslHandshakeRequest); since 1.0 handleSaslAuthenticateRequest,
since 2.7 handleDescribeUserScramCredentialsRequest, handleAlterUserScramCredentialsRequest · book 2.3.2
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kafka_lite.admin.user_scram_credentials import Deletion, Upsertion, alter, described
from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.network.request import Request
from kafka_lite.protocol.messages import api_50_describe_user_scram_credentials as describe_scram
from kafka_lite.protocol.messages import api_51_alter_user_scram_credentials as alter_scram
from kafka_lite.protocol.messages.api_17_sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse
from kafka_lite.protocol.messages.api_36_sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from kafka_lite.server.admin.admin_errors import api_error
from kafka_lite.server.apis.api_handler import Respond
from kafka_lite.zookeeper.kafka_zk_client import KafkaZkClient


class SaslApis:
    """The handlers. An exchange itself never comes here: see ``Authenticator``."""

    def __init__(
        self, enabled_mechanisms: Sequence[str], zk_client: KafkaZkClient, is_active_controller: Callable[[], bool]
    ) -> None:
        """``enabled_mechanisms``: ``sasl.enabled.mechanisms``."""
        self._enabled_mechanisms = list(enabled_mechanisms)
        self._zk_client = zk_client
        self._is_active_controller = is_active_controller

    def handle_sasl_handshake(self, _request: Request, _body: SaslHandshakeRequest, respond: Respond) -> None:
        """Refuse it: the listener has no SASL, or the client has authenticated and may not do so again now."""
        error = Errors.ILLEGAL_SASL_STATE.code
        respond(SaslHandshakeResponse(error_code=error, mechanisms=self._enabled_mechanisms))

    def handle_sasl_authenticate(self, _request: Request, _body: SaslAuthenticateRequest, respond: Respond) -> None:
        """Refuse it, for the same reasons."""
        message = "SaslAuthenticate request received after successful authentication"
        respond(SaslAuthenticateResponse(error_code=Errors.ILLEGAL_SASL_STATE.code, error_message=message))

    def handle_describe_user_scram_credentials(
        self, _request: Request, body: describe_scram.DescribeUserScramCredentialsRequest, respond: Respond
    ) -> None:
        """Respond with the mechanisms and iterations of users, without secrets."""
        response = describe_scram.DescribeUserScramCredentialsResponse(error_message=None)
        try:
            users = None if body.users is None else [each.name for each in body.users]
            found = described(self._zk_client, users)
            response.results = [_described_user(user, outcome) for user, outcome in found.items()]
        except Exception as error:  # noqa: BLE001  (becomes the error of the response)
            failure = api_error(error, "describing SCRAM credentials")
            response.error_code, response.error_message = failure.error.code, str(failure)
        respond(response)

    def handle_alter_user_scram_credentials(
        self, _request: Request, body: alter_scram.AlterUserScramCredentialsRequest, respond: Respond
    ) -> None:
        """Set and remove credentials. Only the controller does; every broker hears of it from ZooKeeper."""
        deletions = [Deletion(each.name, each.mechanism) for each in body.deletions]
        upsertions = [
            Upsertion(each.name, each.mechanism, each.iterations, bytes(each.salt), bytes(each.salted_password))
            for each in body.upsertions
        ]
        if self._is_active_controller():
            results = alter(self._zk_client, deletions, upsertions)
        else:
            error = Errors.NOT_CONTROLLER.exception()
            results = dict.fromkeys([each.user for each in (*deletions, *upsertions)], error)
        respond(
            alter_scram.AlterUserScramCredentialsResponse(
                results=[_altered_user(user, error) for user, error in results.items()]
            )
        )


def _described_user(user: str, outcome: object) -> describe_scram.DescribeUserScramCredentialsResult:
    result = describe_scram.DescribeUserScramCredentialsResult(user=user, error_message=None)
    if isinstance(outcome, ApiError):
        result.error_code, result.error_message = outcome.error.code, str(outcome)
    elif isinstance(outcome, dict):
        result.credential_infos = [
            describe_scram.CredentialInfo(mechanism=mechanism.type, iterations=iterations)
            for mechanism, iterations in outcome.items()
        ]
    return result


def _altered_user(user: str, error: ApiError | None) -> alter_scram.AlterUserScramCredentialsResult:
    result = alter_scram.AlterUserScramCredentialsResult(user=user, error_message=None)
    if error is not None:
        result.error_code, result.error_message = error.error.code, str(error)
    return result

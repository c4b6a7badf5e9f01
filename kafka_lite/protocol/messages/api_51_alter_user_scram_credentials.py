"""AlterUserScramCredentials: set and remove SCRAM credentials.

Kafka 2.7: clients/.../common/requests/AlterUserScramCredentialsRequest.java · book 2.3.5
"""

from __future__ import annotations

from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.schema import Request, Response, Struct, array, bytes_, int8, int16, int32, string


class ScramCredentialDeletion(Struct):
    """A credential to remove."""

    name: str = string()
    mechanism: int = int8()  # 1 SCRAM-SHA-256, 2 SCRAM-SHA-512


class ScramCredentialUpsertion(Struct):
    """A credential to set; the password itself is never sent."""

    name: str = string()
    mechanism: int = int8()  # 1 SCRAM-SHA-256, 2 SCRAM-SHA-512
    iterations: int = int32()
    salt: bytes = bytes_()
    salted_password: bytes = bytes_()


class AlterUserScramCredentialsRequest(
    Request, api_key=ApiKey.ALTER_USER_SCRAM_CREDENTIALS, versions="0", flexible="0+"
):
    """Credentials to remove, and credentials to set."""

    deletions: list[ScramCredentialDeletion] = array(ScramCredentialDeletion)
    upsertions: list[ScramCredentialUpsertion] = array(ScramCredentialUpsertion)


class AlterUserScramCredentialsResult(Struct):
    """The outcome for one user."""

    user: str = string()
    error_code: int = int16()
    error_message: str | None = string(nullable="0+")


class AlterUserScramCredentialsResponse(
    Response, api_key=ApiKey.ALTER_USER_SCRAM_CREDENTIALS, versions="0", flexible="0+"
):
    """The outcome for each user."""

    throttle_time_ms: int = int32()  # how long a quota delays the client
    results: list[AlterUserScramCredentialsResult] = array(AlterUserScramCredentialsResult)

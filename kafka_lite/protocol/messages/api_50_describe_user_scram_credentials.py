"""DescribeUserScramCredentials: lists the SCRAM credentials of users.

Kafka 2.7: clients/.../common/requests/DescribeUserScramCredentialsRequest.java · book 2.3.5
"""

from __future__ import annotations

from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.schema import Request, Response, Struct, array, int8, int16, int32, string


class UserName(Struct):
    """A user."""

    name: str = string()


class DescribeUserScramCredentialsRequest(
    Request, api_key=ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS, versions="0", flexible="0+"
):
    """The users; null or none for all."""

    users: list[UserName] | None = array(UserName, nullable="0+")


class CredentialInfo(Struct):
    """A credential."""

    mechanism: int = int8()  # 1 SCRAM-SHA-256, 2 SCRAM-SHA-512
    iterations: int = int32()


class DescribeUserScramCredentialsResult(Struct):
    """The credentials of one user."""

    user: str = string()
    error_code: int = int16()
    error_message: str | None = string(nullable="0+")
    credential_infos: list[CredentialInfo] = array(CredentialInfo)


class DescribeUserScramCredentialsResponse(
    Response, api_key=ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS, versions="0", flexible="0+"
):
    """The users' credentials, without secrets."""

    throttle_time_ms: int = int32()  # how long a quota delays the client
    error_code: int = int16()
    error_message: str | None = string(nullable="0+")
    results: list[DescribeUserScramCredentialsResult] = array(DescribeUserScramCredentialsResult)

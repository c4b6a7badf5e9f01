"""CreateDelegationToken: creates a secret with which others may act for a user.

Kafka 1.1: clients/.../common/requests/CreateDelegationTokenRequest.java · book 2.3.5
"""

from __future__ import annotations

from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.schema import Request, Response, Struct, array, bytes_, int16, int32, int64, string


class CreatableRenewers(Struct):
    """A principal that may renew the token."""

    principal_type: str = string()
    principal_name: str = string()


class CreateDelegationTokenRequest(Request, api_key=ApiKey.CREATE_DELEGATION_TOKEN, versions="0-3", flexible="2+"):
    """The principals that may renew it, and its lifetime.

    v2  compact lengths and tagged fields
    v3  a token for another user
    """

    owner_principal_type: str | None = string(versions="3+", nullable="3+")
    owner_principal_name: str | None = string(versions="3+", nullable="3+")
    renewers: list[CreatableRenewers] = array(CreatableRenewers)
    max_lifetime_ms: int = int64()  # -1 for the broker's maximum


class CreateDelegationTokenResponse(Response, api_key=ApiKey.CREATE_DELEGATION_TOKEN, versions="0-3", flexible="2+"):
    """The token.

    v1  a throttling broker responds at once and mutes the connection afterwards
    v2  compact lengths and tagged fields
    v3  the requester
    """

    error_code: int = int16()
    principal_type: str = string()
    principal_name: str = string()
    token_requester_principal_type: str = string(versions="3+")
    token_requester_principal_name: str = string(versions="3+")
    issue_timestamp_ms: int = int64()
    expiry_timestamp_ms: int = int64()
    max_timestamp_ms: int = int64()
    token_id: str = string()
    hmac: bytes = bytes_()  # the secret
    throttle_time_ms: int = int32()  # how long a quota delays the client

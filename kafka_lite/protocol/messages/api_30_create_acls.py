"""CreateAcls: new permissions.

Kafka 0.11: clients/.../common/requests/CreateAclsRequest.java · book 2.3.5
"""

from __future__ import annotations

from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.schema import Request, Response, Struct, array, int8, int16, int32, string


class AclCreation(Struct):
    """A binding to create."""

    resource_type: int = int8()  # 2 topic, 3 group, 4 cluster, 5 transactional id, 6 delegation token, 7 user
    resource_name: str = string()
    resource_pattern_type: int = int8(versions="1+", default=3)  # 3 literal, 4 prefixed
    principal: str = string()
    host: str = string()
    operation: int = int8()
    permission_type: int = int8()  # 2 deny, 3 allow


class CreateAclsRequest(Request, api_key=ApiKey.CREATE_ACLS, versions="0-3", flexible="2+"):
    """The bindings.

    v1  resource_pattern_type
    v2  compact lengths and tagged fields
    v3  resources of type user
    """

    creations: list[AclCreation] = array(AclCreation)


class AclCreationResult(Struct):
    """The outcome for one binding."""

    error_code: int = int16()
    error_message: str | None = string(nullable="0+")


class CreateAclsResponse(Response, api_key=ApiKey.CREATE_ACLS, versions="0-3", flexible="2+"):
    """The outcome for each binding, in the order of the request.

    v1  a throttling broker responds at once and mutes the connection afterwards
    v2  compact lengths and tagged fields
    """

    throttle_time_ms: int = int32()  # how long a quota delays the client
    results: list[AclCreationResult] = array(AclCreationResult)

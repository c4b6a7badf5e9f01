"""DescribeClientQuotas: the limits of users, clients and addresses.

Kafka 2.6: clients/.../common/requests/DescribeClientQuotasRequest.java · book 10.1
"""

from __future__ import annotations

from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.schema import Request, Response, Struct, array, boolean, float64, int8, int16, int32, string


class ComponentData(Struct):
    """A condition on one part of the entity (user, client-id, ip)."""

    entity_type: str = string()
    match_type: int = int8()  # 0 exactly match, 1 the default, 2 anything that is named
    match: str | None = string(nullable="0+")


class DescribeClientQuotasRequest(Request, api_key=ApiKey.DESCRIBE_CLIENT_QUOTAS, versions="0-1", flexible="1+"):
    """The conditions that entities must match.

    v1  compact lengths and tagged fields
    """

    components: list[ComponentData] = array(ComponentData)
    strict: bool = boolean()  # without further parts


class EntityData(Struct):
    """A part of an entity."""

    entity_type: str = string()
    entity_name: str | None = string(nullable="0+")  # null for the default


class ValueData(Struct):
    """A limit."""

    key: str = string()
    value: float = float64()


class EntryData(Struct):
    """An entity and its limits."""

    entity: list[EntityData] = array(EntityData)
    values: list[ValueData] = array(ValueData)


class DescribeClientQuotasResponse(Response, api_key=ApiKey.DESCRIBE_CLIENT_QUOTAS, versions="0-1", flexible="1+"):
    """The limits of the matching entities.

    v1  compact lengths and tagged fields
    """

    throttle_time_ms: int = int32()  # how long a quota delays the client
    error_code: int = int16()
    error_message: str | None = string(nullable="0+")
    entries: list[EntryData] | None = array(EntryData, nullable="0+")

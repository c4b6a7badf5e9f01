"""AlterClientQuotas: set the limits of users, clients and addresses.

Kafka 2.6: clients/.../common/requests/AlterClientQuotasRequest.java · book 10.1
"""

from __future__ import annotations

from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.schema import Request, Response, Struct, array, boolean, float64, int16, int32, string


class EntityData(Struct):
    """A part of an entity."""

    entity_type: str = string()
    entity_name: str | None = string(nullable="0+")  # null for the default


class OpData(Struct):
    """A limit to set or remove."""

    key: str = string()
    value: float = float64()
    remove: bool = boolean()


class EntryData(Struct):
    """An entity and its changes."""

    entity: list[EntityData] = array(EntityData)
    ops: list[OpData] = array(OpData)


class AlterClientQuotasRequest(Request, api_key=ApiKey.ALTER_CLIENT_QUOTAS, versions="0-1", flexible="1+"):
    """The entities and their changes.

    v1  compact lengths and tagged fields
    """

    entries: list[EntryData] = array(EntryData)
    validate_only: bool = boolean()  # only check, change nothing


class AlteredEntityData(Struct):
    """A part of an entity."""

    entity_type: str = string()
    entity_name: str | None = string(nullable="0+")  # null for the default


class AlteredEntryData(Struct):
    """The outcome for one entity."""

    error_code: int = int16()
    error_message: str | None = string(nullable="0+")
    entity: list[AlteredEntityData] = array(AlteredEntityData)


class AlterClientQuotasResponse(Response, api_key=ApiKey.ALTER_CLIENT_QUOTAS, versions="0-1", flexible="1+"):
    """The outcome for each entity.

    v1  compact lengths and tagged fields
    """

    throttle_time_ms: int = int32()  # how long a quota delays the client
    entries: list[AlteredEntryData] = array(AlteredEntryData)

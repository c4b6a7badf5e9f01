"""?

Kafka ? · book 2.3.5
"""

from __future__ import annotations

from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.schema import Request, Response, Struct, array, boolean, float64, int16, int32, string


class EntityData(Struct):
    """?"""

    entity_type: str = string()
    entity_name: str | None = string(nullable="0+")


class OpData(Struct):
    """?"""

    key: str = string()
    value: float = float64()
    remove: bool = boolean()


class EntryData(Struct):
    """?"""

    entity: list[EntityData] = array(EntityData)
    ops: list[OpData] = array(OpData)


class AlterClientQuotasRequest(Request, api_key=ApiKey.ALTER_CLIENT_QUOTAS, versions="0-1", flexible="1+"):
    """?"""

    entries: list[EntryData] = array(EntryData)
    validate_only: bool = boolean()


class AlteredEntityData(Struct):
    """?"""

    entity_type: str = string()
    entity_name: str | None = string(nullable="0+")


class AlteredEntryData(Struct):
    """?"""

    error_code: int = int16()
    error_message: str | None = string(nullable="0+")
    entity: list[AlteredEntityData] = array(AlteredEntityData)


class AlterClientQuotasResponse(Response, api_key=ApiKey.ALTER_CLIENT_QUOTAS, versions="0-1", flexible="1+"):
    """?"""

    throttle_time_ms: int = int32()
    entries: list[AlteredEntryData] = array(AlteredEntryData)

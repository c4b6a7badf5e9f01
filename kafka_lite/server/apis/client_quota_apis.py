"""DescribeClientQuotas and AlterClientQuotas: which quotas there are, and how they change.

Kafka 2.6: core/.../server/KafkaApis.scala (handleDescribeClientQuotasRequest, handleAlterClientQuotasRequest),
ZkAdminManager.scala (describeClientQuotas, alterClientQuotas), KIP-546 · book 10.1
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from enum import IntEnum

from kafka_lite.admin.admin_utils import AdminUtils
from kafka_lite.admin.client_quotas import PARTS, QuotaEntity, altered, entities_with_quotas, quota_path
from kafka_lite.common.bounded_log import BoundedLog, Log
from kafka_lite.common.errors import Errors
from kafka_lite.network.request import Request
from kafka_lite.protocol.messages import api_48_describe_client_quotas as describe
from kafka_lite.protocol.messages import api_49_alter_client_quotas as alter
from kafka_lite.server.admin.admin_errors import api_error
from kafka_lite.server.apis.api_handler import Respond
from kafka_lite.zookeeper.kafka_zk_client import KafkaZkClient

logger = logging.getLogger(__name__)


class MatchType(IntEnum):
    """How a filter's component matches a part of an entity."""

    EXACT = 0
    DEFAULT = 1
    ANY = 2


class ClientQuotaApis:
    """The handlers. Any broker has them: quotas are in ZooKeeper, and all brokers read them when they change."""

    def __init__(self, zk_client: KafkaZkClient) -> None:
        self._zk_client = zk_client
        self._admin_utils = AdminUtils(zk_client)

    def handle_describe_client_quotas(
        self, _request: Request, body: describe.DescribeClientQuotasRequest, respond: Respond
    ) -> None:
        """Respond with the entities that match the filter, and their quotas."""
        response = describe.DescribeClientQuotasResponse(error_message=None)
        try:
            components = checked_components(body.components)
            response.entries = [
                _entry(entity, quotas)
                for entity, quotas in entities_with_quotas(self._zk_client)
                if matches(components, body.strict, entity)
            ]
        except Exception as error:  # noqa: BLE001  (becomes the error of the response)
            failure = api_error(error, "describing client quotas")
            response = describe.DescribeClientQuotasResponse(
                error_code=failure.error.code, error_message=str(failure), entries=None
            )
        respond(response)

    def handle_alter_client_quotas(
        self, _request: Request, body: alter.AlterClientQuotasRequest, respond: Respond
    ) -> None:
        """Change the quotas of each entity. Its error does not affect the others."""
        with BoundedLog(logger) as log:
            results = [self._alter(entry, body.validate_only, log) for entry in body.entries]
        respond(alter.AlterClientQuotasResponse(entries=results))

    def _alter(self, entry: alter.EntryData, validate_only: bool, log: Log) -> alter.AlteredEntryData:
        parts = [alter.AlteredEntityData(entity_type=e.entity_type, entity_name=e.entity_name) for e in entry.entity]
        result = alter.AlteredEntryData(error_message=None, entity=parts)
        try:
            entity = {each.entity_type: each.entity_name for each in entry.entity}
            path = quota_path(entity)
            changes = {op.key: None if op.remove else op.value for op in entry.ops}
            config = altered(entity, self._zk_client.get_entity_config(path), changes)
            if not validate_only:
                self._admin_utils.change_entity_config(path, config)
        except Exception as error:  # noqa: BLE001  (becomes the result of this entity)
            failure = api_error(error, "altering client quotas", log)
            result.error_code, result.error_message = failure.error.code, str(failure)
        return result


def checked_components(components: Sequence[describe.ComponentData]) -> dict[str, describe.ComponentData]:
    """The components of a filter by their parts. Raises ApiError for a filter that Kafka refuses."""
    checked: dict[str, describe.ComponentData] = {}
    for component in components:
        part = component.entity_type
        if part == "":
            raise Errors.INVALID_REQUEST.exception("Unexpected empty filter component entity type")
        if part not in PARTS.values():
            raise Errors.UNSUPPORTED_VERSION.exception(f"Custom entity type '{part}' not supported")
        if part in checked:
            raise Errors.INVALID_REQUEST.exception(f"Duplicate {part} filter component entity type")
        if component.match_type not in list(MatchType):
            raise Errors.INVALID_REQUEST.exception(f"Unknown match type {component.match_type}")
        if component.match_type != MatchType.EXACT and component.match is not None:
            kind = MatchType(component.match_type).name
            raise Errors.INVALID_REQUEST.exception(f"A match string is given, but the match type is {kind}")
        if component.match_type == MatchType.EXACT and component.match is None:
            raise Errors.INVALID_REQUEST.exception("The match type is EXACT, but no match string is given")
        checked[part] = component
    if "ip" in checked and len(checked) > 1:
        raise Errors.INVALID_REQUEST.exception(
            "Invalid entity filter component combination, IP filter component should not be used with user or clientId "
            "filter component."
        )
    return checked


def matches(components: dict[str, describe.ComponentData], strict: bool, entity: QuotaEntity) -> bool:
    """Whether each component has its part in the entity; if ``strict``, the entity has no other part."""
    if strict and not entity.keys() <= components.keys():
        return False
    return all(part in entity and _matches(component, entity[part]) for part, component in components.items())


def _matches(component: describe.ComponentData, name: str | None) -> bool:
    match component.match_type:
        case MatchType.EXACT:
            return name is not None and name == component.match
        case MatchType.DEFAULT:
            return name is None
    return True


def _entry(entity: QuotaEntity, quotas: dict[str, float]) -> describe.EntryData:
    return describe.EntryData(
        entity=[describe.EntityData(entity_type=part, entity_name=name) for part, name in entity.items()],
        values=[describe.ValueData(key=key, value=value) for key, value in quotas.items()],
    )

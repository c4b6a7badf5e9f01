"""Handles administrative requests about configurations: those of topics, brokers, loggers and groups.

Kafka 0.11, 2.3: core/.../server/AdminManager.scala; later ConfigAdminManager.scala · book 6.1.5
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from kafka_lite.admin.admin_utils import BROKERS, DEFAULT_ENTITY, TOPICS, AdminUtils
from kafka_lite.common.bounded_log import BoundedLog, Log
from kafka_lite.common.config_def import ConfigError, Type
from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.topic_names import validate_topic_name
from kafka_lite.coordinator.group.modern.consumer_group_config import validate_group_config
from kafka_lite.log.log_config import LOG_CONFIG_DEF
from kafka_lite.protocol.messages.api_32_describe_configs import (
    DescribeConfigsResource,
    DescribeConfigsResourceResult,
    DescribeConfigsResult,
)
from kafka_lite.protocol.messages.api_33_alter_configs import AlterConfigsResource, AlterConfigsResourceResponse
from kafka_lite.protocol.messages.api_44_incremental_alter_configs import AlterConfigsResource as IncrementalResource
from kafka_lite.protocol.messages.api_44_incremental_alter_configs import (
    AlterConfigsResourceResponse as IncrementalResourceResponse,
)
from kafka_lite.server.admin.admin_errors import api_error
from kafka_lite.server.admin.alter_config_ops import apply_config_ops, check_config_ops
from kafka_lite.server.admin.config_helper import ConfigHelper
from kafka_lite.server.admin.runtime_logger_manager import BROKER_LOGGER_RESOURCE, RuntimeLoggerManager
from kafka_lite.server.client_telemetry.client_metrics_configs import CLIENT_METRICS_CONFIG_DEF, parse_subscription
from kafka_lite.server.dynamic.dynamic_broker_config import DYNAMIC_BROKER_CONFIGS, DynamicBrokerConfig
from kafka_lite.server.kafka_config import KafkaConfig
from kafka_lite.server.metadata_cache import MetadataCache
from kafka_lite.zookeeper.kafka_zk_client import KafkaZkClient
from kafka_lite.zookeeper.sanitizer import desanitize, sanitize

logger = logging.getLogger(__name__)

_Resource = TypeVar("_Resource", AlterConfigsResource, IncrementalResource)
_Response = TypeVar("_Response", AlterConfigsResourceResponse, IncrementalResourceResponse)
TOPIC_RESOURCE, BROKER_RESOURCE = 2, 4
CLIENT_METRICS_RESOURCE, GROUP_RESOURCE = 16, 32
LISTED_RESOURCES = (
    GROUP_RESOURCE,
    CLIENT_METRICS_RESOURCE,
    BROKER_LOGGER_RESOURCE,
    BROKER_RESOURCE,
    TOPIC_RESOURCE,
)
"""All types of resources, in the order in which Kafka lists them."""
ENTITIES = {GROUP_RESOURCE: "groups", CLIENT_METRICS_RESOURCE: "client-metrics"}
MAX_DESCRIBED_ENTRIES = 100_000
"""How many entries the response to one DescribeConfigs request has: five hundred brokers, or thousands of topics."""
TOO_MANY_ENTRIES = f"A request may ask for at most {MAX_DESCRIBED_ENTRIES} entries: ask in several requests."
MAX_ID_DIGITS = 10
"""The digits of an int32; longer text is not an id."""


class ConfigAdminManager:
    """Validates and executes requests, and responds at once.

    Every resource of a request has its own result; an error of one does not affect the others.
    """

    def __init__(
        self,
        config: KafkaConfig,
        metadata_cache: MetadataCache,
        zk_client: KafkaZkClient,
        dynamic_config: DynamicBrokerConfig,
    ) -> None:
        self._config = config
        self._cache = metadata_cache
        self._zk_client = zk_client
        self._admin_utils = AdminUtils(zk_client, dynamic_config.topic_defaults)
        self._dynamic_config = dynamic_config
        self._config_helper = ConfigHelper(config, dynamic_config)
        self._loggers = RuntimeLoggerManager(config.broker_id)

    def resources(self, kind: int) -> list[str]:
        """The names of the resources of a type, sorted: topics, brokers, or what has a configuration in ZooKeeper."""
        if kind == TOPIC_RESOURCE:
            return sorted(self._cache.get_all_topics())
        if kind in (BROKER_RESOURCE, BROKER_LOGGER_RESOURCE):
            return [str(broker.id) for broker in self._cache.get_alive_brokers()]
        return sorted(map(_name_of, self._zk_client.get_entities(ENTITIES[kind])))

    def describe_configs(
        self,
        resources: Sequence[DescribeConfigsResource],
        *,
        include_synonyms: bool = False,
        include_documentation: bool = False,
    ) -> list[DescribeConfigsResult]:
        """The configurations of topics, groups, this broker, all brokers (empty name), or this broker's loggers.

        A broker has two hundred keys. A resource that occurs again in the request is not described again: it shares the
        entries. Beyond ``MAX_DESCRIBED_ENTRIES``, resources get POLICY_VIOLATION.
        """
        if any(resource.resource_type not in LISTED_RESOURCES for resource in resources):
            return _refused_for_unknown_types(resources)
        described: dict[object, list[DescribeConfigsResourceResult]] = {}
        results = []
        room = MAX_DESCRIBED_ENTRIES
        with BoundedLog(logger) as log:
            for resource in resources:
                kind, name, keys = resource.resource_type, resource.resource_name, resource.configuration_keys
                result = DescribeConfigsResult(error_message=None, resource_type=kind, resource_name=name)
                asked = (kind, name, None if keys is None else tuple(keys))
                try:
                    if asked not in described:
                        described[asked] = self._describe(resource, include_synonyms, include_documentation)
                    room -= len(described[asked])
                    if room < 0:
                        raise Errors.POLICY_VIOLATION.exception(TOO_MANY_ENTRIES)
                    result.configs = described[asked]
                except Exception as error:  # noqa: BLE001  (becomes the result of this resource)
                    failure = api_error(error, f"describing {_display(kind, name)}", log)
                    result.error_code, result.error_message = failure.error.code, str(failure)
                results.append(result)
        return results

    def _describe(
        self, resource: DescribeConfigsResource, include_synonyms: bool, include_documentation: bool
    ) -> list[DescribeConfigsResourceResult]:
        # Some old clients send an empty list for "all".
        wanted = resource.configuration_keys or None
        name = resource.resource_name
        if resource.resource_type == TOPIC_RESOURCE:
            self._check_topic_exists(name)
            overrides = self._zk_client.get_entity_config(f"{TOPICS}/{name}")
            return self._config_helper.describe_topic(
                overrides,
                wanted,
                include_synonyms=include_synonyms,
                include_documentation=include_documentation,
            )
        if resource.resource_type == GROUP_RESOURCE:
            overrides = self._zk_client.get_entity_config(_path_of(GROUP_RESOURCE, name))
            return self._config_helper.describe_group(
                overrides,
                wanted,
                include_synonyms=include_synonyms,
                include_documentation=include_documentation,
            )
        if resource.resource_type == BROKER_LOGGER_RESOURCE:
            return self._loggers.describe(name, wanted)
        if resource.resource_type == CLIENT_METRICS_RESOURCE:
            overrides = self._zk_client.get_entity_config(_path_of(CLIENT_METRICS_RESOURCE, name))
            return self._config_helper.describe_client_metrics(overrides, wanted)
        self._check_broker_id(name)
        describe = self._config_helper.describe_broker if name else self._config_helper.describe_all_brokers
        return describe(wanted, include_synonyms=include_synonyms, include_documentation=include_documentation)

    def alter_configs(
        self, resources: Sequence[AlterConfigsResource], validate_only: bool
    ) -> list[AlterConfigsResourceResponse]:
        """Replace all overrides of each resource. One that occurs twice is refused, as in Kafka."""

        def alter(resource: AlterConfigsResource) -> None:
            config = {entry.name: _required(entry.name, entry.value) for entry in resource.configs}
            self._alter(resource.resource_type, resource.resource_name, config, validate_only)

        return _alter_each(resources, AlterConfigsResourceResponse, alter)

    def incremental_alter_configs(
        self, resources: Sequence[IncrementalResource], validate_only: bool
    ) -> list[IncrementalResourceResponse]:
        """Change single overrides of each resource: set, delete, append to a list, subtract from a list."""
        return _alter_each(
            resources, IncrementalResourceResponse, lambda each: self._alter_incrementally(each, validate_only)
        )

    def _alter_incrementally(self, resource: IncrementalResource, validate_only: bool) -> None:
        kind, name = resource.resource_type, resource.resource_name
        if kind == BROKER_LOGGER_RESOURCE:
            self._loggers.alter(name, resource.configs, validate_only=validate_only)
            return
        list_defaults = self._list_defaults(kind)
        if kind == TOPIC_RESOURCE:  # what is asked for is looked at before the topic, as in Kafka
            check_config_ops(resource.configs, list_defaults)
        current = self._zk_client.get_entity_config(self._entity_path(kind, name))
        config = apply_config_ops(current, resource.configs, list_defaults)
        self._alter(kind, name, config, validate_only)

    def _list_defaults(self, resource_type: int) -> dict[str, list[str]]:
        """The keys whose values are lists, with their values without an override."""
        if resource_type == GROUP_RESOURCE:
            return {}
        if resource_type == CLIENT_METRICS_RESOURCE:
            return {key.name: key.default for key in CLIENT_METRICS_CONFIG_DEF if key.type is Type.LIST}
        if resource_type != TOPIC_RESOURCE:
            return {key.name: key.default for key in DYNAMIC_BROKER_CONFIGS if key.type is Type.LIST}
        broker = self._dynamic_config.topic_defaults()
        lists = [key for key in LOG_CONFIG_DEF if key.type is Type.LIST]
        return {key.name: broker.get(key.name) or key.default for key in lists}

    def _entity_path(self, resource_type: int, name: str) -> str:
        """Where the overrides of a resource are stored. Raises ApiError if it cannot have any."""
        if resource_type == TOPIC_RESOURCE:
            self._check_topic_exists(name)
            return f"{TOPICS}/{name}"
        if resource_type == BROKER_RESOURCE:
            self._check_broker_id(name)
            return f"{BROKERS}/{self._config.broker_id if name else DEFAULT_ENTITY}"  # (the name may be "01")
        if resource_type in ENTITIES:
            return _path_of(resource_type, name)
        raise Errors.INVALID_REQUEST.exception(
            f"AlterConfigs is only supported for topics, brokers and groups, but resource type is {resource_type}"
        )

    def _alter(self, resource_type: int, name: str, config: Mapping[str, str], validate_only: bool) -> None:
        path = self._entity_path(resource_type, name)
        if resource_type == TOPIC_RESOURCE:
            self._admin_utils.validate_topic_config(config)
        elif resource_type == GROUP_RESOURCE:
            self._validate_group_config(config)
        elif resource_type == CLIENT_METRICS_RESOURCE:
            parse_subscription(name, config)
        else:
            self._dynamic_config.validate(config, per_broker=bool(name))
        if validate_only:
            return
        if resource_type in ENTITIES and not config:
            self._admin_utils.delete_entity_config(path)  # without a configuration there is no such resource
        else:
            self._admin_utils.change_entity_config(path, config)

    def _validate_group_config(self, config: Mapping[str, str]) -> None:
        try:
            validate_group_config(self._config.consumer_groups, self._config.share_groups, config)
        except ConfigError as failure:
            raise Errors.INVALID_CONFIG.exception(str(failure)) from failure

    def _check_topic_exists(self, topic: str) -> None:
        validate_topic_name(topic)
        if not self._cache.contains(topic):
            raise Errors.UNKNOWN_TOPIC_OR_PARTITION.exception(f"The topic '{topic}' does not exist.")

    def _check_broker_id(self, name: str) -> None:
        """Check that this broker serves the configuration: its own, or that of all brokers (the empty name)."""
        if name and not (name.isdecimal() and len(name) <= MAX_ID_DIGITS):
            raise Errors.INVALID_REQUEST.exception(f"Broker id must be an integer, but it is: {name}")
        if name and int(name) != self._config.broker_id:
            expected = f"expected {self._config.broker_id} or empty string, but received {name}"
            raise Errors.INVALID_REQUEST.exception(f"Unexpected broker id, {expected}")


def _refused_for_unknown_types(resources: Sequence[DescribeConfigsResource]) -> list[DescribeConfigsResult]:
    """The answer about each resource where one has a type that has no configurations: as Kafka's, an error for all."""
    unknown = sorted({resource.resource_type for resource in resources} - set(LISTED_RESOURCES))
    message = f"Unsupported resource types: {unknown}"
    return [
        DescribeConfigsResult(
            error_code=Errors.INVALID_REQUEST.code,
            error_message=message,
            resource_type=resource.resource_type,
            resource_name=resource.resource_name,
        )
        for resource in resources
    ]


def _path_of(resource_type: int, name: str) -> str:
    """Where a group's or a subscription's configuration is stored. The name may be anything, as a user's may be."""
    if not name:
        what = "Group" if resource_type == GROUP_RESOURCE else "Client metrics subscription"
        raise Errors.INVALID_REQUEST.exception(f"{what} name must not be empty")
    return f"{ENTITIES[resource_type]}/{sanitize(name)}"


def _name_of(node: str) -> str:
    """The name of an entity in ZooKeeper; as it is there if nobody of ours has written it."""
    try:
        return desanitize(node)
    except ValueError:
        return node


def _alter_each(
    resources: Sequence[_Resource], response_class: type[_Response], alter: Callable[[_Resource], None]
) -> list[_Response]:
    """Alter one resource after the other. What fails becomes the result of its resource."""
    results = []
    counts = Counter((resource.resource_type, resource.resource_name) for resource in resources)
    with BoundedLog(logger) as log:
        for resource in resources:
            kind, name = resource.resource_type, resource.resource_name
            result = response_class(error_message=None, resource_type=kind, resource_name=name)
            try:
                _check_once(counts[kind, name])
                alter(resource)
            except Exception as error:  # noqa: BLE001  (becomes the result of this resource)
                failure = _alter_error(error, kind, name, log)
                result.error_code, result.error_message = failure.error.code, str(failure)
            results.append(result)
    return results


def _check_once(count: int) -> None:
    """Thousands of changes of one broker's configuration in one request would each be written, and take effect."""
    if count > 1:
        raise Errors.INVALID_REQUEST.exception("Each resource must appear at most once.")


def _alter_error(error: Exception, resource_type: int, name: str, log: Log) -> ApiError:
    """The error of a bad value: INVALID_REQUEST in an alteration, INVALID_CONFIG in a creation, as in Kafka."""
    resource = _display(resource_type, name)
    if isinstance(error, ConfigError):
        error = Errors.INVALID_REQUEST.exception(f"Invalid config value for resource {resource}: {error}")
    return api_error(error, f"altering the configuration of {resource}", log)


def _display(resource_type: int, name: str) -> str:
    names = {
        TOPIC_RESOURCE: "TOPIC",
        BROKER_RESOURCE: "BROKER",
        BROKER_LOGGER_RESOURCE: "BROKER_LOGGER",
        CLIENT_METRICS_RESOURCE: "CLIENT_METRICS",
        GROUP_RESOURCE: "GROUP",
    }
    kind = names.get(resource_type, str(resource_type))
    return f"ConfigResource(type={kind}, name='{name}')"


def _required(name: str, value: str | None) -> str:
    if value is None:
        raise Errors.INVALID_REQUEST.exception(f"Null value not supported for : {name}")
    return value

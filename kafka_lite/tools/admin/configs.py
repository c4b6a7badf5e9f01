"""``kafka-lite configs``: show and change configurations of topics, brokers and groups, logger levels, and quotas.

Kafka 0.10.2: core/.../admin/ConfigCommand.scala, bin/kafka-configs.sh; through brokers: Kafka 2.x · book 6.1.5
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from kafka_lite.admin.admin_utils import BROKERS, DEFAULT_ENTITY, TOPICS, AdminUtils
from kafka_lite.admin.client_quotas import CLIENTS, IPS, USERS
from kafka_lite.common.errors import Errors
from kafka_lite.common.properties import load_properties
from kafka_lite.protocol.messages.api_32_describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResourceResult,
)
from kafka_lite.protocol.messages.api_44_incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from kafka_lite.protocol.messages.api_74_list_config_resources import (
    ListConfigResourcesRequest,
    ListConfigResourcesResponse,
)
from kafka_lite.server.admin.alter_config_ops import AlterConfigOp
from kafka_lite.server.admin.config_helper import ConfigSource
from kafka_lite.server.dynamic.dynamic_broker_config import validate_dynamic_configs
from kafka_lite.tools.admin.admin_channel import AdminChannel, check_answered
from kafka_lite.tools.admin.command_config import add_command_config_argument, admin_channel
from kafka_lite.tools.admin.described_configs import described_configs
from kafka_lite.tools.admin.quota_configs import (
    QUOTA_TYPES,
    Chosen,
    alter_quotas,
    alter_quotas_in_zookeeper,
    chosen_quotas,
    describe_quotas,
    describe_quotas_in_zookeeper,
)
from kafka_lite.tools.admin.scram_configs import (
    alter_credentials,
    alter_credentials_in_zookeeper,
    describe_credentials,
    has_credentials,
)
from kafka_lite.tools.admin.topics import add_cluster_arguments
from kafka_lite.tools.common.terminal import on_terminal, print_table
from kafka_lite.tools.common.tool_errors import ToolError, reports_errors
from kafka_lite.tools.zookeeper.zookeeper_session import add_zk_tls_argument, zookeeper_client
from kafka_lite.zookeeper.kafka_zk_client import KafkaZkClient

NAME = "configs"
SUMMARY = "show and change the configuration of topics, brokers and groups, and quotas of users, clients and addresses"

BROKER_LOGGERS = "broker-loggers"
GROUPS = "groups"
DEFAULT_NAME = ""
"""Stands for --entity-default among the names."""
SHORT_FLAGS = {
    "--topic": TOPICS,
    "--broker": BROKERS,
    "--broker-logger": BROKER_LOGGERS,
    "--group": GROUPS,
    "--user": USERS,
    "--client": CLIENTS,
    "--ip": IPS,
}
RESOURCE_TYPES = {TOPICS: 2, BROKERS: 4, BROKER_LOGGERS: 8, GROUPS: 32}
SOURCE_NAMES = {
    ConfigSource.TOPIC_CONFIG: "DYNAMIC_TOPIC_CONFIG",
    ConfigSource.DYNAMIC_BROKER_CONFIG: "DYNAMIC_BROKER_CONFIG",
    ConfigSource.DYNAMIC_DEFAULT_BROKER_CONFIG: "DYNAMIC_DEFAULT_BROKER_CONFIG",
    ConfigSource.STATIC_BROKER_CONFIG: "STATIC_BROKER_CONFIG",
    ConfigSource.DEFAULT_CONFIG: "DEFAULT_CONFIG",
    ConfigSource.DYNAMIC_BROKER_LOGGER_CONFIG: "DYNAMIC_BROKER_LOGGER_CONFIG",
    ConfigSource.GROUP_CONFIG: "DYNAMIC_GROUP_CONFIG",
}
_DYNAMIC_SOURCES = {
    TOPICS: ConfigSource.TOPIC_CONFIG,
    BROKERS: ConfigSource.DYNAMIC_BROKER_CONFIG,
    BROKER_LOGGERS: ConfigSource.DYNAMIC_BROKER_LOGGER_CONFIG,
    GROUPS: ConfigSource.GROUP_CONFIG,
}
"""Source of the entity's own settings; those of all brokers have source DYNAMIC_DEFAULT_BROKER_CONFIG."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of kafka-configs.sh."""
    add_cluster_arguments(parser)
    add_zk_tls_argument(parser)
    actions = parser.add_mutually_exclusive_group(required=True)
    actions.add_argument("--describe", action="store_true", help="show the configs of an entity")
    actions.add_argument("--alter", action="store_true", help="change the configs of an entity")
    _add_entity_arguments(parser)
    parser.add_argument("--all", action="store_true", help="show all configs, not only overridden ones")
    parser.add_argument("--add-config", metavar="K=V,K=[V1,V2]", help="configs to set")
    parser.add_argument("--add-config-file", type=Path, metavar="FILE", help="set the configs of a .properties file")
    parser.add_argument("--delete-config", metavar="K,K", help="configs whose overrides to delete")
    add_command_config_argument(parser)


def _add_entity_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--entity-type",
        action="append",
        default=[],
        choices=sorted((*RESOURCE_TYPES, *QUOTA_TYPES)),
        help="type of the entity; users and clients can be given together: a client of a user",
    )
    parser.add_argument(
        "--entity-name",
        action="append",
        dest="entity_names",
        default=[],
        metavar="NAME",
        help="the topic, group, user, client id or address, or the id of the broker (default for --describe: all)",
    )
    parser.add_argument(
        "--entity-default",
        action="append_const",
        const=DEFAULT_NAME,
        dest="entity_names",
        help="in place of a name: the default of all brokers, users, clients or addresses without a value of their own",
    )
    for flag, entity_type in SHORT_FLAGS.items():
        metavar = flag.rpartition("-")[2].upper()
        help_ = f"short for --entity-type {entity_type} --entity-name {metavar}"
        parser.add_argument(flag, metavar=metavar, help=help_)
    for entity_type in (BROKERS, *QUOTA_TYPES):
        help_ = f"short for --entity-type {entity_type} --entity-default"
        parser.add_argument(f"--{entity_type.removesuffix('s')}-defaults", action="store_true", help=help_)


class Entity:
    """A topic, a group, a broker, a broker's loggers, or (name None) the defaults of all brokers."""

    def __init__(self, entity_type: str, name: str | None) -> None:
        self.type = entity_type
        self.name = name

    @property
    def path(self) -> str:
        """The entity's path below /config."""
        return f"{self.type}/{self.name or DEFAULT_ENTITY}"

    def __str__(self) -> str:
        return f"{self.type.removesuffix('s')} {self.name}" if self.name else f"default {self.type} in the cluster"


@reports_errors
def run(options: argparse.Namespace) -> int:
    """Describe or alter configurations; returns 1 on error."""
    types, given = _named(options)
    if types and types[0] in QUOTA_TYPES:
        _run_quotas(options, chosen_quotas(types, given, options))
        return 0
    entity_type, names = _entities(types, given, options.alter)
    if entity_type == BROKER_LOGGERS and not options.bootstrap_server:
        raise ToolError("--entity-type broker-loggers needs --bootstrap-server: log levels are not stored in ZooKeeper")
    if entity_type == GROUPS and not options.bootstrap_server:
        raise ToolError("--entity-type groups needs --bootstrap-server: only a broker knows the limits of its groups")
    if options.bootstrap_server:
        with admin_channel(options) as channel:
            _run_with_brokers(channel, options, entity_type, names)
        return 0
    with zookeeper_client(options.zookeeper, tls_config_file=options.zk_tls_config_file) as zk_client:
        _run_with_zookeeper(zk_client, options, entity_type, names)
    return 0


def _run_quotas(options: argparse.Namespace, chosen: Chosen) -> None:
    added, deleted = _changes(options) if options.alter else ({}, [])
    if has_credentials([*added, *deleted]):
        _alter_credentials(options, chosen, added, deleted)
        return
    if options.bootstrap_server:
        with admin_channel(options) as channel:
            if options.describe:
                describe_quotas(channel, chosen)
                if [folder for folder, _ in chosen] == [USERS] and chosen[0][1] != DEFAULT_NAME:
                    describe_credentials(channel, chosen[0][1])
            else:
                alter_quotas(channel, chosen, added, deleted)
        return
    with zookeeper_client(options.zookeeper, tls_config_file=options.zk_tls_config_file) as zk_client:
        if options.describe:
            describe_quotas_in_zookeeper(zk_client, chosen)
        else:
            alter_quotas_in_zookeeper(zk_client, chosen, added, deleted)


def _alter_credentials(
    options: argparse.Namespace, chosen: Chosen, added: Mapping[str, str], deleted: Sequence[str]
) -> None:
    if [folder for folder, _ in chosen] != [USERS]:
        raise ToolError("only users have credentials: use --entity-type users")
    user = chosen[0][1] or ""
    if options.bootstrap_server:
        with admin_channel(options) as channel:
            alter_credentials(channel, user, added, deleted)
        return
    with zookeeper_client(options.zookeeper, tls_config_file=options.zk_tls_config_file) as zk_client:
        alter_credentials_in_zookeeper(zk_client, user, added, deleted)


def _named(options: argparse.Namespace) -> tuple[list[str], list[str]]:
    """The entity types and names of all flags; DEFAULT_NAME for a default. Raises ToolError."""
    values = vars(options)
    short = [
        (entity_type, values[flag.removeprefix("--").replace("-", "_")]) for flag, entity_type in SHORT_FLAGS.items()
    ]
    defaults = [(each, values[f"{each.removesuffix('s')}_defaults"]) for each in (BROKERS, *QUOTA_TYPES)]
    chosen = [(entity_type, name) for entity_type, name in short if name is not None]
    chosen += [(entity_type, DEFAULT_NAME) for entity_type, is_chosen in defaults if is_chosen]
    if chosen and (options.entity_type or options.entity_names):
        raise ToolError("--entity-type and --entity-name cannot be combined with their short forms")
    if chosen:
        return [entity_type for entity_type, _ in chosen], [name for _, name in chosen]
    return options.entity_type, options.entity_names


def _entities(types: Sequence[str], names: Sequence[str], is_alter: bool) -> tuple[str, Sequence[str | None] | None]:
    """The entity type and names: [None] for the default entity, None for all."""
    if not types:
        raise ToolError(f"--entity-type is missing: {', '.join((*RESOURCE_TYPES, *QUOTA_TYPES))}")
    if len(types) > 1 or len(names) > 1:
        raise ToolError(f"name one entity: {', '.join((*types, *names))} are too many")
    (entity_type,) = types
    if names == [DEFAULT_NAME]:
        if entity_type == TOPICS:
            raise ToolError("--entity-default is not valid for topics: they use the brokers' defaults")
        if entity_type == GROUPS:
            raise ToolError("--entity-default is not valid for groups: they use the brokers' keys group.consumer.*")
        if entity_type == BROKER_LOGGERS:
            raise ToolError("--entity-default is not valid for broker-loggers: name the broker with --entity-name")
        return BROKERS, [None]
    if names:
        return entity_type, names
    if is_alter or entity_type == BROKER_LOGGERS:
        alternative = "" if entity_type == BROKER_LOGGERS else " (or --entity-default)"
        raise ToolError(f"--alter, and every action on {BROKER_LOGGERS}, needs --entity-name{alternative}")
    return entity_type, None


# ------------------------------------------------------------------------------------------------------- with brokers


def _run_with_brokers(
    channel: AdminChannel, options: argparse.Namespace, entity_type: str, names: Sequence[str | None] | None
) -> None:
    if names is None:
        names = _all_names(channel, entity_type)
    for name in names:
        entity = Entity(entity_type, name)
        if options.describe:
            _describe(channel, entity, everything=options.all)
        else:
            added, deleted = _changes(options)
            _alter(channel, entity, added, deleted)
            print(f"Completed updating config for {entity}.")


def _all_names(channel: AdminChannel, entity_type: str) -> Sequence[str | None]:
    """The entities to describe if none is named: of groups, those that have a configuration of their own."""
    if entity_type == TOPICS:
        return channel.topic_names()
    if entity_type == GROUPS:
        request = ListConfigResourcesRequest(resource_types=[RESOURCE_TYPES[GROUPS]])
        response = channel.send(request, ListConfigResourcesResponse)
        if response.error_code:
            raise Errors.for_code(response.error_code).exception()
        return [resource.resource_name for resource in response.config_resources]
    return [*map(str, sorted(channel.brokers)), None]


def _broker_of(channel: AdminChannel, entity: Entity) -> int | None:
    """Id of the broker to ask: only the broker itself knows its configuration. None for any broker."""
    if entity.type in (TOPICS, GROUPS) or entity.name is None:
        return None
    if not entity.name.isdecimal() or int(entity.name) not in channel.brokers:
        alive = ", ".join(map(str, sorted(channel.brokers)))
        raise ToolError(f"The entity name for brokers must be the id of a live broker: {alive}; not {entity.name}")
    return int(entity.name)


def _fetch(channel: AdminChannel, entity: Entity) -> list[DescribeConfigsResourceResult]:
    resource = DescribeConfigsResource(
        resource_type=RESOURCE_TYPES[entity.type], resource_name=entity.name or "", configuration_keys=None
    )
    request = DescribeConfigsRequest(resources=[resource], include_synonyms=True)
    (result,) = described_configs(channel, request, _broker_of(channel, entity))
    return result.configs


def _dynamic_source(entity: Entity) -> ConfigSource:
    is_default = entity.type == BROKERS and not entity.name
    return ConfigSource.DYNAMIC_DEFAULT_BROKER_CONFIG if is_default else _DYNAMIC_SOURCES[entity.type]


def _describe(channel: AdminChannel, entity: Entity, *, everything: bool) -> None:
    dynamic = _dynamic_source(entity)
    found = sorted(_fetch(channel, entity), key=lambda entry: entry.name)
    entries = [e for e in found if everything or e.config_source == dynamic]
    adjective = "All" if everything else "Dynamic"
    title = (
        f"{adjective} configs for {entity} are:"
        if entity.name
        else f"Default configs for {entity.type} in the cluster are:"
    )
    if on_terminal():
        rows = [(e.name, _value(e), SOURCE_NAMES.get(ConfigSource(e.config_source), "")) for e in entries]
        print_table(["name", "value", "from"], rows, title=title)
        return
    print(title)
    for entry in entries:
        synonyms = ", ".join(
            f"{SOURCE_NAMES[ConfigSource(s.source)]}:{s.name}={_null(s.value)}" for s in entry.synonyms
        )
        print(f"  {entry.name}={_value(entry)} sensitive={str(entry.is_sensitive).lower()} synonyms={{{synonyms}}}")


def _value(entry: DescribeConfigsResourceResult) -> str:
    return _null(entry.value)


def _null(value: str | None) -> str:
    return "null" if value is None else value


def _alter(channel: AdminChannel, entity: Entity, added: Mapping[str, str], deleted: Sequence[str]) -> None:
    if deleted:
        dynamic = _dynamic_source(entity)
        _check_deletable(deleted, [e.name for e in _fetch(channel, entity) if e.config_source == dynamic])
    values: dict[str, str | None] = {**added, **dict.fromkeys(deleted)}
    alter_configs(channel, entity.type, entity.name or "", values, _broker_of(channel, entity))


def alter_configs(
    channel: AdminChannel, entity_type: str, name: str, values: Mapping[str, str | None], broker_id: int | None
) -> None:
    """Set these configs of an entity, and delete those with the value None. Raises ApiError and ToolError.

    ``broker_id``: the broker to ask, which must be the one whose configuration changes; None for any broker.
    """
    ops = [
        AlterableConfig(
            name=key, config_operation=AlterConfigOp.DELETE if value is None else AlterConfigOp.SET, value=value
        )
        for key, value in values.items()
    ]
    resource = AlterConfigsResource(resource_type=RESOURCE_TYPES[entity_type], resource_name=name, configs=ops)
    request = IncrementalAlterConfigsRequest(resources=[resource])
    response = channel.send(request, IncrementalAlterConfigsResponse, broker_id)
    for result in response.responses:
        if result.error_code:
            raise Errors.for_code(result.error_code).exception(result.error_message)
    check_answered([name], (result.resource_name for result in response.responses))


# ----------------------------------------------------------------------------------------------------- with ZooKeeper


def _run_with_zookeeper(
    zk_client: KafkaZkClient, options: argparse.Namespace, entity_type: str, names: Sequence[str | None] | None
) -> None:
    if names is None:
        names = zk_client.get_all_topics() if entity_type == TOPICS else zk_client.get_entities(BROKERS)
    for name in names:
        entity = Entity(entity_type, name)
        config = zk_client.get_entity_config(entity.path)
        if options.describe:
            print(f"Configs for {entity} are {','.join(f'{key}={value}' for key, value in config.items())}")
            continue
        added, deleted = _changes(options)
        _check_deletable(deleted, config)
        changed = {key: value for key, value in {**config, **added}.items() if key not in deleted}
        admin_utils = AdminUtils(zk_client)
        if entity_type == TOPICS:
            admin_utils.change_topic_config(str(name), changed)
        else:
            validate_dynamic_configs(changed)
            admin_utils.change_entity_config(entity.path, changed)
        print(f"Completed updating config for {entity}.")


# ------------------------------------------------------------------------------------------------------------- options


def _changes(options: argparse.Namespace) -> tuple[dict[str, str], list[str]]:
    """The configs to set and the names to delete, from the flags. Raises ToolError."""
    added = load_properties(options.add_config_file) if options.add_config_file else {}
    if options.add_config:
        added |= parse_add_config(options.add_config)
    deleted = [name.strip() for name in (options.delete_config or "").split(",") if name.strip()]
    if not added and not deleted:
        raise ToolError("--alter needs --add-config, --add-config-file or --delete-config")
    return added, deleted


def parse_add_config(text: str) -> dict[str, str]:
    """Parse ``k1=v1,k2=[v1,v2]``; commas in brackets belong to the value. Raises ToolError."""
    entries = re.split(r",(?![^\[]*\])", text)
    if any("=" not in entry for entry in entries):
        raise ToolError(f'--add-config {text}: all configs to be added must be in the format "key=val"')
    pairs = (entry.split("=", 1) for entry in entries)
    return {key.strip(): value.strip().removeprefix("[").removesuffix("]").strip() for key, value in pairs}


def _check_deletable(deleted: Sequence[str], overridden: Sequence[str] | Mapping[str, str]) -> None:
    missing = [name for name in deleted if name not in overridden]
    if missing:
        raise ToolError(f"Invalid config(s): {','.join(missing)}: not overridden")

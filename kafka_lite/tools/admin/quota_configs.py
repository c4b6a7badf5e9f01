"""Quotas of users, client ids and addresses, for ``kafka-lite configs``.

Kafka 0.10.2: core/.../admin/ConfigCommand.scala (ConfigEntity, parseQuotaEntity); through brokers: Kafka 2.6
· book 10.1
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest

from kafka_lite.admin.admin_utils import AdminUtils
from kafka_lite.admin.client_quotas import (
    CLIENT_ID,
    CLIENTS,
    IPS,
    PARTS,
    USER,
    USERS,
    QuotaEntity,
    altered,
    name_of_node,
    quota_path,
)
from kafka_lite.common.errors import Errors
from kafka_lite.common.java.java_numbers import double_text
from kafka_lite.protocol.messages import api_48_describe_client_quotas as describe
from kafka_lite.protocol.messages import api_49_alter_client_quotas as alter
from kafka_lite.server.apis.client_quota_apis import MatchType
from kafka_lite.tools.admin.admin_channel import AdminChannel, check_error
from kafka_lite.tools.common.tool_errors import ToolError
from kafka_lite.zookeeper.kafka_zk_client import KafkaZkClient

QUOTA_TYPES = (USERS, CLIENTS, IPS)
TITLES = {USER: "user-principal", CLIENT_ID: "client-id", "ip": "ip"}

Chosen = Sequence[tuple[str, str | None]]
"""Entity types with names: a name, an empty one for the default, or None for all."""


def chosen_quotas(types: Sequence[str], names: Sequence[str], options: argparse.Namespace) -> Chosen:
    """The entities that the flags name: each name belongs to the type at its place. Raises ToolError."""
    if len(set(types)) < len(types) or (IPS in types and len(types) > 1) or not set(types) <= set(QUOTA_TYPES):
        raise ToolError(f"--entity-type {' and '.join(types)}: only users and clients can be combined")
    if len(names) > len(types):
        raise ToolError("there are more entity names than entity types")
    if options.alter and len(names) < len(types):
        raise ToolError("--entity-name or --entity-default must be specified with each --entity-type for --alter")
    return sorted(zip_longest(types, names), key=lambda each: QUOTA_TYPES.index(each[0]))


def entity_of(chosen: Chosen) -> QuotaEntity:
    """The entity with these names."""
    return {PARTS[folder]: name or None for folder, name in chosen}


def title(entity: QuotaEntity) -> str:
    """An entity in 0.10.2's words."""
    return ", ".join(
        f"default {TITLES[part]}" if name is None else f"{TITLES[part]} '{name}'" for part, name in entity.items()
    )


def changed_values(added: Mapping[str, str], deleted: Sequence[str]) -> dict[str, float | None]:
    """The values to set, and None for those to remove. Raises ToolError."""
    values: dict[str, float | None] = dict.fromkeys(deleted)
    for key, text in added.items():
        try:
            values[key] = int(text) if text.isdecimal() else float(text)
        except ValueError:
            raise ToolError(f"Cannot parse quota configuration value for {key}: {text}") from None
    return values


# ------------------------------------------------------------------------------------------------------- with brokers


def describe_quotas(channel: AdminChannel, chosen: Chosen) -> None:
    """Print the quotas of the entities that have exactly the chosen types."""
    for entity, quotas in described_quotas(channel, chosen):
        named = [f"the default {TITLES[p]}" if n is None else f"{TITLES[p]} '{n}'" for p, n in entity.items()]
        values = ", ".join(f"{key}={double_text(value)}" for key, value in sorted(quotas.items()))
        print(f"Quota configs for {', '.join(named)} are {values}")


def described_quotas(channel: AdminChannel, chosen: Chosen) -> list[tuple[QuotaEntity, dict[str, float]]]:
    """The entities that have exactly the chosen types, with their quotas. Raises ToolError."""
    request = describe.DescribeClientQuotasRequest(components=[_component(*each) for each in chosen], strict=True)
    response = channel.send(request, describe.DescribeClientQuotasResponse)
    check_error(response.error_code, response.error_message)
    found: list[tuple[QuotaEntity, dict[str, float]]] = []
    for entry in response.entries or ():
        names = {part.entity_type: part.entity_name for part in entry.entity}
        entity = {PARTS[folder]: names[PARTS[folder]] for folder, _ in chosen}
        found.append((entity, {value.key: value.value for value in entry.values}))
    return found


def _component(folder: str, name: str | None) -> describe.ComponentData:
    match = MatchType.ANY if name is None else MatchType.EXACT if name else MatchType.DEFAULT
    return describe.ComponentData(entity_type=PARTS[folder], match_type=match, match=name or None)


def alter_quotas(channel: AdminChannel, chosen: Chosen, added: Mapping[str, str], deleted: Sequence[str]) -> None:
    """Set and remove quotas of one entity. Raises ToolError and ApiError."""
    if deleted:
        existing = described_quotas(channel, chosen)
        _check_deletable(deleted, existing[0][1] if existing else {})
    ops = [
        alter.OpData(key=key, value=0.0 if value is None else float(value), remove=value is None)
        for key, value in changed_values(added, deleted).items()
    ]
    parts = [alter.EntityData(entity_type=part, entity_name=name) for part, name in entity_of(chosen).items()]
    request = alter.AlterClientQuotasRequest(entries=[alter.EntryData(entity=parts, ops=ops)])
    for result in channel.send(request, alter.AlterClientQuotasResponse).entries:
        if result.error_code:
            raise Errors.for_code(result.error_code).exception(result.error_message)
    folder, name = chosen[0]
    what = f"config for {folder.removesuffix('s')} {name}" if name else f"default config for {folder} in the cluster"
    print(f"Completed updating {what}.")


def _check_deletable(deleted: Sequence[str], existing: Mapping[str, object]) -> None:
    missing = [key for key in deleted if key not in existing]
    if missing:
        raise ToolError(f"Invalid config(s): {','.join(missing)}: not overridden")


# ----------------------------------------------------------------------------------------------------- with ZooKeeper


def describe_quotas_in_zookeeper(zk_client: KafkaZkClient, chosen: Chosen) -> None:
    """Print the configurations of the chosen nodes, as 0.10.2 does."""
    for entity in _entities(zk_client, chosen):
        config = zk_client.get_entity_config(quota_path(entity))
        if config or all(name is not None for _, name in chosen):
            print(f"Configs for {title(entity)} are {','.join(f'{key}={value}' for key, value in config.items())}")


def _entities(zk_client: KafkaZkClient, chosen: Chosen) -> Iterator[QuotaEntity]:
    """The chosen entities; in place of a name that is missing, all that have a node."""
    (folder, name), *child = chosen
    names = [name or None] if name is not None else map(name_of_node, sorted(zk_client.get_entities(folder)))
    for each in names:
        root: QuotaEntity = {PARTS[folder]: each}
        if not child:
            yield root
            continue
        ((child_folder, child_name),) = child
        if child_name is not None:
            yield {**root, PARTS[child_folder]: child_name or None}
        else:
            for node in sorted(zk_client.get_entities(f"{quota_path(root)}/{child_folder}")):
                yield {**root, PARTS[child_folder]: name_of_node(node)}


def alter_quotas_in_zookeeper(
    zk_client: KafkaZkClient, chosen: Chosen, added: Mapping[str, str], deleted: Sequence[str]
) -> None:
    """Write one node, and notify the brokers. Raises ToolError and ApiError."""
    entity = entity_of(chosen)
    path = quota_path(entity)
    config = zk_client.get_entity_config(path)
    _check_deletable(deleted, config)
    AdminUtils(zk_client).change_entity_config(path, altered(entity, config, changed_values(added, deleted)))
    print(f"Completed Updating config for entity: {title(entity)}.")

"""Single changes of a configuration: set, delete, append, subtract.

Kafka 2.3: core/.../server/AdminManager.scala (prepareIncrementalConfigs), KIP-339 · book 6.1.5
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Mapping, Sequence
from enum import IntEnum

from kafka_lite.common.errors import Errors
from kafka_lite.protocol.messages.api_44_incremental_alter_configs import AlterableConfig


class AlterConfigOp(IntEnum):
    """An operation on a key; the numbers are those of the protocol."""

    SET = 0
    DELETE = 1
    APPEND = 2
    SUBTRACT = 3


_OF_LISTS = (AlterConfigOp.APPEND, AlterConfigOp.SUBTRACT)


def apply_config_ops(
    current: Mapping[str, str], ops: Sequence[AlterableConfig], list_defaults: Mapping[str, list[str]]
) -> dict[str, str]:
    """The overrides after the operations. ``list_defaults``: the keys whose values are lists, with their defaults.

    Raises ApiError as ``check_config_ops`` does.
    """
    check_config_ops(ops, list_defaults)
    config = dict(current)
    for op in ops:
        kind = AlterConfigOp(op.config_operation)
        if kind is AlterConfigOp.DELETE:
            config.pop(op.name, None)
        elif kind is AlterConfigOp.SET:
            config[op.name] = op.value or ""
        else:
            config[op.name] = _changed_list(kind, op, config, list_defaults)
    return config


def check_config_ops(ops: Sequence[AlterableConfig], lists: Container[str] | None = None) -> None:
    """Raise INVALID_REQUEST for a duplicate key, an unknown operation or a missing value.

    With the keys whose values are ``lists``: INVALID_CONFIG for a list operation on any other key.
    """
    duplicates = sorted(name for name, count in Counter(op.name for op in ops).items() if count > 1)
    unknown = sorted({op.config_operation for op in ops} - set(AlterConfigOp))
    without_value = [op.name for op in ops if op.value is None and op.config_operation != AlterConfigOp.DELETE]
    if duplicates:
        raise Errors.INVALID_REQUEST.exception(f"Error due to duplicate config keys : {','.join(duplicates)}")
    if unknown:
        raise Errors.INVALID_REQUEST.exception(f"Unknown operations : {unknown}")
    if without_value:
        raise Errors.INVALID_REQUEST.exception(f"Null value not supported for : {','.join(without_value)}")
    for op in ops:
        if lists is not None and op.config_operation in _OF_LISTS and op.name not in lists:
            kind = AlterConfigOp(op.config_operation).name.lower()
            raise Errors.INVALID_CONFIG.exception(f"Config value {kind} is not allowed for config key: {op.name}")


def _changed_list(
    kind: AlterConfigOp, op: AlterableConfig, config: Mapping[str, str], list_defaults: Mapping[str, list[str]]
) -> str:
    old = [e.strip() for e in config[op.name].split(",") if e.strip()] if op.name in config else list_defaults[op.name]
    entries = [entry.strip() for entry in (op.value or "").split(",") if entry.strip()]
    if kind is AlterConfigOp.APPEND:
        known = set(old)
        return ",".join([*old, *(entry for entry in entries if entry not in known)])
    subtracted = set(entries)
    return ",".join(entry for entry in old if entry not in subtracted)

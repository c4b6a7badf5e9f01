"""Changes the levels of a running broker's loggers.

Kafka 2.4: core/.../server/AdminManager.scala (alterLogLevelConfigs), KIP-412; later logger/RuntimeLoggerManager.java ·
book 10.1
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence

from kafka_lite.common.errors import Errors
from kafka_lite.common.process import log_levels
from kafka_lite.common.process.log_levels import LEVELS, ROOT_LOGGER
from kafka_lite.protocol.messages.api_32_describe_configs import DescribeConfigsResourceResult
from kafka_lite.protocol.messages.api_44_incremental_alter_configs import AlterableConfig
from kafka_lite.server.admin.alter_config_ops import AlterConfigOp, check_config_ops
from kafka_lite.server.admin.config_helper import ConfigSource

logger = logging.getLogger(__name__)

BROKER_LOGGER_RESOURCE = 8
"""The resource type in DescribeConfigs and IncrementalAlterConfigs."""

VALID_LEVELS = ", ".join(sorted(LEVELS))


class RuntimeLoggerManager:
    """The loggers of this process as a resource with configurations: name of the logger -> its level.

    Only the running process is changed; a restart returns to its logging configuration.
    """

    def __init__(self, broker_id: int) -> None:
        self._broker_id = broker_id

    def describe(self, name: str, wanted: Iterable[str] | None = None) -> list[DescribeConfigsResourceResult]:
        """The effective level of each logger (or the given ones). Raises INVALID_REQUEST for another broker."""
        self._validate_broker(name)
        names = None if wanted is None else set(wanted)
        return [
            DescribeConfigsResourceResult(
                name=each,
                value=level,
                read_only=False,
                config_source=ConfigSource.DYNAMIC_BROKER_LOGGER_CONFIG,
                is_sensitive=False,
            )
            for each, level in log_levels.loggers().items()
            if names is None or each in names
        ]

    def alter(self, name: str, ops: Sequence[AlterableConfig], *, validate_only: bool) -> None:
        """Set levels (SET), or inherit them from parent loggers (DELETE). If one change is invalid, none is applied.

        Raises INVALID_REQUEST for another broker, other operations, DELETE of the root and the errors of
        ``check_config_ops``, INVALID_CONFIG for an unknown logger or level.
        """
        check_config_ops(ops)
        self._validate_broker(name)
        for op in ops:
            _validate(op)
        if validate_only:
            return
        for op in ops:
            _apply(op)

    def _validate_broker(self, name: str) -> None:
        if not name:
            raise Errors.INVALID_REQUEST.exception("Broker id must not be empty")
        try:
            broker_id = int(name)
        except ValueError:
            message = f"Node id must be an integer, but it is: {name}"
            raise Errors.INVALID_REQUEST.exception(message) from None
        if broker_id != self._broker_id:
            message = f"Unexpected broker id, expected {self._broker_id} but received {name}"
            raise Errors.INVALID_REQUEST.exception(message)


def _validate(op: AlterableConfig) -> None:
    match op.config_operation:
        case AlterConfigOp.SET:
            _validate_exists(op.name)
            if op.value not in LEVELS:
                raise Errors.INVALID_CONFIG.exception(
                    f"Cannot set the log level of {op.name} to {op.value} as it is not a supported log level. "
                    f"Valid log levels are {VALID_LEVELS}"
                )
        case AlterConfigOp.DELETE:
            _validate_exists(op.name)
            if op.name == ROOT_LOGGER:
                message = f"Removing the log level of the {ROOT_LOGGER} logger is not allowed"
                raise Errors.INVALID_REQUEST.exception(message)
        case kind:  # APPEND or SUBTRACT
            message = f"{AlterConfigOp(kind).name} operation is not allowed for the BROKER_LOGGER resource"
            raise Errors.INVALID_REQUEST.exception(message)


def _validate_exists(name: str) -> None:
    if not log_levels.logger_exists(name):
        raise Errors.INVALID_CONFIG.exception(f"Logger {name} does not exist!")


def _apply(op: AlterableConfig) -> None:
    if op.config_operation == AlterConfigOp.SET:
        log_levels.set_level(op.name, str(op.value))
        logger.warning("Updated the log level of %s to %s", op.name, op.value)
    else:
        log_levels.unset_level(op.name)
        logger.warning("Removed the log level of %s", op.name)

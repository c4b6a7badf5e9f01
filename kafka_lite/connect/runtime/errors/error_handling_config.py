"""The configuration keys ``errors.*`` of a connector.

Kafka 2.0: connect/runtime/.../connect/runtime/ConnectorConfig.java, SinkConnectorConfig.java · book 8.3.5
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from kafka_lite.common.config_def import ConfigDef, Importance, Type, ValidString
from kafka_lite.common.config_value import Width
from kafka_lite.common.java.java_pattern import JavaPatternError, java_pattern

MEDIUM = Importance.MEDIUM
ERROR_GROUP = "Error Handling"
TOLERANCE, RETRY_TIMEOUT, RETRY_MAX_DELAY = "errors.tolerance", "errors.retry.timeout", "errors.retry.delay.max.ms"
LOG_ENABLE, LOG_INCLUDE_MESSAGES = "errors.log.enable", "errors.log.include.messages"
DLQ_TOPIC = "errors.deadletterqueue.topic.name"
DLQ_REPLICATION_FACTOR = "errors.deadletterqueue.topic.replication.factor"
DLQ_CONTEXT_HEADERS = "errors.deadletterqueue.context.headers.enable"
NONE, ALL = "none", "all"


def define_error_keys(definition: ConfigDef) -> ConfigDef:
    """Add the keys that source and sink connectors have."""
    return (
        definition
        .define(RETRY_TIMEOUT, Type.LONG, 0, MEDIUM,
                "How long a failed operation is retried, ms. 0: not at all; -1: for ever.",
                group=ERROR_GROUP, order_in_group=1, width=Width.MEDIUM, display_name="Retry Timeout for Errors")
        .define(RETRY_MAX_DELAY, Type.LONG, 60_000, MEDIUM,
                "The longest wait between two tries, ms. Above it, waits are random.",
                group=ERROR_GROUP, order_in_group=2, width=Width.MEDIUM,
                display_name="Maximum Delay Between Retries for Errors")
        .define(TOLERANCE, Type.STRING, NONE, MEDIUM,
                "none: an error of a record ends the task. all: such records are skipped.",
                ValidString.in_(NONE, ALL),
                group=ERROR_GROUP, order_in_group=3, width=Width.SHORT, display_name="Error Tolerance")
        .define(LOG_ENABLE, Type.BOOLEAN, False, MEDIUM,
                "Whether each error is logged, with its operation.",
                group=ERROR_GROUP, order_in_group=4, width=Width.SHORT, display_name="Log Errors")
        .define(LOG_INCLUDE_MESSAGES, Type.BOOLEAN, False, MEDIUM,
                "Whether the log has the record that failed, too: of a sink where it was read, of a source all of it.",
                group=ERROR_GROUP, order_in_group=5, width=Width.SHORT, display_name="Log Error Details")
    )  # fmt: skip


def define_dead_letter_queue_keys(definition: ConfigDef) -> ConfigDef:
    """Add the keys that only sink connectors have."""
    return (
        definition
        .define(DLQ_TOPIC, Type.STRING, "", MEDIUM,
                "The topic that gets the records that failed, as they were read. Without it there is none.",
                group=ERROR_GROUP, order_in_group=6, width=Width.MEDIUM, display_name="Dead Letter Queue Topic Name")
        .define(DLQ_REPLICATION_FACTOR, Type.SHORT, 3, MEDIUM,
                "The replication factor of the topic, if it has to be created.",
                group=ERROR_GROUP, order_in_group=7, width=Width.MEDIUM,
                display_name="Dead Letter Queue Topic Replication Factor")
        .define(DLQ_CONTEXT_HEADERS, Type.BOOLEAN, False, MEDIUM,
                "Whether the records get headers that say where, in which operation and how they failed.",
                group=ERROR_GROUP, order_in_group=8, width=Width.MEDIUM, display_name="Enable Error Context Headers")
    )  # fmt: skip


@dataclass(frozen=True)
class ErrorHandlingConfig:
    """The values of a connector's keys. The defaults are those of Kafka: nothing is tolerated."""

    tolerates_all: bool = False
    retry_timeout_ms: int = 0
    """-1: for ever."""
    retry_delay_max_ms: int = 60_000
    log_enabled: bool = False
    log_includes_messages: bool = False
    dead_letter_topic: str = ""
    """Empty: there is no dead letter queue."""
    dead_letter_replication_factor: int = 3
    dead_letter_context_headers: bool = False

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Self:
        """From parsed values; a source connector has none of the dead letter queue."""
        return cls(
            tolerates_all=values[TOLERANCE] == ALL,
            retry_timeout_ms=values[RETRY_TIMEOUT],
            retry_delay_max_ms=values[RETRY_MAX_DELAY],
            log_enabled=values[LOG_ENABLE],
            log_includes_messages=values[LOG_INCLUDE_MESSAGES],
            dead_letter_topic=values.get(DLQ_TOPIC, "").strip(),
            dead_letter_replication_factor=values.get(DLQ_REPLICATION_FACTOR, 3),
            dead_letter_context_headers=values.get(DLQ_CONTEXT_HEADERS, False),
        )

    @property
    def reports_errant_records(self) -> bool:
        """Whether a sink task may report records that it cannot write."""
        return bool(self.dead_letter_topic) or self.log_enabled


def dead_letter_topic_problem(topics: list[str], regex: str, dead_letter_topic: str) -> str | None:
    """Why a sink may not have these topics, or None: one that read its own dead letter queue would never be done."""
    if not dead_letter_topic:
        return None
    if regex and _matches(regex, dead_letter_topic):
        return (
            f"The DLQ topic '{dead_letter_topic}' may not be included in the regex matching the topics "
            f"('topics.regex={regex}') consumed by the connector"
        )
    if dead_letter_topic not in topics:
        return None
    return (
        f"The DLQ topic '{dead_letter_topic}' may not be included in the list of topics "
        f"('topics=[{', '.join(topics)}]') consumed by the connector"
    )


def _matches(regex: str, topic: str) -> bool:
    """False for what is no regular expression: its own key has that error."""
    try:
        return java_pattern(regex).fullmatch(topic) is not None
    except JavaPatternError:
        return False

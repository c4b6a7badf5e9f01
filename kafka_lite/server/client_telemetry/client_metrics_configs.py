"""A subscription to metrics of clients: which metrics, of which clients, how often.

Kafka 3.7: server/.../server/metrics/ClientMetricsConfigs.java, KIP-714; 0.10 has none of it · book 10.1
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from kafka_lite.common.config_def import ConfigDef, ConfigError, Importance, Type
from kafka_lite.common.errors import Errors

METRICS, INTERVAL_MS, MATCH = "metrics", "interval.ms", "match"
ALL_METRICS: Final = "*"
DEFAULT_INTERVAL_MS, MIN_INTERVAL_MS, MAX_INTERVAL_MS = 300_000, 100, 3_600_000
MATCHED_ATTRIBUTES = (
    "client_instance_id",
    "client_id",
    "client_software_name",
    "client_software_version",
    "client_source_address",
    "client_source_port",
)

CLIENT_METRICS_CONFIG_DEF = (
    ConfigDef()
    .define(METRICS, Type.LIST, "", Importance.MEDIUM, "Prefixes of metric names, or * for all metrics.")
    .define(INTERVAL_MS, Type.INT, DEFAULT_INTERVAL_MS, Importance.MEDIUM, "How often clients push them, in ms.")
    .define(MATCH, Type.LIST, "", Importance.MEDIUM, "Regular expressions of clients: attribute=pattern each.")
)


@dataclass(frozen=True)
class Subscription:
    """The parsed configuration of one resource."""

    metrics: frozenset[str]
    interval_ms: int
    patterns: Mapping[str, re.Pattern[str]]

    def matches(self, attributes: Mapping[str, str]) -> bool:
        """Whether a client with these attributes is meant: every pattern matches the whole value."""
        return all(pattern.fullmatch(attributes.get(name, "")) for name, pattern in self.patterns.items())


def parse_subscription(name: str, config: Mapping[str, str]) -> Subscription:
    """The subscription of a resource. Raises ApiError INVALID_REQUEST, and INVALID_CONFIG for a bad pattern."""
    if not name:
        raise Errors.INVALID_REQUEST.exception("Subscription name can't be empty")
    for key in config:
        if key not in CLIENT_METRICS_CONFIG_DEF:
            raise Errors.INVALID_REQUEST.exception(f"Unknown client metrics configuration: {key}")
    try:
        values = CLIENT_METRICS_CONFIG_DEF.parse(config)
    except ConfigError as error:
        raise Errors.INVALID_REQUEST.exception(str(error)) from None
    interval_ms: int = values[INTERVAL_MS]
    if not MIN_INTERVAL_MS <= interval_ms <= MAX_INTERVAL_MS:
        allowed = f"must be between {MIN_INTERVAL_MS} and {MAX_INTERVAL_MS} (1 hour)"
        raise Errors.INVALID_REQUEST.exception(f"Invalid value {interval_ms} for {INTERVAL_MS}, interval {allowed}")
    return Subscription(frozenset(values[METRICS]), interval_ms, parse_patterns(values[MATCH]))


def parse_patterns(texts: Iterable[str]) -> dict[str, re.Pattern[str]]:
    """The pattern of each attribute, from ``attribute=pattern`` each. Raises ApiError INVALID_CONFIG."""
    patterns = {}
    for text in texts:
        parts = text.split("=")
        attribute = parts[0].strip()
        try:
            if len(parts) != 2 or attribute not in MATCHED_ATTRIBUTES:
                raise ValueError(text)
            patterns[attribute] = re.compile(parts[1].strip())
        except (ValueError, re.error):
            raise Errors.INVALID_CONFIG.exception(f"Illegal client matching pattern: {text}") from None
    return patterns

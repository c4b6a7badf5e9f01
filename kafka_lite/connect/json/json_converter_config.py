"""The configuration of JsonConverter.

Kafka 3.9: connect/json/.../connect/json/JsonConverterConfig.java, DecimalFormat.java · book 8.3.3
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kafka_lite.common.config_def import Check, ConfigDef, Importance, Type
from kafka_lite.common.config_value import Width

BASE64 = "BASE64"
NUMERIC = "NUMERIC"

JSON_CONVERTER_CONFIG = (
    ConfigDef()
    .define(
        "schemas.enable",
        Type.BOOLEAN,
        True,
        Importance.HIGH,
        "Include schemas within each of the serialized values and keys.",
        group="Schemas",
        order_in_group=0,
        width=Width.MEDIUM,
        display_name="Enable Schemas",
    )
    .define(
        "schemas.cache.size",
        Type.INT,
        1000,
        Importance.HIGH,
        "The maximum number of schemas that can be cached in this converter instance.",
        group="Schemas",
        order_in_group=1,
        width=Width.MEDIUM,
        display_name="Schema Cache Size",
    )
    .define(
        "decimal.format",
        Type.STRING,
        BASE64,
        Importance.LOW,
        "Controls which format this converter will serialize decimals in. This value is case insensitive and can be "
        "either 'BASE64' (default) or 'NUMERIC'",
        Check(lambda text: text.upper() in (BASE64, NUMERIC), "BASE64 or NUMERIC, in any case"),
        group="Serialization",
        order_in_group=0,
        width=Width.MEDIUM,
        display_name="Decimal Format",
    )
    .define(
        "replace.null.with.default",
        Type.BOOLEAN,
        True,
        Importance.LOW,
        "Whether to replace fields that have a default value and that are null to the default value. When set to true, "
        "the default value is used, otherwise null is used.",
        group="Serialization",
        order_in_group=1,
        width=Width.MEDIUM,
        display_name="Replace null with default",
    )
)


@dataclass(frozen=True)
class JsonConverterConfig:
    """The parsed configuration."""

    schemas_enabled: bool = True
    """Whether each value is in an envelope, beside its schema."""
    schema_cache_size: int = 1000
    numeric_decimals: bool = False
    """Whether decimals are written as numbers, and not as base64 of their bytes. Either is read."""
    replace_null_with_default: bool = True

    @staticmethod
    def of(configs: Mapping[str, object]) -> JsonConverterConfig:
        """Parse a converter's configuration; unknown keys are ignored. Raises ConfigError."""
        parsed = JSON_CONVERTER_CONFIG.parse(configs)
        return JsonConverterConfig(
            parsed["schemas.enable"],
            parsed["schemas.cache.size"],
            parsed["decimal.format"].upper() == NUMERIC,
            parsed["replace.null.with.default"],
        )

"""Leaves out fields, and renames them.

Kafka 0.10.2: connect/transforms/.../connect/transforms/ReplaceField.java; include, exclude: Kafka 2.6 · book 8.3.3
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kafka_lite.common.config_def import ConfigDef, ConfigError, Importance, Type
from kafka_lite.common.lru_cache import LRUCache
from kafka_lite.connect.api.data.schema import Schema
from kafka_lite.connect.api.data.schema_builder import SchemaBuilder
from kafka_lite.connect.api.data.struct import Struct
from kafka_lite.connect.api.transformation import R
from kafka_lite.connect.transforms.key_or_value import (
    SCHEMA_CACHE_SIZE,
    KeyOrValueTransformation,
    OnKey,
    OnValue,
    copy_schema_basics,
)
from kafka_lite.connect.transforms.requirements import require_map, require_struct

PURPOSE = "field replacement"


class _Renames:
    """Checks that each entry is a pair."""

    def ensure_valid(self, name: str, value: Sequence[str]) -> None:  # noqa: ARG002  there is one such key
        """Raise ConfigError if an entry is not."""
        parse_renames(value)

    def __str__(self) -> str:
        return "list of colon-delimited pairs, e.g. <code>foo:bar,abc:xyz</code>"


def parse_renames(mappings: Sequence[str]) -> dict[str, str]:
    """The new names by the old ones. Raises ConfigError."""
    renames = {}
    for mapping in mappings:
        old, _, new = mapping.partition(":")
        if not old or not new or ":" in new:
            raise ConfigError("renames", f"[{', '.join(mappings)}]", f"Invalid rename mapping: {mapping}")
        renames[old] = new
    return renames


CONFIG = (
    ConfigDef()
    .define(
        "exclude",
        Type.LIST,
        [],
        Importance.MEDIUM,
        "Fields to exclude. This takes precedence over the fields to include.",
    )
    .define("blacklist", Type.LIST, None, Importance.LOW, "Deprecated. Use exclude instead.")
    .define(
        "include",
        Type.LIST,
        [],
        Importance.MEDIUM,
        "Fields to include. If specified, only these fields will be used.",
    )
    .define("whitelist", Type.LIST, None, Importance.LOW, "Deprecated. Use include instead.")
    .define("renames", Type.LIST, [], Importance.MEDIUM, "Field rename mappings.", _Renames())
)


class ReplaceField(KeyOrValueTransformation):
    """``exclude`` wins over ``include``; ``renames`` has pairs ``old:new``.

    0.10.2 says ``blacklist`` and ``whitelist``, which are understood as well. A record without a value (or key) stays
    as it is, as since Kafka 2.0.
    """

    def config(self) -> ConfigDef:
        """The keys of the configuration."""
        return CONFIG

    def configure(self, configs: Mapping[str, object]) -> None:
        """Take the configuration. Raises ConfigError."""
        parsed = CONFIG.parse(configs)
        self._exclude = frozenset(parsed["exclude"] or parsed["blacklist"] or ())
        self._include = frozenset(parsed["include"] or parsed["whitelist"] or ())
        self._renames = parse_renames(parsed["renames"])
        self._schemas = LRUCache[Schema, Schema](SCHEMA_CACHE_SIZE)

    def apply(self, record: R) -> R:
        """Take the fields that are wanted, under their new names. Raises DataError for a value without fields."""
        schema, value = self.operating_schema(record), self.operating_value(record)
        if value is None:
            return record
        if schema is None:
            return self.new_record(record, None, self._replaced(require_map(value, PURPOSE)))
        struct = require_struct(value, PURPOSE)
        updated = self._schemas.get(struct.schema, lambda: self._updated_schema(struct.schema))
        return self.new_record(record, updated, Struct(updated, self._replaced(dict(struct.items()))))

    def _is_wanted(self, name: str) -> bool:
        """Whether a field stays, by its old name: not if it is excluded, nor if others are included."""
        return name not in self._exclude and (not self._include or name in self._include)

    def _replaced(self, values: Mapping[str, object]) -> dict[str, object]:
        """The fields that are wanted, in their order, under their new names."""
        return {self._renames.get(name, name): value for name, value in values.items() if self._is_wanted(name)}

    def _updated_schema(self, schema: Schema) -> Schema:
        """The schema of such a struct: name, version, doc and parameters are those of ``schema``."""
        builder = copy_schema_basics(schema, SchemaBuilder.struct())
        for field in schema.fields:
            if self._is_wanted(field.name):
                builder.field(self._renames.get(field.name, field.name), field.schema)
        return builder.build()


class ReplaceFieldKey(OnKey, ReplaceField):
    """Kafka: ReplaceField$Key."""


class ReplaceFieldValue(OnValue, ReplaceField):
    """Kafka: ReplaceField$Value."""

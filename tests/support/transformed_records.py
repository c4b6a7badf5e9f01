"""What the tests of transformations share."""

from __future__ import annotations

from typing import Any

from kafka_lite.connect.api import Schema, SourceRecord, Transformation
from kafka_lite.connect.java_names import load


def made(name: str, **config: object) -> Transformation:
    """The transformation of a name of Java's, configured; ``_`` in a key is a point."""
    transformation: Transformation = load(name)()
    transformation.configure({key.replace("_", "."): value for key, value in config.items()})
    return transformation


def of_value(transformation: Transformation, value: Any, schema: Schema | None = None) -> SourceRecord:
    """What it makes of a record with this value."""
    changed = transformation.apply(SourceRecord(topic="t", key="k", value=value, value_schema=schema, timestamp=0))
    assert changed is not None
    return changed

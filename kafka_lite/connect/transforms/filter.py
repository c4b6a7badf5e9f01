"""Drops records. Together with a predicate: those that it is true of.

Kafka 2.6: connect/transforms/.../connect/transforms/Filter.java · book 8.3.3
"""

from __future__ import annotations

from kafka_lite.connect.api.transformation import R, Transformation


class Filter(Transformation):
    """There is nothing to configure but ``predicate`` and ``negate``, which every transformation has."""

    def apply(self, record: R) -> R | None:  # noqa: ARG002
        """Drop the record."""
        return None

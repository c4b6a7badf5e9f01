"""A connector that copies data into Kafka.

Kafka 0.10.2: connect/api/.../connect/source/SourceConnector.java; alter_offsets: Kafka 3.6 · book 8.3.2
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kafka_lite.connect.api.connector import Connector


class SourceConnector(Connector):
    """Extend it, and let ``task_class`` return a SourceTask."""

    def alter_offsets(
        self,
        connector_config: Mapping[str, str],  # noqa: ARG002  a hook
        offsets: Sequence[tuple[dict[str, Any], dict[str, Any] | None]],  # noqa: ARG002
    ) -> bool:
        """Check the offsets that a user wants to set, by source partition; None removes one.

        Returns whether the connector knows that they can be used. Raises ConnectError if they cannot.
        """
        return False

"""The configuration of a topic that Streams creates.

Kafka 0.10.2: streams/.../processor/internals/InternalTopicConfig.java · book 9.1.3
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

CLEANUP_POLICY = "cleanup.policy"
RETENTION_MS = "retention.ms"
MAX_RETENTION_MS = (1 << 63) - 1


@dataclass(frozen=True)
class InternalTopicConfig:
    """A repartition topic is deleted by age; a changelog is compacted, that of a window store also deleted by age."""

    name: str
    cleanup_policy: str
    """``compact``, ``delete`` or ``compact,delete``, unless ``log_config`` has another one."""
    log_config: Mapping[str, str] = field(default_factory=dict, hash=False)
    """Configuration of the user."""
    retention_ms: int | None = None
    """How long the store keeps its entries, if they expire."""

    def to_properties(self, additional_retention_ms: int = 0) -> dict[str, str]:
        """The topic's configuration. Expired entries stay in a changelog for ``additional_retention_ms``.

        The user's ``log_config`` takes precedence.
        """
        properties = {CLEANUP_POLICY: self.cleanup_policy}
        if self.retention_ms is not None:
            properties[RETENTION_MS] = str(min(self.retention_ms + additional_retention_ms, MAX_RETENTION_MS))
        return {**properties, **self.log_config}

"""The configuration of an instance: where it is, and what it is disabled for.

Helix 0.6.9: helix-core/.../model/InstanceConfig.java · book 8.2.2
"""

from __future__ import annotations

from dataclasses import dataclass

from kafka_lite.mirror.helix.zn_record import ZNRecord

HELIX_DISABLED_PARTITION = "HELIX_DISABLED_PARTITION"
"""A map from resources to their disabled partitions, joined by commas. Old versions had a list of partitions."""


@dataclass(frozen=True)
class InstanceConfig:
    """The configuration of an instance, as its record has it."""

    record: ZNRecord

    @classmethod
    def joining(cls, instance: str) -> InstanceConfig:
        """A participant's record if it joins by itself: a name such as w1_8080 is cut at its last underscore."""
        host, _, port = instance.rpartition("_")
        fields = {"HELIX_ENABLED": "true", "HELIX_HOST": host or instance, "HELIX_PORT": port if host else ""}
        return cls(ZNRecord(instance, fields))

    @property
    def instance(self) -> str:
        """The instance's name."""
        return self.record.id

    @property
    def enabled(self) -> bool:
        """Whether the instance takes partitions at all."""
        return self.record.simple_fields.get("HELIX_ENABLED", "true").lower() != "false"

    def enabled_for(self, resource: str, partition: str) -> bool:
        """Whether the instance takes this partition."""
        older = self.record.list_fields.get(HELIX_DISABLED_PARTITION, ())
        return self.enabled and partition not in self._disabled(resource) and partition not in older

    def with_partition_disabled(self, resource: str, partition: str) -> InstanceConfig:
        """The record that a participant writes after a failed reset: it does not want the partition any more."""
        disabled = ",".join(sorted({*self._disabled(resource), partition}))
        others = self.record.map_fields.get(HELIX_DISABLED_PARTITION, {})
        return InstanceConfig(self.record.with_map(HELIX_DISABLED_PARTITION, {**others, resource: disabled}))

    def _disabled(self, resource: str) -> list[str]:
        text = self.record.map_fields.get(HELIX_DISABLED_PARTITION, {}).get(resource, "")
        return [name for name in text.split(",") if name]

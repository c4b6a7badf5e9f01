"""The ideal state of a resource: where its partitions should be, or how Helix is to decide it.

    mode        who decides                                                    partitions are in
    CUSTOMIZED  the application: each instance's state, per partition          mapFields {partition: {instance: state}}
    SEMI_AUTO   Helix the states, by a preference list of the application      listFields {partition: [instance, ...]}
    FULL_AUTO   Helix the lists, too; those of the record stay empty           listFields {partition: []}

uReplicator's mode is CUSTOMIZED: its controller owns the map from partition to worker.

Helix 0.6.9: helix-core/.../model/IdealState.java (IdealState), helix-core/.../model/builder/CustomModeISBuilder.java
(CustomModeISBuilder) · book 8.2.2
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from kafka_lite.mirror.helix.zn_record import ZNRecord, sorted_fields

ANY_LIVE_INSTANCE = "ANY_LIVEINSTANCE"
"""As REPLICAS: all live instances. As a preference list: all of them, by name."""
DEFAULT_FACTORY = "DEFAULT"


class RebalanceMode(Enum):
    """Decides who places replicas; the value is IDEAL_STATE_MODE, its older name."""

    CUSTOMIZED = "CUSTOMIZED"
    SEMI_AUTO = "AUTO"
    FULL_AUTO = "AUTO_REBALANCE"


@dataclass(frozen=True)
class IdealState:
    """The ideal state of a resource, as its record has it."""

    record: ZNRecord

    @classmethod
    def customized(
        cls,
        resource: str,
        state_model: str,
        assignment: Mapping[str, Mapping[str, str]],
        *,
        replicas: int = 1,
        num_partitions: int | None = None,
    ) -> IdealState:
        """The record that CustomModeISBuilder makes of the states of instances per partition.

        ``num_partitions`` is their number, if some of them have no instance, and so no entry.
        """
        number = len(assignment) if num_partitions is None else num_partitions
        fields = {
            **_fields(RebalanceMode.CUSTOMIZED, state_model, number, str(replicas)),
            "MAX_PARTITIONS_PER_INSTANCE": str(number),
        }
        maps = {partition: sorted_fields(states) for partition, states in assignment.items()}
        return cls(ZNRecord(resource, sorted_fields(fields), {}, sorted_fields(maps)))

    @classmethod
    def automatic(
        cls,
        mode: RebalanceMode,
        resource: str,
        state_model: str,
        preference_lists: Mapping[str, Sequence[str]],
        *,
        replicas: int | str,
    ) -> IdealState:
        """The record of a SEMI_AUTO or FULL_AUTO resource; in FULL_AUTO the lists are empty."""
        fields = {
            **_fields(mode, state_model, len(preference_lists), str(replicas)),
            "REBALANCE_STRATEGY": "DEFAULT",
        }
        return cls(ZNRecord(resource, sorted_fields(fields), sorted_fields(preference_lists)))

    # -------------------------------------------------------------------------------------------------------- fields

    @property
    def resource(self) -> str:
        """The resource's name."""
        return self.record.id

    @property
    def mode(self) -> RebalanceMode:
        """REBALANCE_MODE, or else what IDEAL_STATE_MODE stands for; SEMI_AUTO without both, as in Helix."""
        name = self.record.simple_fields.get("REBALANCE_MODE", "")
        if name in RebalanceMode.__members__:
            return RebalanceMode[name]
        older = self.record.simple_fields.get("IDEAL_STATE_MODE", "")
        return next((mode for mode in RebalanceMode if mode.value == older), RebalanceMode.SEMI_AUTO)

    @property
    def state_model(self) -> str | None:
        """The name of its state model."""
        return self.record.simple_fields.get("STATE_MODEL_DEF_REF")

    @property
    def state_model_factory(self) -> str:
        """The name of the factory that makes its replicas in a participant."""
        return self.record.simple_fields.get("STATE_MODEL_FACTORY_NAME", DEFAULT_FACTORY)

    @property
    def enabled(self) -> bool:
        """Whether the resource is enabled: a disabled one goes to the initial state everywhere."""
        return self.record.simple_fields.get("HELIX_ENABLED", "true").lower() != "false"

    @property
    def max_partitions_per_instance(self) -> int | None:
        """How many replicas FULL_AUTO gives to one instance at most; None for any number."""
        text = self.record.simple_fields.get("MAX_PARTITIONS_PER_INSTANCE", "")
        return int(text) if text.isascii() and text.isdigit() else None

    @property
    def num_partitions(self) -> int:
        """NUM_PARTITIONS: how many there are, also without an instance; if it is no number, those that are named."""
        text = self.record.simple_fields.get("NUM_PARTITIONS", "")
        return int(text) if text.isascii() and text.isdigit() else len(self.partitions)

    @property
    def partitions(self) -> tuple[str, ...]:
        """The names of its partitions, in order."""
        fields = self.record.map_fields if self.mode is RebalanceMode.CUSTOMIZED else self.record.list_fields
        return tuple(sorted(fields))

    # ----------------------------------------------------------------------------------------------------- questions

    def replicas(self, live_instances: int) -> int | None:
        """The number R: REPLICAS, or without it the replicas of the first partition; None if it is no number."""
        text = self.record.simple_fields.get("REPLICAS")
        if text is None:
            return self._replicas_of_first_partition()
        if text == ANY_LIVE_INSTANCE:
            return live_instances
        return int(text) if text.isascii() and text.isdigit() else None

    def _replicas_of_first_partition(self) -> int:
        if not self.partitions or self.mode is RebalanceMode.FULL_AUTO:
            return 0
        first = self.partitions[0]
        if self.mode is RebalanceMode.CUSTOMIZED:
            return len(self.record.map_fields[first])
        return len(self.record.list_fields[first])

    def instance_states(self, partition: str) -> Mapping[str, str] | None:
        """CUSTOMIZED: the states of instances; None if the partition is not in the ideal state any more."""
        return self.record.map_fields.get(partition)

    def preference_list(self, partition: str, live_instances: Sequence[str]) -> Sequence[str] | None:
        """SEMI_AUTO: the instances, best one first; None if the partition is not in the ideal state any more."""
        instances = self.record.list_fields.get(partition)
        if instances is not None and list(instances) == [ANY_LIVE_INSTANCE]:
            return sorted(live_instances)
        return instances


def _fields(mode: RebalanceMode, state_model: str, partitions: int, replicas: str) -> dict[str, str]:
    return {
        "IDEAL_STATE_MODE": mode.value,
        "NUM_PARTITIONS": str(partitions),
        "REBALANCE_MODE": mode.name,
        "REPLICAS": replicas,
        "STATE_MODEL_DEF_REF": state_model,
        "STATE_MODEL_FACTORY_NAME": DEFAULT_FACTORY,
    }

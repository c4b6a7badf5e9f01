"""The current state of an instance's partitions of one resource, in one session. Only the participant writes it.

A partition is missing as long as it is in the initial state and no transition was ever asked for, and again once it
was dropped.

Helix 0.6.9: helix-core/.../model/CurrentState.java (CurrentState),
helix-core/.../manager/zk/CurStateCarryOverUpdater.java (CurStateCarryOverUpdater) · book 8.2.3
"""

from __future__ import annotations

from dataclasses import dataclass

from kafka_lite.mirror.helix.model.ideal_state import DEFAULT_FACTORY
from kafka_lite.mirror.helix.zn_record import ZNRecord, sorted_fields

CURRENT_STATE = "CURRENT_STATE"


@dataclass(frozen=True)
class CurrentState:
    """A current state, as its record has it."""

    record: ZNRecord

    @classmethod
    def empty(cls, resource: str, session: str, state_model: str, factory: str = DEFAULT_FACTORY) -> CurrentState:
        """The record before the first transition of a resource in a session."""
        fields = {
            "BATCH_MESSAGE_MODE": "false",
            "BUCKET_SIZE": "0",
            "SESSION_ID": session,
            "STATE_MODEL_DEF": state_model,
            "STATE_MODEL_FACTORY_NAME": factory,
        }
        return cls(ZNRecord(resource, fields))

    # -------------------------------------------------------------------------------------------------------- fields

    @property
    def resource(self) -> str:
        """The resource's name."""
        return self.record.id

    @property
    def session(self) -> str | None:
        """The session that it belongs to: without it, or with another one, the controller ignores the record."""
        return self.record.simple_fields.get("SESSION_ID")

    @property
    def state_model(self) -> str | None:
        """The name of its state model: once the ideal state is deleted, only this record has it."""
        return self.record.simple_fields.get("STATE_MODEL_DEF")

    @property
    def state_model_factory(self) -> str:
        """The name of the factory that made its replicas."""
        return self.record.simple_fields.get("STATE_MODEL_FACTORY_NAME", DEFAULT_FACTORY)

    @property
    def states(self) -> dict[str, str]:
        """From each partition to its state."""
        maps = self.record.map_fields
        return {name: values[CURRENT_STATE] for name, values in maps.items() if CURRENT_STATE in values}

    # ------------------------------------------------------------------------------------------------------- changes

    def with_state(self, partition: str, state: str, info: str = "") -> CurrentState:
        """After a transition of a partition; ``info`` is what the transition returned."""
        record = self.record.with_map(partition, {CURRENT_STATE: state, "INFO": info})
        return CurrentState(
            ZNRecord(record.id, record.simple_fields, record.list_fields, sorted_fields(record.map_fields))
        )

    def without(self, partition: str) -> CurrentState:
        """After the drop of a partition."""
        return CurrentState(self.record.without_map(partition))

    def carried_over(self, session: str, initial_state: str, newer: CurrentState | None) -> CurrentState:
        """The record of the new session, made from this one of an older session by a participant that returns.

        Each partition is entered in the initial state, since nothing runs in the new session, unless the new
        session's record (``newer``) has it already.
        """
        result = newer or CurrentState(ZNRecord(self.resource, {**self.record.simple_fields, "SESSION_ID": session}))
        for partition in self.states:
            if partition not in result.states:
                maps = {**result.record.map_fields, partition: {CURRENT_STATE: initial_state}}
                result = CurrentState(
                    ZNRecord(self.resource, result.record.simple_fields, result.record.list_fields, sorted_fields(maps))
                )
        return result

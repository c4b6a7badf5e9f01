"""A message to an instance: almost always one transition of one partition.

The controller creates it in the state ``new``. The participant sets it to ``read`` when it takes it, and deletes it
after the current state was written. So a transition that is on its way is always visible: in the message, in the
current state, or in both.

Helix 0.6.9: helix-core/.../model/Message.java · book 8.2.2
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from kafka_lite.mirror.helix.model.ideal_state import DEFAULT_FACTORY
from kafka_lite.mirror.helix.zn_record import ZNRecord, sorted_fields

ANY_SESSION = "*"
ANY_STATE = "*"
_REQUIRED = (
    "TGT_NAME",
    "PARTITION_NAME",
    "RESOURCE_NAME",
    "STATE_MODEL_DEF",
    "TO_STATE",
    "STATE_MODEL_FACTORY_NAME",
    "FROM_STATE",
)


class MessageType(Enum):
    """The kinds of request that a message makes."""

    STATE_TRANSITION = "STATE_TRANSITION"
    NO_OP = "NO_OP"
    """Nothing: it makes a participant look at its messages, after a new factory was registered."""


class MessageState(Enum):
    """How far a participant is with a message."""

    NEW = "new"
    """Action: it waits for its participant. Transition: to READ when the participant takes it."""
    READ = "read"
    """Action: its transition runs, or waits for a thread. Transition: it is deleted after the current state is set."""


@dataclass(frozen=True)
class Message:
    """A message, as its record has it."""

    record: ZNRecord

    @classmethod
    def transition(
        cls,
        message_id: str,
        now_ms: int,
        *,
        source: tuple[str, str | None],
        target: tuple[str, str],
        resource: str,
        partition: str,
        from_state: str,
        to_state: str,
        state_model: str,
        factory: str = DEFAULT_FACTORY,
        event: str | None = None,
    ) -> Message:
        """A new transition. Source and target are a name and a session; an administrator has no session."""
        fields = {
            "CREATE_TIMESTAMP": str(now_ms),
            "FROM_STATE": from_state,
            "MSG_ID": message_id,
            "MSG_STATE": MessageState.NEW.value,
            "MSG_TYPE": MessageType.STATE_TRANSITION.value,
            "PARTITION_NAME": partition,
            "RESOURCE_NAME": resource,
            "SRC_NAME": source[0],
            "STATE_MODEL_DEF": state_model,
            "STATE_MODEL_FACTORY_NAME": factory,
            "TGT_NAME": target[0],
            "TGT_SESSION_ID": target[1],
            "TO_STATE": to_state,
        }
        optional = {"SRC_SESSION_ID": source[1], "ClusterEventName": event}
        fields |= {name: value for name, value in optional.items() if value is not None}
        return cls(ZNRecord(message_id, sorted_fields(fields)))

    @classmethod
    def no_op(cls, message_id: str, now_ms: int, instance: str) -> Message:
        """The message that a participant sends to itself, one per registered factory."""
        fields = {
            "CREATE_TIMESTAMP": str(now_ms),
            "MSG_ID": message_id,
            "MSG_STATE": MessageState.NEW.value,
            "MSG_TYPE": MessageType.NO_OP.value,
            "SRC_NAME": instance,
            "TGT_NAME": instance,
        }
        return cls(ZNRecord(message_id, fields))

    # -------------------------------------------------------------------------------------------------------- fields

    @property
    def id(self) -> str:
        """The message's name in its parent."""
        return self.record.id

    @property
    def type(self) -> str:
        """The name of a MessageType, or of one that is not known here."""
        return self.record.simple_fields.get("MSG_TYPE", "")

    @property
    def is_transition(self) -> bool:
        """Whether it asks for a transition."""
        return self.type == MessageType.STATE_TRANSITION.value

    @property
    def state(self) -> str:
        """The value of a MessageState."""
        return self.record.simple_fields.get("MSG_STATE", "").lower()

    @property
    def is_new(self) -> bool:
        """Whether nobody has taken it so far."""
        return self.state == MessageState.NEW.value

    @property
    def instance(self) -> str:
        """The instance that it is for."""
        return self.record.simple_fields.get("TGT_NAME", "")

    @property
    def session(self) -> str:
        """The session of the instance that it is for; another session deletes it unseen."""
        return self.record.simple_fields.get("TGT_SESSION_ID", "")

    @property
    def resource(self) -> str:
        """The resource."""
        return self.record.simple_fields.get("RESOURCE_NAME", "")

    @property
    def partition(self) -> str:
        """The partition."""
        return self.record.simple_fields.get("PARTITION_NAME", "")

    @property
    def from_state(self) -> str:
        """The state that the replica must be in."""
        return self.record.simple_fields.get("FROM_STATE", "")

    @property
    def to_state(self) -> str:
        """The state that it shall get into."""
        return self.record.simple_fields.get("TO_STATE", "")

    @property
    def state_model(self) -> str:
        """The name of the state model."""
        return self.record.simple_fields.get("STATE_MODEL_DEF", "")

    @property
    def factory(self) -> str:
        """The name of the factory that makes the replica."""
        return self.record.simple_fields.get("STATE_MODEL_FACTORY_NAME", DEFAULT_FACTORY)

    @property
    def created_ms(self) -> int:
        """When it was created; 0 if the record does not say it."""
        text = self.record.simple_fields.get("CREATE_TIMESTAMP", "")
        return int(text) if text.isascii() and text.isdigit() else 0

    def missing_fields(self) -> tuple[str, ...]:
        """The fields without which a transition is not valid."""
        return tuple(name for name in _REQUIRED if not self.record.simple_fields.get(name))

    # ------------------------------------------------------------------------------------------------------- changes

    def read(self, session: str, now_ms: int) -> Message:
        """The message as a participant marks it when it takes it."""
        record = self.record.with_simple(
            EXE_SESSION_ID=session, MSG_STATE=MessageState.READ.value, READ_TIMESTAMP=str(now_ms)
        )
        return Message(ZNRecord(record.id, sorted_fields(record.simple_fields), record.list_fields, record.map_fields))

"""A participant that lives, and the session it has. The znode is ephemeral: it goes when the session ends.

Helix 0.6.9: helix-core/.../model/LiveInstance.java · book 8.2.3
"""

from __future__ import annotations

from dataclasses import dataclass

from kafka_lite.mirror.helix.zn_record import ZNRecord

HELIX_VERSION = "0.6.9"


@dataclass(frozen=True)
class LiveInstance:
    """A live instance, or the controller in charge, whose record has the same fields."""

    record: ZNRecord

    @classmethod
    def of(cls, name: str, session: str, process: str) -> LiveInstance:
        """The session is the ZooKeeper session in lower-case hex without 0x; the process is ``PID@HOST``."""
        return cls(ZNRecord(name, {"HELIX_VERSION": HELIX_VERSION, "LIVE_INSTANCE": process, "SESSION_ID": session}))

    @property
    def name(self) -> str:
        """The instance's name."""
        return self.record.id

    @property
    def session(self) -> str:
        """Its session: messages are addressed to it, and current states are kept below it."""
        return self.record.simple_fields.get("SESSION_ID", "")

"""Where records that are appended to a log come from.

Kafka 2.5: core/.../log/AppendOrigin.scala · book 6.1.2
"""

from __future__ import annotations

from enum import Enum


class AppendOrigin(Enum):
    """The writer of a batch: control batches and offset ranges are checked only for clients."""

    CLIENT = "client"
    COORDINATOR = "coordinator"
    REPLICATION = "replication"

"""Stage 8, sending: the messages as writes, in the order of resources and partitions.

Helix 0.6.9: helix-core/.../controller/stages/TaskAssignmentStage.java · book 8.2.2
"""

from __future__ import annotations

from kafka_lite.mirror.helix.property_paths import PropertyPaths
from kafka_lite.mirror.helix.stages.message_generation import Messages
from kafka_lite.mirror.helix.writes import Create


def assign_tasks(messages: Messages, paths: PropertyPaths) -> list[Create]:
    """One new znode per message, below its instance."""
    return [
        Create(paths.message(message.instance, message.id), message.record)
        for of_partition in messages.values()
        for message in of_partition
    ]

"""The records of ``__share_group_state``, in which a share coordinator stores the state of share partitions (KIP-932).

::

    key                                      value
    version:int16 | message                  version:int16 | message

    0  group, topic id, partition   →   0    snapshot: all of the state; null: the partition is forgotten
    1  group, topic id, partition   →   0    update: what has changed since the snapshot

The version of the key tells the kind of record. A partition's state is its last snapshot with the updates after it:

    snapshot(epoch 0)  update  update  ...  update  snapshot(epoch 1)  update
                                                    └─ records before it are deleted from the log in time

Kafka 4.1: share-coordinator/.../resources/common/message/ShareSnapshotKey.json, ShareUpdateKey.json · book 10.3
"""

from __future__ import annotations

from uuid import UUID

from kafka_lite.protocol.messages.share_state import StateBatch
from kafka_lite.protocol.schema import Message, array, int32, int64, string, uuid_


class ShareSnapshotKey(Message, versions="0"):
    """The key of a snapshot."""

    group_id: str = string()
    topic_id: UUID = uuid_()
    partition: int = int32()


class ShareSnapshotValue(Message, versions="0", flexible="0+"):
    """All of a partition's state."""

    snapshot_epoch: int = int32()  # one more with each snapshot
    state_epoch: int = int32()
    leader_epoch: int = int32()
    start_offset: int = int64()  # -1 if it is not known yet
    create_timestamp: int = int64()
    write_timestamp: int = int64()  # later than create_timestamp if an idle partition's state was written once more
    state_batches: list[StateBatch] = array(StateBatch)


class ShareUpdateKey(Message, versions="1"):
    """The key of an update."""

    group_id: str = string()
    topic_id: UUID = uuid_()
    partition: int = int32()


class ShareUpdateValue(Message, versions="0", flexible="0+"):
    """Changes since the snapshot. An update never changes the state epoch."""

    snapshot_epoch: int = int32()  # of the snapshot to which it belongs
    leader_epoch: int = int32()
    start_offset: int = int64()  # -1 if it has not changed
    state_batches: list[StateBatch] = array(StateBatch)

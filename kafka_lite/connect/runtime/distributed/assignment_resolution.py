"""Whether a worker may start what it was assigned: all workers must act on the same state of the config topic.

Kafka 0.10.2: connect/runtime/.../connect/runtime/distributed/DistributedHerder.java (handleRebalanceCompleted) · book
8.3.4
"""

from __future__ import annotations

from kafka_lite.connect.runtime.distributed.connect_protocol import Assignment


def must_read_to_end(assignment: Assignment, offset: int, is_leader: bool) -> bool:
    """Whether the worker, which has read up to ``offset``, has to read the config topic first.

    If the assignment has failed, the leader did not know what another member knows. It will lead the next round, too.
    """
    return offset < assignment.offset or (assignment.failed and is_leader)


def may_start(assignment: Assignment, offset: int) -> bool:
    """Whether to start the work. Otherwise the worker joins again.

    A worker that has read *beyond* the assignment does not start it, either: its connectors may be other ones by now.
    """
    return not assignment.failed and offset == assignment.offset

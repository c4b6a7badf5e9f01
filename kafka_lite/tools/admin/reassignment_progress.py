"""The progress of a reassignment: a bar on a terminal, otherwise a line for each change.

Kafka's tool has no such thing: one runs --verify again and again.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.tools.admin.partition_json import Assignments
from kafka_lite.tools.admin.reassignment_service import Reassignments, ReassignmentService
from kafka_lite.tools.common.terminal import on_terminal

POLL_S = 0.5


@dataclass(frozen=True)
class Progress:
    """How many partitions are where they should be, and how many bytes of the new replicas are there."""

    done: int
    partitions: int
    copied_bytes: int
    total_bytes: int

    def __str__(self) -> str:
        partitions = f"{self.done} of {self.partitions} partitions reassigned"
        if not self.total_bytes:
            return partitions
        return f"{partitions}, {self.copied_bytes:,} of {self.total_bytes:,} bytes copied"


def progress_of(
    targets: Assignments, in_progress: Reassignments, sizes: Mapping[tuple[int, TopicPartition], int]
) -> Progress:
    """How far the reassignment is. A new replica has to become as large as the largest old one.

    The bytes are those of partitions that are still moving.
    """
    moving = {tp: in_progress[tp] for tp in targets if tp in in_progress}
    copied = total = 0
    for tp, reassignment in moving.items():
        whole = max((sizes.get((broker, tp), 0) for broker in reassignment.origin_replicas), default=0)
        for broker in reassignment.adding_replicas:
            total += whole
            copied += min(whole, sizes.get((broker, tp), 0))
    return Progress(len(targets) - len(moving), len(targets), copied, total)


def poll(service: ReassignmentService, targets: Assignments, poll_s: float = POLL_S) -> Iterator[Progress]:
    """Poll the progress and yield each state, until all reassignments are complete."""
    topics = {tp.topic for tp in targets}
    while True:
        in_progress = service.in_progress()
        progress = progress_of(targets, in_progress, service.sizes(topics))
        yield progress
        if progress.done == progress.partitions:
            return
        time.sleep(poll_s)


def watch_reassignment(service: ReassignmentService, targets: Assignments) -> None:
    """Show the progress until all partitions of ``targets`` have been reassigned, or were given up."""
    if on_terminal():
        _draw_bar(poll(service, targets), len(targets))
        return
    last = None
    for progress in poll(service, targets):
        if progress != last:
            print(progress, flush=True)
        last = progress


def _draw_bar(progresses: Iterator[Progress], partitions: int) -> None:
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
    with Bar(*columns) as bar:
        task = bar.add_task("reassigning", total=float(partitions))
        for progress in progresses:
            # Partitions that are under way count with the share of their bytes that is there.
            share = progress.copied_bytes / progress.total_bytes if progress.total_bytes else 0.0
            shown = progress.done + share * (progress.partitions - progress.done)
            bar.update(task, completed=shown, description=str(progress))

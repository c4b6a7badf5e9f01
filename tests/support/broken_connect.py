"""Workers of Connect that break a promise, for the simulator to find."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import count
from typing import Any

from kafka_lite.connect.runtime.distributed import worker_coordinator
from kafka_lite.connect.runtime.distributed.connect_protocol import WorkerState
from kafka_lite.connect.runtime.distributed.worker_assignment import GroupAssignment, assign
from kafka_lite.connect.runtime.storage.cluster_config_state import ClusterConfigState
from kafka_lite.connect.runtime.tasks.worker_sink_task import WorkerSinkTask
from kafka_lite.connect.runtime.tasks.worker_source_task import WorkerSourceTask
from kafka_lite.testing.simulation.connect import programs


def storing_offsets_at_once(*args: Any) -> None:
    """A flush does not wait until the records before it are acknowledged."""
    WorkerSourceTask._await_outstanding = lambda *_: True  # type: ignore[method-assign]
    programs.worker(*args)


def committing_without_a_flush(*args: Any) -> None:
    """Of four commits of a sink, three do not have its task write what it has."""
    commit, numbers = WorkerSinkTask._commit, count(1)

    def commit_only(task: WorkerSinkTask, closing: bool) -> None:
        pre_commit = task._task.pre_commit
        if not closing and next(numbers) % 4:
            task._task.pre_commit = lambda offsets: offsets  # type: ignore[method-assign]
        try:
            commit(task, closing)
        finally:
            task._task.pre_commit = pre_commit  # type: ignore[method-assign]

    WorkerSinkTask._commit = commit_only  # type: ignore[method-assign]
    programs.worker(*args)


def giving_a_task_twice(*args: Any) -> None:
    """A leader gives the last task to all members."""

    def assign_twice(leader: str, members: Mapping[str, WorkerState], configs: ClusterConfigState) -> GroupAssignment:
        group = assign(leader, members, configs)
        last = [configs.tasks(name)[-1] for name in configs.connectors[-1:] if configs.tasks(name)]
        by_member = {
            member: each if each.failed else replace(each, tasks=tuple(dict.fromkeys((*each.tasks, *last))))
            for member, each in group.by_member.items()
        }
        return replace(group, by_member=by_member)

    worker_coordinator.assign = assign_twice  # type: ignore[attr-defined]
    programs.worker(*args)

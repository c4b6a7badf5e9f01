"""The tasks of one instance while they are assigned, and what the next one would cost it.

Kafka 0.10.2: streams/.../processor/internals/assignment/ClientState.java · book 9.1.3
"""

from __future__ import annotations

from dataclasses import dataclass, field

from kafka_lite.streams.task_id import TaskId

COST_ACTIVE = 0.1
"""Of a task that was active here: its state is complete."""
COST_STANDBY = 0.2
"""Of a task whose state was kept here: a bit is missing."""
COST_LOAD = 0.5
"""Of any other task: the whole state must be restored."""


@dataclass
class ClientState:
    """An instance. Its capacity is the number of its threads."""

    capacity: float = 0
    prev_active_tasks: set[TaskId] = field(default_factory=set)
    prev_assigned_tasks: set[TaskId] = field(default_factory=set)
    """The active ones and those whose state was kept."""
    active_tasks: set[TaskId] = field(default_factory=set)
    standby_tasks: set[TaskId] = field(default_factory=set)
    cost: float = 0

    @property
    def assigned_tasks(self) -> set[TaskId]:
        """Active and standby tasks."""
        return self.active_tasks | self.standby_tasks

    def assign(self, task: TaskId, active: bool) -> None:
        """Add a task and its cost. It is no longer one of the previous tasks."""
        (self.active_tasks if active else self.standby_tasks).add(task)
        self.cost += self._cost_of(task)
        self.prev_assigned_tasks.discard(task)
        self.prev_active_tasks.discard(task)

    def addition_cost(self, task: TaskId) -> float:
        """The number of tasks that each thread has already, a whole number, and what the task itself costs."""
        return len(self.assigned_tasks) // self.capacity + self._cost_of(task)

    def _cost_of(self, task: TaskId) -> float:
        if task in self.prev_active_tasks:
            return COST_ACTIVE
        return COST_STANDBY if task in self.prev_assigned_tasks else COST_LOAD

"""Decides which instance gets which task.

Kafka 0.10.2: streams/.../processor/internals/assignment/TaskAssignor.java · book 9.1.3
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from uuid import UUID

from kafka_lite.streams.assignment.client_state import ClientState
from kafka_lite.streams.errors import TaskAssignmentError
from kafka_lite.streams.task_id import TaskId


class TaskAssignor:
    """Gives each task to the client that it costs least: balanced first, and then where its state is.

    Two tasks that are on one client already do not meet on another, as long as there are other pairs: so a client that
    fails leaves a little work to many. If nothing has changed and the tasks were balanced, every task stays.
    """

    def __init__(self, states: Mapping[UUID, ClientState], tasks: Iterable[TaskId]) -> None:
        self._states = [state for _, state in sorted(states.items())]
        self._tasks = sorted(tasks)
        self._random = random.Random(sum(client.int for client in states))
        self._max_pairs = len(self._tasks) * (len(self._tasks) - 1) // 2
        self._pairs: set[frozenset[TaskId]] = set()
        self._keep_all = self._is_unchanged_and_balanced()

    @classmethod
    def assign(cls, states: Mapping[UUID, ClientState], tasks: Iterable[TaskId], num_standby_replicas: int = 0) -> None:
        """Add the tasks to the states. Every member of the group computes the same, from the same input.

        Raises TaskAssignmentError if there is no client.
        """
        assignor = cls(states, tasks)
        assignor._assign_all(active=True)
        for _ in range(min(num_standby_replicas, len(states) - 1)):
            assignor._assign_all(active=False)

    def _is_unchanged_and_balanced(self) -> bool:
        """Whether the clients had exactly these tasks, and each had more than half of the average, and less than twice.

        The average and its half are whole numbers.
        """
        average = len(self._tasks) // max(1, len(self._states))
        before = [task for state in self._states for task in state.prev_assigned_tasks]
        sizes = [len(state.prev_assigned_tasks) for state in self._states]
        is_balanced = all(average // 2 < size < 2 * average for size in sizes)
        return is_balanced and sorted(before) == self._tasks

    def _assign_all(self, active: bool) -> None:
        """Assign each task, in an order that ``self._random`` shuffles, and note the pairs that it makes.

        A task goes to the cheapest client on which it forms a new pair with another task. If there is no such client,
        or all pairs have been made, it goes to the cheapest client. Raises TaskAssignmentError if no client can take
        it.
        """
        self._random.shuffle(self._tasks)
        for task in self._tasks:
            check_pairs = len(self._pairs) < self._max_pairs
            state = self._cheapest(task, check_pairs) or self._cheapest(task, check_pairs=False)
            if state is None:
                raise TaskAssignmentError("failed to find an assignable client")
            self._pairs.update(frozenset((task, other)) for other in state.assigned_tasks)
            state.assign(task, active)

    def _cheapest(self, task: TaskId, check_pairs: bool) -> ClientState | None:
        """The client without the task that has the least addition cost, then the least cost; None if all have it.

        If everything is to be kept, the client that had the task before. With ``check_pairs``, a client that has tasks
        is a candidate only if the task forms a new pair with one of them.
        """
        candidates = []
        for state in self._states:
            if self._keep_all and task in state.prev_assigned_tasks:
                return state
            others = state.assigned_tasks
            if task not in others and not (check_pairs and others and not self._has_new_pair(task, others)):
                candidates.append(state)
        return min(candidates, key=lambda state: (state.addition_cost(task), state.cost), default=None)

    def _has_new_pair(self, task: TaskId, others: Iterable[TaskId]) -> bool:
        """Whether the task and one of the others are not noted as a pair yet."""
        return any(frozenset((task, other)) not in self._pairs for other in others)

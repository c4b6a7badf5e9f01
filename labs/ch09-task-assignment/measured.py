"""What is measured: the plan of a group, and the one after a new instance has come."""

from uuid import UUID

from kafka_lite.streams.assignment.client_state import ClientState
from kafka_lite.streams.assignment.task_assignor import TaskAssignor
from kafka_lite.streams.task_id import TaskId

SHOWN = "give 40 tasks with a standby each to four instances, and again to five"
SHOWN_ZH = "把 40 个任务（各有一个备用）分给四个实例，然后再分给五个"
ROUNDS = 200
TASKS = [TaskId(group, partition) for group in range(4) for partition in range(10)]


def prepare(_folder):
    def plan(before):
        states = {UUID(int=number): ClientState(2, set(active), set(all_of)) for number, (active, all_of) in before}
        TaskAssignor.assign(states, TASKS, 1)
        return [(number, (state.active_tasks, state.assigned_tasks)) for number, state in enumerate(states.values(), 1)]

    def one_round(_number):
        first = plan([(number, ((), ())) for number in range(1, 5)])
        second = plan([*first, (5, ((), ()))])
        given = sorted(task for _, (active, _) in second for task in active)
        sizes = [len(active) for _, (active, _) in second]
        kept = sum(len(active & before) for (_, (active, _)), (_, (_, before)) in zip(second, first, strict=False))
        each_once, twice = given == TASKS, sum(len(every) for _, (_, every) in second)
        return {
            "each task once": each_once,
            "with standbys": twice,
            "balanced": max(sizes) - min(sizes) <= 2,
            "kept": kept > 20,
        }

    return one_round

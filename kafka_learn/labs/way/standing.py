"""The state of a learner: the labs that were begun, the last one, and those that may be next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kafka_learn.labs.lab import Lab, Task
from kafka_learn.labs.workspace import LabWorkspace, Progress

DONE, HALF, OPEN = "✓", "◐", "·"


@dataclass(frozen=True)
class Standing:
    """A lab, its working folder and the progress in it."""

    lab: Lab
    workspace: LabWorkspace
    progress: Progress

    @classmethod
    def of(cls, workspace: LabWorkspace) -> Standing:
        """Read it from a working folder."""
        return cls(workspace.lab, workspace, workspace.progress())

    @property
    def is_done(self) -> bool:
        """Whether a check with the broker has given all points."""
        return 0 < self.progress.total == self.progress.best

    @property
    def points(self) -> str:
        """The best points of a check with the broker: 45/100, or a dash before the first one."""
        return f"{self.progress.best}/{self.progress.total}" if self.progress.total else "–"

    def half_of(self, task: Task) -> str:
        """The points of a task that is half done, such as 12/20; empty for a task that is done or has none yet."""
        earned, total = self.progress.task_points.get(str(task.number), (0, 0))
        return f"{earned}/{total}" if 0 < earned < total else ""

    def mark(self, task: Task) -> str:
        """Whether a task is done, half done or open, as the last check found it."""
        if task.number in self.progress.tasks_passed:
            return DONE
        return HALF if self.half_of(task) else OPEN

    def open_task(self) -> Task | None:
        """The task to continue with: the one that the last check named, else the first that is not done."""
        left = [task for task in self.lab.tasks if task.number not in self.progress.tasks_passed]
        return next((task for task in left if task.number == self.progress.at_hand), next(iter(left), None))


def standings(labs: Sequence[Lab]) -> list[Standing]:
    """All labs in the given order, each with its working folder in the default place."""
    return [Standing.of(LabWorkspace(lab)) for lab in labs]


def last_touched(all_labs: Sequence[Standing]) -> Standing | None:
    """The lab whose files or progress changed last; None if none was begun."""
    begun = [standing for standing in all_labs if standing.workspace.started]
    return max(begun, key=lambda standing: standing.workspace.touched_ns(), default=None)


def next_labs(all_labs: Sequence[Standing], last: Standing | None) -> list[Lab]:
    """The labs that were not begun and whose predecessors are done, the best one to continue with first.

    That is one that comes right after the last lab, then one of its chapter, then the first on the way. If every lab
    that is left waits for one that was begun, those that wait are returned.
    """
    done = {standing.lab.name for standing in all_labs if standing.is_done}
    left = [s.lab for s in all_labs if not (s.is_done or s.workspace.started)]
    ready = [lab for lab in left if done.issuperset(lab.after)] or left
    if last is None:
        return ready
    return sorted(ready, key=lambda lab: (last.lab.name not in lab.after, lab.chapter != last.lab.chapter))

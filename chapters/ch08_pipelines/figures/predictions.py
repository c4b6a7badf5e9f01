"""The answers to the predictions of the chapter's notebook, computed by the code that the chapter shows."""

from __future__ import annotations

from collections.abc import Mapping

from kafka_learn.check import Prediction, Words
from kafka_lite.connect.api import Connector, ConnectorUtils, SourceConnector, Task
from kafka_lite.connect.file.file_stream_source_task import split_lines
from kafka_lite.connect.runtime.connector_task_id import ConnectorTaskId
from kafka_lite.connect.runtime.target_state import TargetState
from kafka_lite.connect.runtime.worker_connector import WorkerConnector

FILES = ("towns.csv", "rivers.csv", "lakes.csv")
TASKS_MAX = 10
LINES = b"one\ntwo\nthree\nfour\n"
STORED = 8
"""The stored position in LINES when the worker is killed."""


class _Broken(SourceConnector):
    def start(self, props: Mapping[str, str]) -> None:  # noqa: ARG002
        raise OSError("no such folder")

    def task_class(self) -> type[Task]:
        return Task

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:  # noqa: ARG002
        return []


class _Nobody:
    """A status listener."""

    def on_startup(self, of: str | ConnectorTaskId) -> None:
        """Ignored."""

    def on_pause(self, of: str | ConnectorTaskId) -> None:
        """Ignored."""

    def on_stop(self, of: str) -> None:
        """Ignored."""

    def on_resume(self, of: str | ConnectorTaskId) -> None:
        """Ignored."""

    def on_restart(self, of: str | ConnectorTaskId) -> None:
        """Ignored."""

    def on_shutdown(self, of: str | ConnectorTaskId) -> None:
        """Ignored."""

    def on_failure(self, of: str | ConnectorTaskId, error: BaseException) -> None:
        """Ignored."""


def state_after(connector: Connector, *targets: TargetState) -> str:
    """The state of a connector that was brought to these target states, one after the other."""
    running = WorkerConnector("x", connector, lambda: None, _Nobody())
    running.initialize({})
    for target in targets:
        running.transition_to(target)
    return running.state.name


TASKS = Prediction(
    lambda: sum(map(bool, ConnectorUtils.group_partitions(FILES, TASKS_MAX))),
    Words("A task without a file has nothing to do.", "没有文件的任务无事可做。"),
    {
        TASKS_MAX: Words("`tasks.max` is a limit, and no wish.", "`tasks.max` 是上限，不是要求。"),
        1: Words("One file can be read without the others.", "每个文件都可以单独读取。"),
    },
)
AGAIN = Prediction(
    lambda: len(split_lines(LINES)[0]) + len(split_lines(LINES[STORED:])[0]),
    Words("The lines after the stored position come once more.", "保存的位置之后的行又来一遍。"),
    {
        4: Words("The worker did not store how far it had really read.", "工作进程没有来得及保存真正读到的位置。"),
        8: Words("A position was stored: not everything comes again.", "已经保存了一个位置：不会全部重来。"),
    },
)
PAUSED = Prediction(
    lambda: state_after(_Broken(), TargetState.STARTED, TargetState.PAUSED, TargetState.STARTED),
    Words("Only a restart makes another connector object.", "只有重启才会另建一个连接器对象。"),
    {
        "PAUSED": Words("The pause was followed by a resume.", "暂停之后又恢复了。"),
        "STARTED": Words("What failed once is not started again by a wish.", "失败过的，不会因为一个愿望又启动。"),
        "RUNNING": Words("What failed once is not started again by a wish.", "失败过的，不会因为一个愿望又启动。"),
    },
)

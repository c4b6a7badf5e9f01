"""The answers to the predictions of the chapter's notebooks, computed by the code that the chapter shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kafka_learn.check import Prediction, Words
from kafka_lite.connect.api import Connector, ConnectorUtils, SourceConnector, Task
from kafka_lite.connect.file.file_stream_source_task import split_lines
from kafka_lite.connect.runtime.connector_task_id import ConnectorTaskId
from kafka_lite.connect.runtime.distributed.config_changes import ConfigChangeCollector
from kafka_lite.connect.runtime.distributed.connect_protocol import WorkerState
from kafka_lite.connect.runtime.distributed.worker_assignment import assign
from kafka_lite.connect.runtime.storage.cluster_config_state import ClusterConfigState
from kafka_lite.connect.runtime.storage.config_topic import ChangeKind, ConfigTopic
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

    def on_topic(self, task: ConnectorTaskId, topic: str) -> None:
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


# ── two workers ───────────────────────────────────────────────────────────────────────────────────────────────────────

TWO_TASKS = ClusterConfigState(7, {"out": 2}, {"out": {}})
NEW_CONNECTOR: Sequence[tuple[str, object]] = (
    ("connector-out", {"properties": {}}),
    ("task-out-0", {"properties": {}}), ("task-out-1", {"properties": {}}), ("commit-out", {"tasks": 2}),
)  # fmt: skip
"""The records of a new connector with two tasks."""
PAUSE = (("target-state-out", {"state": "PAUSED"}),)


def rebalances(records: Sequence[tuple[str, object]], known: Sequence[tuple[str, object]] = ()) -> int:
    """How many rebalances a worker asks for that reads these records one by one, after those that it knows."""
    topic = ConfigTopic()
    return [_needs_rebalance(topic, *record) for record in (*known, *records)][len(known) :].count(True)


def _needs_rebalance(topic: ConfigTopic, key: str, value: object) -> bool:
    before = topic.snapshot()
    collector = ConfigChangeCollector(lambda: before, lambda: None, lambda *_: None)
    change = topic.apply(key, value, topic.offset)
    if change is None:
        return False
    if change.kind is ChangeKind.CONNECTOR_UPDATED:
        collector.on_connector_config_update(change.connector)
    elif change.kind is ChangeKind.TASKS_UPDATED:
        collector.on_task_config_update(change.tasks)
    elif change.kind is ChangeKind.TARGET_STATE_CHANGED:
        collector.on_connector_target_state_change(change.connector)
    return collector.needs_rebalance


def larger_share() -> int:
    """How much the worker gets that gets more: the connector and its tasks, among two workers."""
    members = {name: WorkerState(f"http://{name}:8083/", TWO_TASKS.offset) for name in "ab"}
    shares = assign("a", members, TWO_TASKS).by_member.values()
    return max(len(share.connectors) + len(share.tasks) for share in shares)


CREATED = Prediction(
    lambda: rebalances(NEW_CONNECTOR),
    Words(
        "One for the connector's record, and one for the commit of its tasks: only a connector that runs can say which "
        "tasks it wants.",
        "一次因为连接器的记录，一次因为任务的提交：连接器要先运行起来，才能说出它要哪些任务。",
    ),
    {
        1: Words("Before the connector has run, nobody knows its tasks.", "连接器运行之前，没有人知道它有哪些任务。"),
        3: Words("Both tasks are committed by one record.", "两个任务由一条记录一起提交。"),
        4: Words("A task's configuration waits for the commit.", "任务的配置要等提交。"),
    },
)
LARGER_SHARE = Prediction(
    larger_share,
    Words("Connectors are dealt first, then the tasks, in one round.", "先发连接器，再接着发任务，一轮发完。"),
    {
        3: Words("A connector and its tasks need not be together.", "连接器和它的任务不必在一起。"),
        1: Words("Three things, two workers.", "三样东西，两个工作进程。"),
    },
)
PAUSED_IN_A_GROUP = Prediction(
    lambda: rebalances(PAUSE, known=NEW_CONNECTOR),
    Words(
        "There is no other work to divide: each worker pauses what it runs.", "要分配的工作没有变：各自暂停自己运行的。"
    ),
    {
        1: Words("Which work would have to move?", "哪些工作要移动呢？"),
        2: Words("Nothing is stopped and started again by it.", "没有什么因此停止再启动。"),
    },
)

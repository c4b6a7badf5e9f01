from kafka_lite.connect.runtime.connector_task_id import ConnectorTaskId
from kafka_lite.connect.runtime.status import ConnectorStatus, State, TaskStatus, TopicStatus
from kafka_lite.connect.runtime.storage.memory_status_backing_store import MemoryStatusBackingStore


def test_the_last_status_counts_until_it_is_destroyed() -> None:
    store = MemoryStatusBackingStore()
    store.start()
    tasks = [ConnectorTaskId("a", number) for number in (10, 9)]
    for task in tasks:
        store.put(TaskStatus(task, State.RUNNING, "w", 0))
    store.put(ConnectorStatus("a", State.RUNNING, "w", 0))
    store.put_safe(ConnectorStatus("a", State.UNASSIGNED, "w", 0))
    store.flush()

    assert store.connectors() == {"a"}
    assert store.connector("a") == ConnectorStatus("a", State.UNASSIGNED, "w", 0)
    assert [status.id.task for status in store.tasks("a")] == [9, 10]
    assert store.task(tasks[0]) == TaskStatus(tasks[0], State.RUNNING, "w", 0)

    store.put(TaskStatus(tasks[0], State.DESTROYED, "w", 0))
    store.put(ConnectorStatus("a", State.DESTROYED, "w", 0))
    store.stop()
    assert (store.task(tasks[0]), store.connector("a"), store.connectors()) == (None, None, set())
    assert len(store.tasks("a")) == 1


def test_topics_are_kept_by_connector() -> None:
    store = MemoryStatusBackingStore()
    used = [TopicStatus(topic, ConnectorTaskId(name, 0), 7) for name, topic in (("a", "y"), ("a", "x"), ("b", "x"))]
    for each in used:
        store.put_topic(each)
    assert store.topics("a") == [used[1], used[0]]
    store.remove_topic("a", "x")
    store.remove_topic("a", "none")
    assert (store.topic("a", "x"), store.topic("a", "y"), store.topics("b")) == (None, used[0], [used[2]])

import pytest

from kafka_lite.common.time import MockTime
from kafka_lite.connect.runtime.connector_task_id import ConnectorTaskId
from kafka_lite.connect.runtime.tasks.source_task_offset_committer import SourceTaskOffsetCommitter

A, B = ConnectorTaskId("a", 0), ConnectorTaskId("b", 0)


class Task:
    def __init__(self, time: MockTime, takes_ms: float = 0) -> None:
        self.commits: list[float] = []
        self.outcome: bool | Exception = True
        self._time, self._takes_ms = time, takes_ms

    def commit_offsets(self) -> bool:
        self.commits.append(self._time.hi_res_ms())
        self._time.sleep(self._takes_ms)
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return self.outcome


@pytest.fixture
def time() -> MockTime:
    return MockTime()


@pytest.fixture
def committer(time: MockTime) -> SourceTaskOffsetCommitter:
    return SourceTaskOffsetCommitter(1000, time)


def _turns(committer: SourceTaskOffsetCommitter, count: int) -> None:
    for _ in range(count):
        committer.do_work()


def test_each_task_commits_an_interval_after_its_last_commit(
    committer: SourceTaskOffsetCommitter, time: MockTime
) -> None:
    slow, quick = Task(time, takes_ms=300), Task(time)
    committer.schedule(A, slow)
    time.sleep(500)
    committer.schedule(B, quick)
    _turns(committer, 8)  # a wait and a commit, four times
    assert (slow.commits, quick.commits) == ([1000, 2300], [1500, 2600])


def test_a_task_that_was_removed_is_left_alone(committer: SourceTaskOffsetCommitter, time: MockTime) -> None:
    task = Task(time)
    committer.schedule(A, task)
    committer.remove(A)
    committer.remove(B)
    time.sleep(1000)
    committer.initiate_shutdown()  # or the next turn would wait
    _turns(committer, 1)
    assert task.commits == []


def test_a_task_may_be_removed_while_it_commits(committer: SourceTaskOffsetCommitter, time: MockTime) -> None:
    task = Task(time)
    task.commit_offsets = lambda: committer.remove(A) is None  # type: ignore[method-assign]
    committer.schedule(A, task)
    _turns(committer, 2)
    committer.initiate_shutdown()
    _turns(committer, 1)
    assert task.commits == []


@pytest.mark.parametrize("outcome", [False, ValueError("broken")])
def test_a_commit_that_fails_is_tried_again(
    committer: SourceTaskOffsetCommitter, time: MockTime, outcome: bool | Exception, caplog: pytest.LogCaptureFixture
) -> None:
    task = Task(time)
    task.outcome = outcome
    committer.schedule(A, task)
    _turns(committer, 4)
    assert task.commits == [1000, 2000]
    assert len(caplog.records) == 2


def test_the_thread_ends_while_it_waits() -> None:
    committer = SourceTaskOffsetCommitter(60_000)
    committer.start()
    committer.schedule(A, Task(MockTime()))
    committer.shutdown(10)
    assert not committer.is_alive()

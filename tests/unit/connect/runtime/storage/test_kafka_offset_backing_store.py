import pytest

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.connect.runtime.storage.kafka_offset_backing_store import KafkaOffsetBackingStore
from tests.support.connect_samples import two_workers
from tests.support.connect_stores import FakeTopic

VER = b'["ver",{"id":2}]'


@pytest.fixture
def topic() -> FakeTopic:
    return FakeTopic()


def test_the_records_of_real_workers(topic: FakeTopic) -> None:
    topic.records = [(key.encode(), value.encode()) for key, value in two_workers()["connect-offsets"]]
    store = KafkaOffsetBackingStore(topic.new_log)
    store.start()
    last = [value for key, value in topic.records if key == VER][-1]
    assert store.get([VER, b"other"]).result(0) == {VER: last, b"other": None}


def test_a_get_reads_what_another_worker_has_written(topic: FakeTopic) -> None:
    ours, theirs = KafkaOffsetBackingStore(topic.new_log), KafkaOffsetBackingStore(topic.new_log)
    ours.start()
    theirs.set({b"a": b"1", b"b": None}).result(0)
    assert ours.get([b"a", b"b"]).result(0) == {b"a": b"1", b"b": None}
    ours.stop()


def test_a_set_is_done_when_all_records_are_acknowledged(topic: FakeTopic) -> None:
    topic.holds_callbacks = True
    outcomes = list[object]()
    future = KafkaOffsetBackingStore(topic.new_log).set({b"a": b"1", b"b": b"2"}, outcomes.append)
    first, second = topic.held
    first()
    assert (future.done(), outcomes) == (False, [])
    second()
    assert (future.result(0), outcomes) == (None, [None])


def test_one_record_that_fails_fails_the_set_once(topic: FakeTopic) -> None:
    topic.errors = [ApiError(Errors.TOPIC_AUTHORIZATION_FAILED), ApiError(Errors.TOPIC_AUTHORIZATION_FAILED)]
    outcomes = list[object]()
    future = KafkaOffsetBackingStore(topic.new_log).set({b"a": b"1", b"b": b"2", b"c": b"3"}, outcomes.append)
    with pytest.raises(ApiError):
        future.result(0)
    assert len(outcomes) == 1


def test_a_set_of_nothing_is_done(topic: FakeTopic) -> None:
    assert KafkaOffsetBackingStore(topic.new_log).set({}).done()

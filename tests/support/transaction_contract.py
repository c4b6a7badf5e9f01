"""What transactions of our producer do on any broker: the same tests for Kafka's broker and for ours."""

from __future__ import annotations

import pytest

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer import ConsumerGroupMetadata, KafkaConsumer, OffsetAndMetadata
from kafka_lite.producer import KafkaProducer, ProducerFencedError, ProducerRecord, TransactionError
from tests.support.patience import patient_s
from tests.support.real_kafka import create_topics
from tests.support.transactional_producers import (
    PARTITIONS,
    new_name,
    read,
    read_committed,
    send,
    transactional,
    transform,
)


class TransactionContract:
    """Subclasses are collected. Their module has a fixture ``kafka``: the address of a broker for clients."""

    @pytest.fixture
    def topic(self, kafka: str) -> str:
        """A topic of its own."""
        name = new_name("transactions")
        create_topics(kafka, [name], PARTITIONS, {})
        return name

    def test_committed_records_are_seen_and_aborted_ones_are_not(self, kafka: str, topic: str) -> None:
        with transactional(kafka, new_name("id")) as producer:
            for number in range(6):
                producer.begin_transaction()
                send(producer, topic, [b"%d-%d" % (number, n) for n in range(5)])
                if number % 2:
                    producer.flush()  # or the records would never be sent
                    producer.abort_transaction()
                else:
                    producer.commit_transaction()
        committed = sorted(b"%d-%d" % (number, n) for number in (0, 2, 4) for n in range(5))
        assert read(kafka, topic, "read_committed") == committed
        assert len(read(kafka, topic, "read_uncommitted")) == 30

    def test_records_of_an_open_transaction_are_seen_once_it_commits(self, kafka: str, topic: str) -> None:
        with transactional(kafka, new_name("id")) as producer:
            producer.begin_transaction()
            send(producer, topic, [b"a", b"b"])
            producer.flush()
            assert read(kafka, topic, "read_committed") == []
            producer.commit_transaction()
            assert read_committed(kafka, topic) == [b"a", b"b"]

    def test_empty_transactions_need_no_broker(self, kafka: str, topic: str) -> None:
        with transactional(kafka, new_name("id")) as producer:
            for end in (producer.commit_transaction, producer.abort_transaction):
                producer.begin_transaction()
                end()
            producer.begin_transaction()
            send(producer, topic, [b"v"])
            producer.commit_transaction()
        assert read_committed(kafka, topic) == [b"v"]

    def test_a_zombie_is_fenced_and_its_transaction_aborted(self, kafka: str, topic: str) -> None:
        name = new_name("id")
        zombie = transactional(kafka, name)
        zombie.begin_transaction()
        send(zombie, topic, [b"zombie"])
        zombie.flush()
        with transactional(kafka, name) as heir:
            heir.begin_transaction()
            send(heir, topic, [b"heir"])
            heir.commit_transaction()
            with pytest.raises(ProducerFencedError):
                zombie.commit_transaction()
            with pytest.raises(ProducerFencedError):
                zombie.begin_transaction()
            zombie.close()
        assert read_committed(kafka, topic) == [b"heir"]

    def test_a_zombies_records_are_refused(self, kafka: str, topic: str) -> None:
        name = new_name("id")
        zombie = transactional(kafka, name)
        zombie.begin_transaction()
        send(zombie, topic, [b"before"])
        zombie.flush()
        transactional(kafka, name).close()
        late = zombie.send(ProducerRecord(topic, b"late", partition=0))
        error = late.exception(1000 * patient_s(60))
        assert isinstance(error, ApiError)
        assert error.error is Errors.INVALID_PRODUCER_EPOCH
        with pytest.raises(TransactionError):
            zombie.commit_transaction()
        with pytest.raises(ProducerFencedError):
            zombie.abort_transaction()
        zombie.close()
        assert read(kafka, topic, "read_committed") == []

    def test_a_lost_record_aborts_its_transaction_and_the_next_one_gets_a_new_epoch(self, kafka: str) -> None:
        topic = new_name("small-records")
        create_topics(kafka, [topic], PARTITIONS, {"max.message.bytes": "1000"})
        with transactional(kafka, new_name("id")) as producer:
            producer.begin_transaction()
            send(producer, topic, [b"sent", b"too large" * 1000], partition=0)
            with pytest.raises(ApiError, match="larger"):
                producer.commit_transaction()
            with pytest.raises(TransactionError) as refused:
                producer.begin_transaction()
            assert refused.value.requires_abort
            producer.abort_transaction()
            producer.begin_transaction()
            send(producer, topic, [b"next"], partition=0)
            producer.commit_transaction()
        assert read_committed(kafka, topic) == [b"next"]

    def test_closing_aborts_what_is_open(self, kafka: str, topic: str) -> None:
        name = new_name("id")
        producer = transactional(kafka, name)
        producer.begin_transaction()
        send(producer, topic, [b"left open"])
        producer.flush()
        producer.close()
        with transactional(kafka, name) as next_one:
            next_one.begin_transaction()
            send(next_one, topic, [b"next"])
            next_one.commit_transaction()
        assert read_committed(kafka, topic) == [b"next"]

    def test_a_timeout_above_the_brokers_is_fatal(self, kafka: str) -> None:
        producer = KafkaProducer({
            "bootstrap.servers": kafka, "transactional.id": new_name("id"), "transaction.timeout.ms": 100_000_000,
        })  # fmt: skip
        with pytest.raises(ApiError) as refused:
            producer.init_transactions()
        assert refused.value.error is Errors.INVALID_TRANSACTION_TIMEOUT
        with pytest.raises(TransactionError) as fatal:
            producer.begin_transaction()
        assert not fatal.value.requires_abort
        producer.close()

    def test_consume_transform_produce_is_exactly_once(self, kafka: str) -> None:
        source, target, group = new_name("source"), new_name("target"), new_name("group")
        create_topics(kafka, [source, target], 1, {})
        with KafkaProducer({"bootstrap.servers": kafka}) as producer:
            send(producer, source, [b"%03d" % n for n in range(40)], partition=0)
        with transactional(kafka, new_name("id")) as producer:
            transform(kafka, source, target, group, producer, until=20, aborts=2)
        with transactional(kafka, new_name("id")) as producer:  # another instance goes on where the offsets end
            transform(kafka, source, target, group, producer, until=19, aborts=1)
        assert read_committed(kafka, target, 1) == [b"copy of %03d" % n for n in range(40)]
        assert len(read(kafka, target, "read_uncommitted", 1)) > 40

    @pytest.mark.parametrize(
        ("member", "error"),
        [({"member_id": "nobody", "generation_id": 1}, Errors.UNKNOWN_MEMBER_ID), ({"generation_id": 77}, None)],
    )
    def test_offsets_of_a_replaced_member_are_refused(
        self, kafka: str, topic: str, member: dict[str, object], error: Errors | None
    ) -> None:
        group = new_name("group")
        with KafkaConsumer({
            "bootstrap.servers": kafka, "group.id": group, "isolation.level": "read_committed",
        }) as consumer:  # fmt: skip
            consumer.subscribe([topic])
            while not consumer.assignment:
                consumer.poll(200)
            metadata = consumer.group_metadata()
            assert (metadata.group_id, metadata.generation_id) == (group, 1)
            stale = metadata._replace(**member)  # type: ignore[arg-type]
            with transactional(kafka, new_name("id")) as producer:
                producer.begin_transaction()
                with pytest.raises(ApiError) as refused:
                    producer.send_offsets_to_transaction({TopicPartition(topic, 0): OffsetAndMetadata(3)}, stale)
                assert refused.value.error is (error or Errors.ILLEGAL_GENERATION)
                producer.abort_transaction()
                producer.begin_transaction()
                producer.send_offsets_to_transaction({TopicPartition(topic, 0): OffsetAndMetadata(5, "note")}, metadata)
                producer.commit_transaction()
            assert consumer.committed([TopicPartition(topic, 0)]) == {
                TopicPartition(topic, 0): OffsetAndMetadata(5, "note")
            }

    def test_offsets_without_a_member_are_accepted(self, kafka: str, topic: str) -> None:
        group = new_name("group")
        with transactional(kafka, new_name("id")) as producer:
            producer.begin_transaction()
            partition = TopicPartition(topic, 0)
            producer.send_offsets_to_transaction({partition: OffsetAndMetadata(4)}, ConsumerGroupMetadata(group))
            producer.abort_transaction()
            configs = {"bootstrap.servers": kafka, "group.id": group, "isolation.level": "read_committed"}
            with KafkaConsumer(configs) as consumer:  # waits for the markers
                assert consumer.committed([partition]) == {partition: None}
                producer.begin_transaction()
                producer.send_offsets_to_transaction({partition: OffsetAndMetadata(4)}, ConsumerGroupMetadata(group))
                producer.commit_transaction()
                assert consumer.committed([partition]) == {partition: OffsetAndMetadata(4)}

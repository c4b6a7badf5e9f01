"""aiokafka, unmodified: every codec, reads by assignment."""

from __future__ import annotations

import asyncio
import itertools

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewTopic

_names = itertools.count()


async def round_trip(bootstrap: str, codec: str | None) -> None:
    topic = f"aiokafka-{next(_names)}"
    admin = AIOKafkaAdminClient(bootstrap_servers=bootstrap)
    await admin.start()
    await admin.create_topics([NewTopic(topic, num_partitions=2, replication_factor=1)])
    await admin.close()
    producer = AIOKafkaProducer(bootstrap_servers=bootstrap, compression_type=codec, acks="all", linger_ms=20)
    await producer.start()
    values = [b"%d-" % i + b"x" * (i % 300) for i in range(300)]
    sent = [await producer.send(topic, value, partition=i % 2) for i, value in enumerate(values)]
    offsets = [(await future).offset for future in sent]
    await producer.stop()
    assert offsets == [i // 2 for i in range(300)]
    consumer = AIOKafkaConsumer(bootstrap_servers=bootstrap)
    await consumer.start()
    partitions = [TopicPartition(topic, p) for p in range(2)]
    consumer.assign(partitions)
    await consumer.seek_to_beginning(*partitions)
    found: dict[int, list[bytes]] = {0: [], 1: []}
    for _ in values:
        message = await consumer.getone()
        assert message.offset == len(found[message.partition])
        found[message.partition].append(message.value)
    assert await consumer.end_offsets(partitions) == {partitions[0]: 150, partitions[1]: 150}
    await consumer.stop()
    assert found == {0: values[0::2], 1: values[1::2]}


@pytest.mark.parametrize("codec", [None, "gzip", "snappy", "lz4", "zstd"])
def test_produced_records_are_read_back(bootstrap: str, codec: str | None) -> None:
    asyncio.run(asyncio.wait_for(round_trip(bootstrap, codec), 60))

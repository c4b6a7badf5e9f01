"""One producer in its own process, so that its processor time and memory can be measured.

``python -m bench.python_clients.producer_client CLIENT BOOTSTRAP_SERVERS TOPIC CODEC PAYLOAD MESSAGES`` sends the
payload MESSAGES times, waits until all are acknowledged, and prints a JSON object: seconds, this process's processor
time, peak memory.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from dataclasses import dataclass

from bench.python_clients.python_client import AIOKAFKA, KAFKA_LITE, KAFKA_PYTHON, Measured, Stopwatch, tell

BATCH_BYTES = 16 * 1024
LINGER_MS = 5
BUFFER_MEMORY = 32 << 20
"""kafka_lite's default. aiokafka waits for each batch instead, and current kafka-python has no such limit."""
WARM_UP = 2_000


@dataclass(frozen=True)
class Work:
    """The records to send and their destination."""

    bootstrap_servers: str
    topic: str
    codec: str
    payload: bytes
    messages: int


def by_kafka_lite(work: Work) -> Measured:
    """Send with kafka_lite's producer."""
    from kafka_lite.producer import KafkaProducer, ProducerRecord

    with KafkaProducer({
        "bootstrap.servers": work.bootstrap_servers, "acks": "all", "enable.idempotence": False,
        "compression.type": work.codec, "batch.size": BATCH_BYTES, "linger.ms": LINGER_MS,
        "buffer.memory": BUFFER_MEMORY,
    }) as producer:  # fmt: skip

        def send(count: int) -> None:
            topic, payload = work.topic, work.payload
            for _ in range(count):
                producer.send(ProducerRecord(topic, payload))
            producer.flush()

        send(WARM_UP)
        watch = Stopwatch()
        send(work.messages)
        return watch.read()


def by_kafka_python(work: Work) -> Measured:
    """Send with kafka-python's producer."""
    from kafka import KafkaProducer  # type: ignore[import-untyped]

    producer = KafkaProducer(
        bootstrap_servers=work.bootstrap_servers,
        acks="all",
        enable_idempotence=False,
        compression_type=None if work.codec == "none" else work.codec,
        batch_size=BATCH_BYTES,
        linger_ms=LINGER_MS,
    )

    def send(count: int) -> None:
        topic, payload = work.topic, work.payload
        for _ in range(count):
            producer.send(topic, payload)
        producer.flush()

    send(WARM_UP)
    watch = Stopwatch()
    send(work.messages)
    measured = watch.read()
    producer.close()
    return measured


def by_aiokafka(work: Work) -> Measured:
    """Send with aiokafka's producer, in an event loop."""
    from aiokafka import AIOKafkaProducer  # type: ignore[import-untyped]

    async def main() -> Measured:
        async with AIOKafkaProducer(
            bootstrap_servers=work.bootstrap_servers,
            acks="all",
            compression_type=None if work.codec == "none" else work.codec,
            max_batch_size=BATCH_BYTES,
            linger_ms=LINGER_MS,
        ) as producer:

            async def send(count: int) -> None:
                topic, payload = work.topic, work.payload
                for _ in range(count):
                    await producer.send(topic, payload)
                await producer.flush()

            await send(WARM_UP)
            watch = Stopwatch()
            await send(work.messages)
            return watch.read()

    return asyncio.run(main())


CLIENTS: dict[str, Callable[[Work], Measured]] = {
    KAFKA_LITE: by_kafka_lite,
    KAFKA_PYTHON: by_kafka_python,
    AIOKAFKA: by_aiokafka,
}


def main() -> None:
    """Run the client named on the command line and print its times as JSON."""
    client, bootstrap_servers, topic, codec, payload, messages = sys.argv[1:]
    work = Work(bootstrap_servers, topic, codec, payload.encode(), int(messages))
    tell(CLIENTS[client](work))


if __name__ == "__main__":
    main()

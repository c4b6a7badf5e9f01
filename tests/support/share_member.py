"""A member of a share group, of ours, in a process of its own, with the lines of ``tests/jvm/ShareMember.java``.

Arguments: BOOTSTRAP GROUP TOPIC CLIENT_ID. It accepts each record, but releases every seventh at its first delivery. It
prints "delivered P O N V" for each record and "accepted P O" once the broker has acknowledged it, until its input ends.
"""

from __future__ import annotations

import sys
import threading

from kafka_lite.consumer import AcknowledgeType, KafkaShareConsumer
from kafka_lite.consumer.share.share_in_flight_batch import ShareConsumerRecord


def main(bootstrap: str, group: str, topic: str, client_id: str) -> None:
    ended = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), ended.set()), daemon=True).start()
    configs = {
        "bootstrap.servers": bootstrap,
        "group.id": group,
        "client.id": client_id,
        "share.acknowledgement.mode": "explicit",
        "max.poll.records": "50",
    }
    with KafkaShareConsumer(configs) as consumer:
        consumer.subscribe([topic])
        while not ended.is_set():
            turn(consumer)


def turn(consumer: KafkaShareConsumer) -> None:
    """Poll, acknowledge, and say what the brokers have confirmed."""
    accepted: list[tuple[int, int]] = []
    for record in consumer.poll(200):
        assert isinstance(record, ShareConsumerRecord)
        print("delivered", record.partition, record.offset, record.delivery_count, record.value.decode())
        is_released = record.offset % 7 == 3 and record.delivery_count == 1
        consumer.acknowledge(record, AcknowledgeType.RELEASE if is_released else AcknowledgeType.ACCEPT)
        if not is_released:
            accepted.append((record.partition, record.offset))
    outcomes = {partition.partition: error for partition, error in consumer.commit_sync(20_000).items()}
    for partition, offset in accepted:
        if outcomes.get(partition) is None:
            print("accepted", partition, offset)
        else:
            print("failed", partition, outcomes[partition])
    sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:5])

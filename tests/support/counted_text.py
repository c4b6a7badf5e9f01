"""The input of the word count, and what its output must be."""

from __future__ import annotations

import random
import struct
from collections import Counter

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer import KafkaConsumer
from kafka_lite.testing.cluster import Cluster
from tests.support.word_count import TEXT, WORDS

PARTITIONS = 3
VOCABULARY = ["to", "be", "or", "not", "that", "is", "the", "question"]


class Text:
    """Random lines, from a seed, and the counts of their words."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._random = random.Random(7)
        self._lines = [0] * PARTITIONS
        self.counts: Counter[str] = Counter()

    def write(self, lines: int) -> None:
        """Produce lines to all partitions."""
        for number in range(lines):
            words = self._random.choices(VOCABULARY, k=5)
            partition = number % PARTITIONS
            self._cluster.produce(TEXT, " ".join(words), key="k", partition=partition, timestamp_ms=1000 + number)
            self._lines[partition] += 1
            self.counts.update(words)

    def is_committed(self) -> bool:
        """Whether the application has committed all lines and all words."""
        return self._is_committed(with_words=True)

    def lines_are_committed(self) -> bool:
        """The same for an application without a topic of words."""
        return self._is_committed(with_words=False)

    def _is_committed(self, with_words: bool) -> bool:
        words = [TopicPartition(WORDS, number) for number in range(PARTITIONS)]
        lines = [TopicPartition(TEXT, number) for number in range(PARTITIONS)]
        group = {"bootstrap.servers": self._cluster.bootstrap_servers, "group.id": "word-count"}
        with KafkaConsumer({**group, "enable.auto.commit": False}) as consumer:
            committed = consumer.committed([*words, *lines] if with_words else lines)
        found = {partition: offset.offset for partition, offset in committed.items() if offset is not None}
        return all(found.get(each, 0) == self._lines[each.partition] for each in lines) and (
            not with_words or sum(found.get(each, 0) for each in words) == self.counts.total()
        )


def counts_in(cluster: Cluster, topic: str, partition: int | None = None) -> Counter[str]:
    """The last count of each word, in a topic or in one of its partitions."""
    newest = {}
    for record in cluster.records(topic, partition):
        assert record.key is not None
        assert record.value is not None
        newest[record.key.decode()] = struct.unpack(">q", record.value)[0]
    return Counter(newest)

"""The comparison of stream processors runs with our own applications on our broker."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from bench.brokers import Broker, kafka_lite
from bench.measure import topic
from bench.streams.inputs import Lines, fill, last_values
from bench.streams.workloads import Restore, StreamsWorkload, workloads
from kafka_learn.site.bench_results import PLAIN

pytestmark = pytest.mark.soak


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    with kafka_lite({}).make(tmp_path_factory.mktemp("bench") / "broker", {}) as broker:
        yield broker


@pytest.mark.parametrize(
    "workload", [each for each in workloads(0.002) if "RocksDB" not in each.name], ids=lambda each: each.name
)
def test_our_own_applications_give_the_expected_results(broker: Broker, workload: StreamsWorkload | Restore) -> None:
    sample = workload.run(broker, PLAIN)
    assert all(value > 0 for value in sample.values())


def test_a_wrong_result_is_an_error(broker: Broker) -> None:
    workload = StreamsWorkload("word count", "word-count", Lines(10))
    with topic(broker) as output:
        sent = fill(broker, output, ((b"word00001", bytes(8), 0) for _ in range(100)))
        assert last_values(broker, output, sent) == {"word00001": bytes(8)}
        with pytest.raises(RuntimeError, match="keys are wrong, such as"):
            workload._verify(broker, output)

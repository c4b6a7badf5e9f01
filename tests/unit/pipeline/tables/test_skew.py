"""The partition of a key in pandas, beside the project's producer. Without Spark."""

from __future__ import annotations

import pandas as pd
import pytest

from kafka_lite.producer.partitioner import partition_for_key
from pipeline.tables.skew import NO_PARTITION, partitions_of

KEYS = [f"N{number}".encode() for number in range(300)] + [b"", "乘客".encode()]


@pytest.mark.parametrize("partitions", [1, 7, 12])
def test_keys_go_where_the_producer_sends_them(partitions: int) -> None:
    found = partitions_of(pd.Series(KEYS), partitions)
    assert found.tolist() == [partition_for_key(key, partitions) for key in KEYS]
    assert str(found.dtype) == "int32"


def test_a_missing_key_has_no_partition_and_equal_keys_have_one() -> None:
    found = partitions_of(pd.Series([b"UA", None, b"UA"], index=[5, 6, 7]), 12)
    assert list(found.index) == [5, 6, 7]
    assert found[6] == NO_PARTITION
    assert found[5] == found[7] == partition_for_key(b"UA", 12)


def test_no_keys_have_no_partitions() -> None:
    assert partitions_of(pd.Series([None, None], dtype=object), 12).tolist() == [NO_PARTITION, NO_PARTITION]

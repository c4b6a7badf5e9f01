"""Task 1: as Java's producer chooses."""

import pandas as pd
import pytest

from pipeline.tables.skew import partitions_of

# What Java's DefaultPartitioner says for 12 partitions.
KEYS = [b"UA", b"B6", b"EV", b"DL", b"N14228", b"EWR", b"", "乘客".encode()]


@pytest.fixture
def java():
    """The partition by the project's own producer, whose partitioner is checked against Java's."""
    from kafka_lite.producer.partitioner import partition_for_key

    return partition_for_key


@pytest.mark.points(8, task=1)
def test_every_key_goes_where_java_puts_it(java):
    """Eight keys, 12 partitions"""
    got = list(partitions_of(pd.Series(KEYS), 12))
    want = [java(key, 12) for key in KEYS]
    for key, found, wanted in zip(KEYS, got, want, strict=True):
        assert found >= 0, f"{key!r}: a partition is never {found}; clear the sign of the hash with to_positive"
        assert found == wanted, f"{key!r} is in partition {wanted} of 12, not {found}"


@pytest.mark.points(4, task=1)
def test_the_absolute_value_is_not_the_value_without_its_sign(java):
    """Keys with a negative hash"""
    keys = [f"N{number}".encode() for number in range(200)]
    got, want = list(partitions_of(pd.Series(keys), 7)), [java(key, 7) for key in keys]
    wrong = sum(one != other for one, other in zip(got, want, strict=True))
    assert wrong == 0, f"{wrong} of 200 keys are elsewhere: abs() is not to_positive(), which clears the sign bit"


@pytest.mark.points(3, task=1)
def test_a_record_without_a_key_has_no_partition():
    """Null"""
    got = list(partitions_of(pd.Series([b"UA", None, b"UA"]), 12))
    assert got[1] == -1, f"null has no partition of its own: NO_PARTITION, -1, not {got[1]}"
    assert got[0] == got[2], "equal keys are in one partition, always"

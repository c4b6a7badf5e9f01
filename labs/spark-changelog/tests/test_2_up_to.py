"""Task 2: the records of each partition before its end."""

import pytest

from kafka_learn.labs.rows import must_have_columns, rows_of
from pipeline.tables.changelog import up_to

RECORDS = [
    {"partition": partition, "offset": offset, "key": f"N{partition}", "value": "EWR"}
    for partition in (0, 1, 2)
    for offset in range(4)
]


def kept(spark, frame, ends):
    found = up_to(frame(RECORDS), spark.createDataFrame(list(ends.items()), "partition int, end long"))
    must_have_columns(found, frame(RECORDS).columns)
    return sorted((row["partition"], row["offset"]) for row in rows_of(found))


@pytest.mark.points(8, task=2)
def test_the_end_itself_does_not_belong(spark, frame):
    """Ends are exclusive"""
    got = kept(spark, frame, {0: 2, 1: 0, 2: 4})
    assert (0, 2) not in got, "end 2 is the offset of the first record that does not belong: the records are 0 and 1"
    want = [(0, 0), (0, 1), (2, 0), (2, 1), (2, 2), (2, 3)]
    assert got == want, f"ends 2, 0 and 4: the (partition, offset) that belong are {want}, you have {got}"


@pytest.mark.points(7, task=2)
def test_a_partition_without_an_end_has_no_records(spark, frame):
    """A partition that did not exist yet"""
    got = kept(spark, frame, {0: 4})
    strangers = [pair for pair in got if pair[0] != 0]
    assert not strangers, f"partitions 1 and 2 have no end, they did not exist yet; you kept {strangers[0]}"
    assert len(got) == 4, f"partition 0 has four records before offset 4, you have {got}"

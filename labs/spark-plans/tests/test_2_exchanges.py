"""Task 2: shuffles, and the stages between them."""

import pytest
from pyspark.sql import functions as F  # noqa: N812

from pipeline.tuning.plans import Exchange, exchanges, plan_text, stages


@pytest.mark.points(3, task=2)
def test_the_shuffles_of_a_sort_merge_join(plans):
    """Ranges and hashes"""
    got = exchanges(plans["sort-merge"])
    want = [Exchange("range", 3), Exchange("hash", 2), Exchange("hash", 2)]
    assert len(got) != 2, "equal exchanges of two branches are two shuffles"
    assert got == want, f"in the order of the lines they are {want}, not {got}"


@pytest.mark.points(5, task=2)
def test_neither_a_broadcast_nor_a_reused_exchange_is_a_shuffle(plans):
    """A plan with BroadcastExchange and ReusedExchange"""
    got = exchanges(plans["reused"])
    assert len(got) != 3, (
        "three: a BroadcastExchange gives all rows to each task, and a ReusedExchange reads again what is there"
    )
    assert all(each.how == "hash" for each in got[:1]), "the first shuffle is by hash"
    assert [each.partitions for each in got] == [2, 12], (
        "hashpartitioning(pmod(airline#6, 7), 2) has 2 partitions, RoundRobinPartitioning(12) has 12: you have "
        f"{[each.partitions for each in got]}"
    )
    want = [Exchange("hash", 2), Exchange("round robin", 12)]
    assert got == want, f"they are {want}, not {got}"


@pytest.mark.points(3, task=2)
def test_a_single_partition(plans):
    """SinglePartition"""
    got = exchanges(plans["single"])
    assert got == [Exchange("single", 1)], f"all rows in one partition: one exchange, single, 1; you have {got}"


@pytest.mark.points(3, task=2)
def test_stages(plans):
    """How many stages the three plans have"""
    got = {name: stages(plan) for name, plan in plans.items()}
    assert got["single"] != 1, "an exchange divides a query into two stages"
    want = {"sort-merge": 4, "reused": 3, "single": 2}
    assert got == want, f"stages are {want}, you have {got}"
    none = stages("Scan ExistingRDD[a#1]")
    assert none == 1, f"a query without a shuffle is one stage, not {none}"


@pytest.mark.points(3, task=2)
def test_a_plan_of_this_session(spark):
    """Seven partitions, then two, then one"""
    frame = spark.range(100).repartition(7, F.col("id") % 5).groupBy((F.col("id") % 3).alias("key")).count()
    got = exchanges(plan_text(frame.agg(F.sum("count"))))
    want = [Exchange("single", 1), Exchange("hash", 2), Exchange("hash", 7)]
    assert got == want, f"the plan has {want}, you have {got}"

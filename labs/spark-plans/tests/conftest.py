"""What the tests of this lab share: plans that Spark 4.2 has printed, a session with a UI, files of flights."""

import random
import time as clock
from datetime import UTC, datetime, timedelta

import pytest

SORT_MERGE = """\
*(6) Sort [count#13L ASC NULLS FIRST], true, 0
+- Exchange rangepartitioning(count#13L ASC NULLS FIRST, 3), ENSURE_REQUIREMENTS, [plan_id=204]
   +- *(5) HashAggregate(keys=[airline#6], functions=[count(1)], output=[airline#6, count#13L])
      +- *(5) SortMergeJoin [airline#6], [airline#11], Inner
         :- *(2) Sort [airline#6 ASC NULLS FIRST], false, 0
         :  +- Exchange hashpartitioning(airline#6, 2), ENSURE_REQUIREMENTS, [plan_id=188]
         :     +- *(1) Filter isnotnull(airline#6)
         :        +- FileScan parquet [airline#6,origin#9] Batched: true, DataFilters: [isnotnull(airline#6)], \
Format: Parquet, Location: InMemoryFileIndex(1 paths)[file:/tmp/f], PartitionFilters: [], \
PushedFilters: [IsNotNull(airline)], ReadSchema: struct<airline:string>
         +- *(14) Sort [airline#11 ASC NULLS FIRST], false, 0
            +- Exchange hashpartitioning(airline#11, 2), ENSURE_REQUIREMENTS, [plan_id=194]
               +- *(13) Filter isnotnull(airline#11)
                  +- *(13) Scan ExistingRDD[airline#11,name#12]

"""
REUSED = """\
*(4) Project [airline#6, count#64L, c#70L]
+- *(4) BroadcastHashJoin [airline#6], [airline#71], Inner, BuildLeft, false, false
   :- BroadcastExchange HashedRelationBroadcastMode(List(input[0, string, true]),false), [plan_id=503]
   :  +- *(3) HashAggregate(keys=[airline#71], functions=[count(1)], output=[airline#71, c#70L])
   :     +- ReusedExchange [airline#71, count#78L], Exchange hashpartitioning(airline#6, 2), ENSURE_REQUIREMENTS, \
[plan_id=457]
   +- *(4) HashAggregate(keys=[airline#6], functions=[count(1)], output=[airline#6, count#64L])
      +- Exchange hashpartitioning(pmod(airline#6, 7), 2), ENSURE_REQUIREMENTS, [plan_id=457]
         +- *(1) HashAggregate(keys=[airline#6], functions=[partial_count(1)], output=[airline#6, count#78L])
            +- Exchange RoundRobinPartitioning(12), REPARTITION_BY_NUM, [plan_id=372]
               +- Scan ExistingRDD[airline#6]
"""
SINGLE = """\
*(3) HashAggregate(keys=[], functions=[count(1)], output=[count#56L])
+- Exchange SinglePartition, ENSURE_REQUIREMENTS, [plan_id=376]
   +- *(2) HashAggregate(keys=[], functions=[partial_count(1)], output=[count#63L])
      +- Scan ExistingRDD[airline#6]
"""
AIRLINES = {"UA": "United", "B6": "JetBlue", "DL": "Delta"}
AIRCRAFT = {f"N{number}{airline}": airline for number in range(4) for airline in [*AIRLINES, "OO"]}
FIRST = datetime(2013, 3, 9, tzinfo=UTC)
UI_PATIENCE_S = 30
SCHEMA = "flight int, airline string, tailnum string, origin string, time timestamp, delay double"


@pytest.fixture(scope="session")
def plans():
    """Three plans by their names."""
    return {"sort-merge": SORT_MERGE, "reused": REUSED, "single": SINGLE}


@pytest.fixture(scope="session")
def spark_settings():
    """A UI, on a port that is free."""
    return {"spark.ui.enabled": "true", "spark.ui.port": "0"}


@pytest.fixture(scope="session")
def flights():
    """600 flights of three days from a seed, each some minutes after the one before; one in ten was cancelled."""
    rnd, time, rows = random.Random(35), FIRST, []
    for number in range(600):
        time += timedelta(minutes=rnd.randrange(1, 14))
        tailnum = rnd.choice(list(AIRCRAFT))
        delay = None if rnd.random() < 0.1 else float(rnd.randrange(-20, 200))
        rows.append({"flight": number, "airline": AIRCRAFT[tailnum], "tailnum": tailnum,
                     "origin": rnd.choice(["EWR", "JFK", "LGA"]), "time": time, "delay": delay})  # fmt: skip
    # At midnight a day begins, and the day before has no such flight.
    midnight = {"flight": 600, "airline": "UA", "tailnum": "N9UA", "origin": "JFK", "delay": 1.0}
    return [*rows, midnight | {"time": FIRST + timedelta(days=1)}, midnight | {"time": FIRST + timedelta(days=2)}]


@pytest.fixture(scope="session")
def files(spark, flights, tmp_path_factory):
    """The flights as Parquet files, in a folder for each origin."""
    folder = str(tmp_path_factory.mktemp("flights") / "flights")
    rows = [tuple(row[name.split()[0]] for name in SCHEMA.split(", ")) for row in flights]
    spark.createDataFrame(rows, SCHEMA).coalesce(1).write.partitionBy("origin").parquet(folder)
    return spark.read.parquet(folder)


@pytest.fixture(scope="session")
def airlines(spark):
    """Airlines and their names; OO is not among them."""
    return spark.createDataFrame(list(AIRLINES.items()), "airline string, name string")


@pytest.fixture
def configured(spark):
    """``configured(name, value)``: a setting of Spark's for this test."""
    before = {}

    def configure(name, value):
        before.setdefault(name, spark.conf.get(name))
        spark.conf.set(name, value)

    yield configure
    for name, value in before.items():
        spark.conf.set(name, value)


@pytest.fixture
def as_run(spark):
    """``as_run(frame)``: runs a query, and returns its last job and all stages, as the UI has them."""
    from kafka_learn.labs.rows import must_be_frame
    from pipeline.tuning.plans import from_ui

    def run(frame):
        group = f"lab-{random.random()}"
        spark.sparkContext.setJobGroup(group, "lab")
        must_be_frame(frame).collect()

        def jobs():
            return [job for job in from_ui(spark, "jobs") if job.get("jobGroup") == group]

        until = clock.monotonic() + UI_PATIENCE_S  # the UI follows a moment after the query
        while not jobs() or any(job["status"] == "RUNNING" for job in jobs()):
            assert clock.monotonic() < until, f"after {UI_PATIENCE_S} s the UI has no complete job of the query"
            clock.sleep(0.05)
        return max(jobs(), key=lambda job: job["jobId"]), from_ui(spark, "stages")

    return run

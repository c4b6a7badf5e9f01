"""What the tests of this lab share: keys as frequent as airlines are, made from a seed."""

import random
from collections import Counter

import pytest

from kafka_learn.labs.rows import records_frame

WEIGHTS = {"UA": 587, "B6": 546, "EV": 542, "DL": 481, "AA": 327, "MQ": 264, "US": 205, "9E": 185, "WN": 123, "VX": 52}


@pytest.fixture
def frame(spark):
    """``frame([{"offset": 0, "key": "UA", "value": None}, …])``: a DataFrame of records."""
    return lambda records: records_frame(spark, records)


@pytest.fixture
def flights():
    """``flights(seed)``: 800 records keyed by airline, and among them some without a key."""

    def make(seed, count=800):
        rnd = random.Random(seed)
        keys = rnd.choices([*WEIGHTS, None], [*WEIGHTS.values(), 100], k=count)
        return [{"offset": number, "key": key, "value": None} for number, key in enumerate(keys)]

    return make


@pytest.fixture
def counts():
    """``counts(records)``: how many records each key has, without those that have none."""
    return lambda records: Counter(record["key"].encode() for record in records if record["key"] is not None)

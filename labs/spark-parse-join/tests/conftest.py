"""What the tests of this lab share: records of events, good and broken, as the source reads them."""

import json
from datetime import UTC, datetime

import pytest

SCHEMA = (
    "key binary, value binary, topic string, partition int, offset long, timestamp timestamp, timestampType int, "
    "headers array<struct<key:string,value:binary>>"
)
WRITTEN = datetime(2013, 7, 2, 3, 4, 5, tzinfo=UTC)
GOOD = {
    "carrier": "UA", "flight": 1545, "tailnum": "N14228", "origin": "EWR", "dest": "IAH", "dep_delay": 2,
    "year": 2013, "month": 7, "day": 1, "hour": 6, "minute": 15, "time_hour": "2013-07-01T10:00:00Z",
}  # fmt: skip
OURS = [("event-id", b"UA1545/2013-07-01T10:00:00Z"), ("schema-version", b"1")]


@pytest.fixture
def good():
    """The value of a good flight, as a dict."""
    return dict(GOOD)


@pytest.fixture
def ours():
    """The headers of a good record."""
    return list(OURS)


@pytest.fixture
def records(spark):
    """``records((value, headers), …)``: records at offsets 0, 1, … of flights/3; a dict is written as JSON."""

    def make(*pairs, topic="flights"):
        rows = [
            (b"UA1545", json.dumps(value).encode() if isinstance(value, dict) else value, topic, 3, offset, WRITTEN, 0,
             headers)
            for offset, (value, headers) in enumerate(pairs)
        ]  # fmt: skip
        return spark.createDataFrame(rows, SCHEMA)

    return make

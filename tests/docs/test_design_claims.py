"""The numbers on the design pages are those of the code.

The other names on these pages, their paths, classes and keys, are held by ``test_names.py``.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from kafka_lite.common.properties import load_properties
from kafka_lite.log.cleaning.cleaner_config import CleanerConfig
from kafka_lite.log.dirs.log_dir_failure_channel import REPEAT_MS
from kafka_lite.log.files.file_channel import WRITE_BYTES
from kafka_lite.log.managing.future_logs import COPY_BYTES
from kafka_lite.network.pipeline import MAX_PIPELINED_REQUESTS
from kafka_lite.old_consumer.simple.simple_consumer import LIST_OFFSETS_VERSION
from kafka_lite.old_consumer.simple.simple_fetch import CURRENT_VERSION
from kafka_lite.protocol.api_keys import ApiKey
from kafka_lite.record.record_scan import MAX_OUT_OF_ORDER
from kafka_lite.server.fetch_sessions.fetch_session_cache import MIN_INCREMENTAL_FETCH_SESSION_EVICTION_MS
from kafka_lite.server.kafka_apis import SERVED_VERSIONS
from kafka_lite.server.kafka_config import KAFKA_CONFIG_DEF
from kafka_lite.server.quick_batches import MAX_QUICK_EXPANDED_BYTES
from kafka_lite.testing.chaos.chaos_run import HUNG_S, LOOKS_FOR_HUNG, MOST_AT_ONCE, REPLICAS, ROUND_S, SETTLE_S
from kafka_lite.testing.chaos.faults import AFTER_S, Kind
from kafka_lite.testing.simulation.memory_limit import GROWTH_BYTES
from kafka_lite.testing.simulation.scenarios import TRANSACTIONAL_EVERY
from kafka_lite.zookeeper.zookeeper_client import MAX_OPERATIONS_AT_ONCE
from scripts.simulated_bugs import ALL
from tests.unit.test_rooms import MAX_LINES, MAX_LINES_OF_FUNCTION, MAX_MODULES

ROOT = Path(__file__).parents[2]
WORDS = {
    word: number for number, word in enumerate(["zero", "one", "two", "three", "four", "five", "six", "seven", "eight"])
} | {"second": 2, "third": 3, "a": 1, "thirty-nine": 39, "forty": 40, "forty-five": 45, "sixty": 60, "twenty": 20}


def default_of(key: str) -> object:
    return KAFKA_CONFIG_DEF.keys[key].default


def seeds(scenario: str) -> int:
    """How many seeds CI runs of a scenario."""
    found = re.search(rf"make simulate {scenario}SEEDS=(\d+)", (ROOT / ".ci" / "run").read_text(encoding="utf-8"))
    assert found
    return int(found[1])


def shipped() -> dict[str, str]:
    return load_properties(ROOT / "config" / "server.properties")


CLAIMS: list[tuple[str, str, object]] = [
    ("architecture", r"A function has at most (\d+) lines", MAX_LINES_OF_FUNCTION),
    ("architecture", r"at most \d+ lines, a module (\d+),", MAX_LINES),
    ("architecture", r"a folder (\d+) modules", MAX_MODULES),
    ("architecture", r"chains up to (\d+) of them", MAX_PIPELINED_REQUESTS),
    ("architecture", r"may expand to more than (\d+) MiB", MAX_QUICK_EXPANDED_BYTES // 1024**2),
    ("architecture", r"transactions of up to (\d+) operations", MAX_OPERATIONS_AT_ONCE),
    ("architecture", r"record by record, up to ([\d,]+) records", MAX_OUT_OF_ORDER),
    ("architecture", r"in pieces of (\d+) KB", WRITE_BYTES // 1024),
    ("architecture", r"Its (\d+) MB are in use only while", CleanerConfig().dedupe_buffer_size // 1024**2),
    ("architecture", r"says it once (a) minute", REPEAT_MS // 60_000),
    ("architecture", r"appends to the copy, (a) megabyte of each log", COPY_BYTES // 1024**2),
    ("architecture", r"been unused for (\w+) minutes", MIN_INCREMENTAL_FETCH_SESSION_EVICTION_MS // 60_000),
    ("architecture", r"`message.max.bytes` is ([\d,]+) as", default_of("message.max.bytes")),
    ("architecture", r"`zookeeper.connect=(embedded)`, which the shipped", shipped()["zookeeper.connect"]),
    ("architecture", r"there is (one) network thread where", default_of("num.network.threads")),
    ("architecture", r"Metadata 10 to (\d+), CreateTopics", SERVED_VERSIONS[ApiKey.METADATA].max_version),
    ("architecture", r"CreateTopics (\d+) and", SERVED_VERSIONS[ApiKey.CREATE_TOPICS].max_version),
    ("architecture", r"DeleteTopics (\d+) carry", SERVED_VERSIONS[ApiKey.DELETE_TOPICS].max_version),
    ("architecture", r"Produce (\d+) names topics", SERVED_VERSIONS[ApiKey.PRODUCE].max_version),
    ("architecture", r"what 0.10.2 sends: Fetch (\d+),", CURRENT_VERSION),
    ("architecture", r"OffsetCommit 2, ListOffsets (\d+)\.", LIST_OFFSETS_VERSION),
    ("chaos", r"partitions and (\w+) replicas each", REPLICAS),
    ("chaos", r"begin every (\w+) seconds on average", AFTER_S),
    ("chaos", r"at most (\w+) at a time", MOST_AT_ONCE),
    ("chaos", r"After (\d+) seconds all of them end", ROUND_S),
    ("chaos", r"Replicas have (\w+) minutes for that", (HUNG_S + SETTLE_S) / 60),
    ("chaos", r"clients (\w+)\. Then the next round", (LOOKS_FOR_HUNG * HUNG_S + SETTLE_S) / 60),
    ("chaos", r"out of sync (\w+) minutes after the last fault", (HUNG_S + SETTLE_S) / 60),
    ("simulation", r"Every (\w+) seed has \[transactions\]", TRANSACTIONAL_EVERY),
    ("simulation", r"Every (\w+) seed writes in transactions", TRANSACTIONAL_EVERY),
    ("simulation", r"CI runs ([\w ]+?) seeds of one broker", seeds("")),
    ("simulation", r"one broker and ([\w ]+?) of three,", seeds("BROKERS=3 ")),
    ("simulation", r"and ([\w-]+) drawn applications", seeds("SCENARIO=drawn-streams-of-three-brokers ")),
    ("simulation", r"puts ([\w-]+) bugs back", len(ALL)),
    ("simulation", r"takes more than (\d+) GiB ends", GROWTH_BYTES // 1024**3),
]


@cache
def page(name: str) -> str:
    return " ".join((ROOT / "docs" / "design" / f"{name}.md").read_text(encoding="utf-8").split())


@pytest.mark.parametrize(("name", "claim", "value"), CLAIMS, ids=[claim[1] for claim in CLAIMS])
def test_a_number_on_a_design_page_is_that_of_the_code(name: str, claim: str, value: object) -> None:
    found = re.findall(claim, page(name))
    assert len(found) == 1, f"the page no longer says {claim!r}, or says it twice"
    said = found[0].replace(",", "")
    assert (int(said) if said.isdecimal() else WORDS.get(said, said)) == value


def test_the_page_on_chaos_has_each_kind_of_fault() -> None:
    table = (ROOT / "docs/design/chaos.md").read_text(encoding="utf-8").partition("| fault |")[2].partition("\n\n")[0]
    named = {kind for row in table.splitlines()[2:] for kind in re.findall(r"`(\w+)`", row.split("|")[1])}
    assert named == {kind.name.lower() for kind in Kind}


def test_the_shipped_configuration_serves_metrics_on_the_loopback_interface() -> None:
    assert shipped()["metrics.http.port"] == "0"
    assert shipped().get("metrics.http.host", default_of("metrics.http.host")) == "127.0.0.1"


LIMIT = re.compile(r"assert [^#]*(?:monotonic\(\)|perf_counter\(\)|\btook\w*|\belapsed\w*)[^#=!<>]*<")
"""An assertion that something was quick."""


def test_no_test_limits_elapsed_time() -> None:
    """docs/contributing/tests.md says so."""
    files = [path for path in (ROOT / "tests").rglob("*.py") if path != Path(__file__)]
    lines = [(path, line) for path in files for line in path.read_text(encoding="utf-8").splitlines()]
    assert [f"{path}: {line.strip()}" for path, line in lines if LIMIT.search(line)] == []


@pytest.mark.parametrize(
    "line", ["assert time.monotonic() - began < 2", "    assert took_ms < wait_ms", "assert elapsed <= 3"]
)
def test_a_limit_is_found(line: str) -> None:
    assert LIMIT.search(line)
    assert not LIMIT.search(line.replace("<", ">"))

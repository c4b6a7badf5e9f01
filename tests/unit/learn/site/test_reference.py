"""Reference pages are made from the code: nothing that it has is missing, and every word is there in Chinese."""

from __future__ import annotations

import re

import pytest

from kafka_learn.labs.lab import all_labs
from kafka_learn.site import reference
from kafka_lite.consumer import consumer_config
from kafka_lite.log.log_config import LOG_CONFIG_DEF
from kafka_lite.producer import producer_config
from kafka_lite.server.kafka_apis import SERVED_VERSIONS
from kafka_lite.server.kafka_config import CONFIG_GROUPS, DEVIATIONS
from kafka_lite.server.metrics.bean_catalogue import BEANS

LANGUAGES = pytest.mark.parametrize("language", ["en", "zh"])


def entries(page: str) -> dict[str, str]:
    """Key -> its text, of a page with definition lists."""
    return dict(re.findall(r"^`([^`]+)`\n:   (.*(?:\n    .*)*)", page, re.MULTILINE))


def test_every_key_of_the_broker_is_told_in_its_group() -> None:
    page = reference.broker_configuration("en")
    assert re.findall(r"^## (.*)$", page, re.MULTILINE) == list(CONFIG_GROUPS)
    assert set(entries(page)) == {key.name for group in CONFIG_GROUPS.values() for key in group}


def test_a_key_has_its_type_default_valid_values_and_importance() -> None:
    text = entries(reference.topic_configuration("en"))["min.insync.replicas"]
    assert "type int · default `1` · valid " in text
    assert "importance medium" in text
    assert "类型 int · 默认值 `1`" in entries(reference.topic_configuration("zh"))["min.insync.replicas"]


def test_a_default_that_differs_from_kafkas_comes_with_the_reason() -> None:
    page = entries(reference.broker_configuration("en"))
    assert DEVIATIONS
    for name, (there, _) in DEVIATIONS.items():
        assert f"*Kafka 0.10.2 has `{there}`: " in page[name], name


def test_a_note_is_in_italics_but_not_in_chinese() -> None:
    assert reference._note("can be changed", "en") == "*can be changed.*"
    assert reference._note("可以修改", "zh") == "可以修改。"


def test_a_key_that_can_be_changed_while_the_broker_runs_says_so() -> None:
    page = entries(reference.broker_configuration("en"))
    assert "can be changed while the broker runs" in page["log.retention.ms"]
    assert "can be changed while the broker runs" not in page["broker.id"]


@pytest.mark.parametrize(
    ("page", "keys"),
    [
        (reference.producer_configuration, producer_config.CONFIG),
        (reference.consumer_configuration, consumer_config.CONFIG),
        (reference.topic_configuration, LOG_CONFIG_DEF),
    ],
)
@LANGUAGES
def test_every_key_of_clients_and_topics_is_told_in_order(page, keys, language: str) -> None:  # type: ignore[no-untyped-def]
    assert list(entries(page(language))) == sorted(key.name for key in keys)


@LANGUAGES
def test_every_api_that_is_served_has_a_row_with_its_versions(language: str) -> None:
    head, _, *rows = reference.served_apis(language).splitlines()
    assert ("served" if language == "en" else "提供的版本") in head
    assert [int(row.split(" | ")[0].strip("| ")) for row in rows] == sorted(map(int, SERVED_VERSIONS))


@LANGUAGES
def test_every_bean_has_a_row_below_its_type(language: str) -> None:
    page = reference.beans(language)
    headings = re.findall(r"^### (\S+)", page, re.MULTILINE)
    assert headings == list(dict.fromkeys(f"{bean.group}:type={bean.type}" for bean in BEANS))
    assert sum(line.startswith("| ") for line in page.splitlines()) == len(BEANS) + 2 * len(headings)
    assert all((bean.zh if language == "zh" else bean.en) in page for bean in BEANS)


def test_commands_come_with_their_own_subcommands_usage_and_options() -> None:
    page = reference.command_line("en")
    assert "## server-start\n" in page
    assert re.search(r"^### \S+ \S+$", page, re.MULTILINE)
    usages = re.findall(r"```text\n(.*)\n```", page)
    assert len(usages) == len(re.findall(r"^###? ", page, re.MULTILINE))
    assert all("\n" not in usage and not usage.startswith("usage:") for usage in usages)


@LANGUAGES
def test_every_lab_has_a_row_with_its_title_and_time(language: str) -> None:
    rows = [row for row in reference.labs(language).splitlines()[2:] if not row.startswith("| **")]
    assert len(rows) == len(all_labs())
    for lab, row in zip(all_labs(), rows, strict=True):
        assert f"[{lab.name}]({lab.name}.md)" in row
        assert lab.title_in(language) in row
        assert f"{lab.minutes} {'分钟' if language == 'zh' else 'min'}" in row
        assert (f"({lab.name}.md#in-this-page)" in row) == lab.in_page


def test_markup_is_escaped_but_in_backticks() -> None:
    assert reference._escaped("a_b  <c>\n`d_e` | f") == r"a\_b \<c\> `d_e` \| f"
    assert reference.table(["x", "y"], [["1", "2"]]) == "| x | y |\n| --- | --- |\n| 1 | 2 |"

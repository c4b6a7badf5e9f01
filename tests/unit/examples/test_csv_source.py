"""The connector to start from: its own tests, and its configuration, which docs/connect.md shows."""

from __future__ import annotations

import re
from pathlib import Path

from examples.csv_source.csv_source_connector import CsvSourceConnector
from examples.csv_source.test_csv_source_connector import polls
from examples.csv_source.test_csv_source_connector import props as props
from examples.csv_source.test_csv_source_connector import (
    test_a_task_continues_where_the_last_one_stopped as test_a_task_continues_where_the_last_one_stopped,
)
from examples.csv_source.test_csv_source_connector import (
    test_a_task_without_rows_can_be_stopped as test_a_task_without_rows_can_be_stopped,
)
from examples.csv_source.test_csv_source_connector import (
    test_a_wrong_configuration_is_explained as test_a_wrong_configuration_is_explained,
)
from examples.csv_source.test_csv_source_connector import (
    test_each_row_becomes_a_struct as test_each_row_becomes_a_struct,
)
from examples.csv_source.test_csv_source_connector import (
    test_files_are_divided_among_tasks as test_files_are_divided_among_tasks,
)
from kafka_lite.common.new_instance import new_instance
from kafka_lite.common.properties import load_properties
from kafka_lite.connect.api import SourceConnector, SourceRecord
from kafka_lite.connect.java_names import load

REPOSITORY = Path(__file__).parents[3]
CONFIG = load_properties(REPOSITORY / "examples/csv_source/csv-source.properties")


def test_the_configuration_names_the_connector_and_is_valid() -> None:
    connector = new_instance("connector.class", SourceConnector, CONFIG["connector.class"])

    assert isinstance(connector, CsvSourceConnector)
    assert [value for value in connector.validate(CONFIG) if value.error_messages] == []


def test_its_transformations_make_numbers_and_a_key(props: dict[str, str]) -> None:
    (record,) = polls({**props, "files": "towns.csv"}, 1)
    for alias in CONFIG["transforms"].split(","):
        prefix = f"transforms.{alias}."
        transformation = load(CONFIG[f"{prefix}type"])()
        transformation.configure({key.removeprefix(prefix): of for key, of in CONFIG.items() if key.startswith(prefix)})
        changed: SourceRecord = transformation.apply(record)
        record = changed

    assert (record.key["name"], record.value["people"]) == ("Ulm", 128928)


def test_the_pages_show_the_configuration() -> None:
    for page in ("connect.md", "connect.zh.md"):
        shown = re.findall(r"```properties\n(.*?)```", (REPOSITORY / "docs" / page).read_text("utf-8"), re.DOTALL)
        assert CONFIG in [load_properties(each) for each in shown]

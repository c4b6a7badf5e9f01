import pytest

from kafka_lite.connect.runtime.connector_task_id import ConnectorTaskId


@pytest.mark.parametrize("connector", ["file-source", "a", "", "-", "ends-with-7"])
def test_parse_is_the_inverse_of_str(connector: str) -> None:
    assert ConnectorTaskId.parse(str(ConnectorTaskId(connector, 12))) == ConnectorTaskId(connector, 12)


@pytest.mark.parametrize("text", ["", "source", "source-", "source-x", "source--1x", "source-٣", "source-99999999999"])
def test_other_texts_are_no_ids(text: str) -> None:
    assert ConnectorTaskId.parse(text) is None


def test_ids_are_sorted_by_connector_then_by_number() -> None:
    ids = [ConnectorTaskId("b", 0), ConnectorTaskId("a", 10), ConnectorTaskId("a", 9)]
    assert [str(task) for task in sorted(ids)] == ["a-9", "a-10", "b-0"]

import pytest

from kafka_learn.claims import Place, statements

PAGE = """\
# What 0.10 does is no statement in a heading

It was so before 0.9. Now it is not. Since
Kafka 2.4 it sticks.

| | Kafka 0.10.2 | here |
|---|---|---|
| Retries | none | three |

| seconds | bytes |
|---|---|
| 3.0 | 10 |

```text
Kafka 0.10.2 in code
```
"""


def test_sentences_with_versions_and_rows_that_compare_are_statements() -> None:
    found = ["It was so before 0.9.", "Since Kafka 2.4 it sticks.", "| Retries | none | three |"]
    assert list(statements(PAGE)) == found


@pytest.mark.parametrize(
    "text",
    ["It takes up to 1.5 s.", "A task is due at 0.7 ms.", "Client at 10.0.0.7 asks.", "librdkafka 2.16 waits."],
)
def test_other_numbers_are_no_versions_of_kafka(text: str) -> None:
    assert list(statements(text)) == []


def test_a_place_is_a_file_at_a_tag_with_its_lines() -> None:
    assert Place.parse("core/Log.scala@0.10.2.2:7-9") == Place("core/Log.scala", "0.10.2.2", 7, 9)
    assert Place.parse("core/Log.scala@2.4.0:7") == Place("core/Log.scala", "2.4.0", 7, 7)
    assert Place.parse("docs/upgrade.html@1eb7644349c:7").tag == "1eb7644349c"


@pytest.mark.parametrize("text", ["core/Log.scala:7", "core/Log.scala@0.10.2.2", "Log@1.0:1", "core/Log.scala@1.0:9-7"])
def test_anything_else_is_no_place(text: str) -> None:
    with pytest.raises(ValueError, match="is not path@tag"):
        Place.parse(text)

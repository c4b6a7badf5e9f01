import pytest

from kafka_lite.common.config_def import ConfigError, MissingConfigError
from kafka_lite.connect.api.errors import ConnectError
from kafka_lite.connect.converters.byte_array_converter import ByteArrayConverter
from kafka_lite.connect.converters.simple_header_converter import SimpleHeaderConverter
from kafka_lite.connect.converters.string_converter import StringConverter
from kafka_lite.connect.runtime.connector_config import (
    KEY_CONVERTER,
    ConnectorConfig,
    enriched,
    sink_config_def,
    source_config_def,
    topic_errors,
)
from kafka_lite.connect.transforms.hoist_field import HoistFieldValue
from kafka_lite.connect.transforms.regex_router import RegexRouter
from tests.support.connect_stores import PlainJson

BASE = {"name": "a", "connector.class": "X"}
HOIST = "org.apache.kafka.connect.transforms.HoistField$Value"
CHAIN = BASE | {
    "transforms": "h, r",
    "transforms.h.type": HOIST,
    "transforms.h.field": "n",
    "transforms.r.type": "kafka_lite.connect.transforms.regex_router.RegexRouter",
    "transforms.r.regex": "a(.*)",
    "transforms.r.replacement": "b$1",
}
BOTH = "topics and topics.regex are mutually exclusive options, but both are set."
OWN_QUEUE = (
    "The DLQ topic 'ab' may not be included in the regex matching the topics ('topics.regex=a.*') consumed by the "
    "connector"
)


def test_defaults() -> None:
    config = ConnectorConfig(BASE)
    assert (config["tasks.max"], config["transforms"], config.transformations()) == (1, None, [])
    own = PlainJson()
    assert config.converter(KEY_CONVERTER, own) is own


def test_a_sink_has_topics() -> None:
    assert ConnectorConfig(BASE | {"topics": "x, y"}, sink_config_def())["topics"] == ["x", "y"]


def test_a_sink_has_topics_or_a_pattern_of_their_names() -> None:
    def subscription(**props: str) -> dict[str, str]:
        keys = {name.replace("_", "."): value for name, value in props.items()}
        return ConnectorConfig(BASE | keys, sink_config_def()).subscription()

    assert subscription(topics="x, y") == {"topics": "x,y"}
    assert subscription(topics_regex="shop-.*") == {"topics.regex": "shop-.*"}
    assert subscription() == {"topics": ""}  # its tasks fail then, as in the book's version
    with pytest.raises(ConfigError, match="Invalid regex"):
        subscription(topics_regex="shop-(")


@pytest.mark.parametrize(
    ("props", "problems"),
    [
        ({"topics": "a"}, []),
        ({"topics.regex": "a.*"}, []),
        ({"topics": "a", "topics.regex": " "}, []),
        (
            {"topics": "a", "topics.regex": "a.*"},
            ["topics and topics.regex are mutually exclusive options, but both are set."],
        ),
        ({"topics.regex": "a.*", "errors.deadletterqueue.topic.name": "b"}, []),
        ({"topics.regex": "(", "errors.deadletterqueue.topic.name": "b"}, []),  # its own key has that error
        (
            {"topics.regex": "a.*", "errors.deadletterqueue.topic.name": "ab"},
            [OWN_QUEUE],
        ),
    ],
)
def test_what_topics_and_pattern_say_together(props: dict[str, str], problems: list[str]) -> None:
    assert topic_errors(props) == problems


def test_what_is_required() -> None:
    with pytest.raises(MissingConfigError):
        ConnectorConfig({"name": "a"})


def test_transformations_are_configured_in_order() -> None:
    hoist, router = ConnectorConfig(CHAIN).transformations()
    assert isinstance(hoist, HoistFieldValue)
    assert isinstance(router, RegexRouter)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"transforms": "h,h"}, "a list without duplicates"),
        ({"transforms.h.type": "no.such.Class"}, "Not a Transformation"),
        ({"transforms.h.type": "builtins.dict"}, "Not a Transformation"),
        ({"transforms": "x"}, "Not a Transformation"),
    ],
)
def test_transformations_that_are_not_there(change: dict[str, str], problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        ConnectorConfig(CHAIN | change)


def test_a_form_shows_a_transformation_without_its_class() -> None:
    found = enriched(source_config_def(), BASE | {"transforms": "x"}, require_full_config=False)
    assert found.groups() == ["Common", "Transforms", "Error Handling", "Transforms: x"]
    assert "transforms.x.type" in found
    key = enriched(source_config_def(), CHAIN, require_full_config=False).keys["transforms.h.field"]
    assert (key.group, key.order_in_group) == ("Transforms: h", 1)


def test_a_form_offers_the_transformations_that_there_are() -> None:
    (value,) = (
        value
        for value in enriched(source_config_def(), CHAIN, require_full_config=False).validate(CHAIN)
        if value.name == "transforms.h.type"
    )
    assert HOIST in value.recommended_values
    assert value.recommended_values == sorted(value.recommended_values)


def test_a_connector_may_have_its_own_converter_of_headers() -> None:
    simple = SimpleHeaderConverter()
    assert ConnectorConfig(BASE).header_converter(simple) is simple
    own = BASE | {"header.converter": "org.apache.kafka.connect.converters.ByteArrayConverter"}
    assert isinstance(ConnectorConfig(own).header_converter(simple), ByteArrayConverter)
    assert "header.converter" not in source_config_def(), "0.10.2's REST interface has no such key"
    with pytest.raises(ConnectError, match="is not a HeaderConverter"):
        ConnectorConfig(BASE | {"header.converter": HOIST}).header_converter(simple)


def test_a_connector_may_have_its_own_converters() -> None:
    config = ConnectorConfig(BASE | {KEY_CONVERTER: "org.apache.kafka.connect.storage.StringConverter"})
    assert isinstance(config.converter(KEY_CONVERTER, PlainJson()), StringConverter)
    with pytest.raises(ConnectError, match="is not a Converter"):
        ConnectorConfig(BASE | {KEY_CONVERTER: HOIST}).converter(KEY_CONVERTER, PlainJson())

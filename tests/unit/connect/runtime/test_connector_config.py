import pytest

from kafka_lite.common.config_def import ConfigError, MissingConfigError
from kafka_lite.connect.api.errors import ConnectError
from kafka_lite.connect.converters.string_converter import StringConverter
from kafka_lite.connect.runtime.connector_config import (
    KEY_CONVERTER,
    ConnectorConfig,
    enriched,
    sink_config_def,
    source_config_def,
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


def test_defaults() -> None:
    config = ConnectorConfig(BASE)
    assert (config["tasks.max"], config["transforms"], config.transformations()) == (1, None, [])
    own = PlainJson()
    assert config.converter(KEY_CONVERTER, own) is own


def test_a_sink_has_topics() -> None:
    assert ConnectorConfig(BASE | {"topics": "x, y"}, sink_config_def())["topics"] == ["x", "y"]


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


def test_a_connector_may_have_its_own_converters() -> None:
    config = ConnectorConfig(BASE | {KEY_CONVERTER: "org.apache.kafka.connect.storage.StringConverter"})
    assert isinstance(config.converter(KEY_CONVERTER, PlainJson()), StringConverter)
    with pytest.raises(ConnectError, match="is not a Converter"):
        ConnectorConfig(BASE | {KEY_CONVERTER: HOIST}).converter(KEY_CONVERTER, PlainJson())

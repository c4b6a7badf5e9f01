import pytest

from kafka_lite.common.config_def import ConfigError
from kafka_lite.connect.json.json_converter_config import JsonConverterConfig


def test_defaults_and_values() -> None:
    assert JsonConverterConfig.of({"unknown": "x"}) == JsonConverterConfig(True, 1000, False, True)
    assert JsonConverterConfig.of({"schemas.enable": "false", "decimal.format": "Numeric"}) == JsonConverterConfig(
        False, 1000, True, True
    )


def test_a_decimal_format_that_there_is_not() -> None:
    with pytest.raises(ConfigError, match=r"BASE64 or NUMERIC"):
        JsonConverterConfig.of({"decimal.format": "text"})

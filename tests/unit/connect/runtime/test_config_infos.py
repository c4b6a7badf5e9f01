from kafka_lite.common.config_def import NO_DEFAULT, ConfigDef, Importance, Password, Range, Type
from kafka_lite.common.config_value import ConfigValue, Width
from kafka_lite.connect.runtime.config_infos import config_infos

DEFINITION = (
    ConfigDef()
    .define(
        "port", Type.INT, 5, Importance.HIGH, "A port.", Range.at_least(1),
        group="Net", order_in_group=2, width=Width.SHORT, display_name="The port", dependents=["secret"],
    )
    .define("secret", Type.PASSWORD, None, Importance.LOW, "A secret.")
    .define("name", Type.STRING, NO_DEFAULT, Importance.HIGH, "A name.", group="Net")
)  # fmt: skip


def test_definitions_and_values_as_rest_clients_read_them() -> None:
    values = DEFINITION.validate({"port": "0", "secret": "hidden"})
    infos = config_infos("Some", DEFINITION.keys, values, [*DEFINITION.groups(), "Net"])
    assert (infos.error_count, len(infos.errors)) == (2, 2)
    answer = infos.to_json()
    assert {key: answer[key] for key in ("name", "error_count", "groups")} == {
        "name": "Some", "error_count": 2, "groups": ["Net"],
    }  # fmt: skip
    port, secret, name = answer["configs"]
    assert port == {
        "definition": {
            "name": "port", "type": "INT", "required": False, "default_value": "5", "importance": "HIGH",
            "documentation": "A port.", "group": "Net", "width": "SHORT", "display_name": "The port",
            "dependents": ["secret"], "order": 2,
        },
        "value": {
            "name": "port", "value": "0", "recommended_values": [],
            "errors": ["Invalid value 0 for configuration port: Value must be at least 1"], "visible": True,
        },
    }  # fmt: skip
    assert (secret["value"]["value"], secret["definition"]["default_value"]) == (Password.HIDDEN, None)
    assert (name["definition"]["required"], name["definition"]["default_value"]) == (True, "")
    assert name["value"]["value"] is None


def test_the_last_value_of_a_name_counts() -> None:
    values = [ConfigValue("name", "common"), ConfigValue("name", "own", recommended_values=["a", "b"])]
    (_, _, name) = config_infos("Some", DEFINITION.keys, values, []).to_json()["configs"]
    assert (name["value"]["value"], name["value"]["recommended_values"]) == ("own", ["a", "b"])


def test_a_value_without_a_definition_is_no_counted_error() -> None:
    infos = config_infos("Some", {}, [ConfigValue("other")], [])
    assert infos.error_count == 0
    (info,) = infos.to_json()["configs"]
    assert info["definition"] is None
    assert info["value"]["errors"] == ["Configuration is not defined: other"]

import pytest

from kafka_lite.common.config_def import (
    NO_DEFAULT,
    NON_EMPTY,
    Check,
    ConfigDef,
    ConfigError,
    Importance,
    MissingConfigError,
    Password,
    Range,
    Type,
    ValidList,
    ValidString,
    format_value,
    parse_value,
)
from kafka_lite.common.config_value import Width
from kafka_lite.common.errors import Errors


def definition():
    return (
        ConfigDef()
        .define("num.partitions", Type.INT, 1, Importance.MEDIUM, "How many.", Range.at_least(1))
        .define(
            "log.cleanup.policy", Type.LIST, "delete", Importance.LOW, "What goes.", ValidList.in_("delete", "compact")
        )
        .define("ssl.client.auth", Type.STRING, "none", Importance.LOW, "a|b", ValidString.in_("none", "required"))
        .define("zookeeper.connect", Type.STRING, NO_DEFAULT, Importance.HIGH, "Where ZooKeeper is.", NON_EMPTY)
        .define("ssl.key.password", Type.PASSWORD, None, Importance.LOW, "Secret.")
        .define("ratio", Type.DOUBLE, 0.5, Importance.LOW, "Ratio.", Range.between(0, 1))
    )


def test_defaults_and_values():
    parsed = definition().parse({"zookeeper.connect": " zk:2181 ", "num.partitions": "8", "ssl.key.password": "s3cret"})
    assert parsed == {
        "num.partitions": 8,
        "log.cleanup.policy": ["delete"],
        "ssl.client.auth": "none",
        "zookeeper.connect": "zk:2181",
        "ssl.key.password": Password("s3cret"),
        "ratio": 0.5,
    }
    assert "s3cret" not in str(parsed)


def test_a_list_default_is_not_shared_between_configs():
    config_def = definition()
    config_def.parse({"zookeeper.connect": "x"})["log.cleanup.policy"].append("compact")
    assert config_def.parse({"zookeeper.connect": "x"})["log.cleanup.policy"] == ["delete"]


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("num.partitions", "many", "must be an integer from -2147483648 to 2147483647"),
        ("num.partitions", "2147483648", "must be an integer"),
        ("num.partitions", "1_000", "must be an integer"),
        ("num.partitions", "0", "at least 1"),
        ("log.cleanup.policy", "delete,shred", "one of: delete, compact"),
        ("ssl.client.auth", "maybe", "one of: none, required"),
        ("ratio", "1.5", "no more than 1"),
        ("ratio", "nan", "decimal number"),
        ("zookeeper.connect", "", "non-empty"),
    ],
)
def test_an_error_names_key_value_and_valid_values(name, value, says):
    with pytest.raises(ConfigError) as caught:
        definition().parse({"zookeeper.connect": "x", name: value})
    text = str(caught.value)
    assert name in text
    assert value in text or name == "log.cleanup.policy"
    assert says in text
    assert caught.value.error is Errors.INVALID_CONFIG


def test_a_missing_required_key_is_an_error():
    message = r"^Missing required configuration zookeeper\.connect, which has no default\. Where ZooKeeper is"
    with pytest.raises(MissingConfigError, match=message):
        definition().parse({})


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (Type.BOOLEAN, "TRUE", True),
        (Type.BOOLEAN, False, False),
        (Type.SHORT, "-1", -1),
        (Type.LONG, str(2**63 - 1), 2**63 - 1),
        (Type.LONG, 5, 5),
        (Type.DOUBLE, "1.7976931348623157E308", 1.7976931348623157e308),
        (Type.LIST, "a, b ,c", ["a", "b", "c"]),
        (Type.LIST, "", []),
        (Type.LIST, ("a",), ["a"]),
        (Type.STRING, None, None),
    ],
)
def test_values_are_parsed_by_type(kind, text, value):
    assert parse_value("k", kind, text) == value


@pytest.mark.parametrize(
    ("kind", "text"), [(Type.BOOLEAN, "yes"), (Type.SHORT, "40000"), (Type.INT, True), (Type.INT, "")]
)
def test_values_of_a_wrong_type_are_rejected(kind, text):
    with pytest.raises(ConfigError, match="configuration k"):
        parse_value("k", kind, text)


def test_a_type_of_something_else_is_refused_at_once():
    """``kafka_lite.connect.api.Type`` is that of a schema."""
    with pytest.raises(
        TypeError, match=r"configuration a has type 'string': it must be a kafka_lite\.common\.config_def"
    ):
        ConfigDef().define("a", "string", "", Importance.LOW, "")


def test_a_bad_default_or_a_duplicate_definition_is_a_bug_of_the_caller():
    with pytest.raises(ConfigError):
        ConfigDef().define("a", Type.INT, 0, Importance.LOW, "", Range.at_least(1))
    with pytest.raises(ValueError, match="twice"):
        ConfigDef().define("a", Type.INT, 0, Importance.LOW, "").define("a", Type.INT, 0, Importance.LOW, "")


def test_unused_keys_are_listed():
    assert definition().unused({"num.partitions": 1, "no.such.key": 1, "another": 2}) == ["another", "no.such.key"]


def test_values_as_text():
    assert [format_value(v) for v in (None, True, ["a", "b"], 5, Password("x"))] == [
        None,
        "true",
        "a,b",
        "5",
        "[hidden]",
    ]


def test_a_check_describes_valid_values():
    even = Check(lambda n: n % 2 == 0, "an even number")
    even.ensure_valid("k", 4)
    with pytest.raises(ConfigError, match="Value must be an even number"):
        even.ensure_valid("k", 3)


class OneOf:
    """Recommends the names that begin with the value of another key."""

    def __init__(self, prefix_key):
        self.prefix_key = prefix_key

    def valid_values(self, name, parsed_config):
        if parsed_config[self.prefix_key] is None:
            raise ConfigError(name, None, "no prefix")
        return [parsed_config[self.prefix_key] + end for end in "ab"]

    def visible(self, name, parsed_config):
        return parsed_config[self.prefix_key] != "hide"


def form():
    return (
        ConfigDef()
        .define("prefix", Type.STRING, None, Importance.LOW, "", group="G", dependents=["name", "gone"])
        .define("name", Type.STRING, NO_DEFAULT, Importance.HIGH, "", NON_EMPTY, group="G", recommender=OneOf("prefix"))
        .define("count", Type.INT, 1, Importance.LOW, "", Range.at_least(1), group="H", width=Width.SHORT)
    )


def test_a_form_shows_all_errors_at_once():
    values = {value.name: value for value in form().validate({"prefix": "p", "count": "many"})}

    assert [value.error_messages for value in values.values()] == [
        [],
        ['Missing required configuration "name" which has no default value.'],
        [
            "Invalid value many for configuration count: Not a number of type INT: "
            "must be an integer from -2147483648 to 2147483647"
        ],
        ["gone is referred in the dependents, but not defined."],
    ]
    assert values["name"].recommended_values == ["pa", "pb"]
    assert [value.visible for value in values.values()] == [True, True, True, False]


def test_a_recommender_can_hide_a_key_or_find_an_error():
    hidden = form().validate({"prefix": "hide", "name": "n"})[1]
    no_prefix = form().validate({"name": "", "count": "0"})

    assert (hidden.visible, hidden.value) == (False, "n")
    assert no_prefix[1].error_messages == [
        "Invalid value  for configuration name: Value must be non-empty",
        "Invalid value None for configuration name: no prefix",
    ]
    assert no_prefix[2].error_messages == ["Invalid value 0 for configuration count: Value must be at least 1"]


def test_keys_have_groups_and_names_to_show():
    assert form().groups() == ["G", "H"]
    assert [(key.display_name, key.order_in_group, key.width) for key in form()] == [
        ("prefix", -1, Width.NONE),
        ("name", -1, Width.NONE),
        ("count", -1, Width.SHORT),
    ]

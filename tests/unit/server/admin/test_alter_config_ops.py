import pytest

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.protocol.messages.api_44_incremental_alter_configs import AlterableConfig
from kafka_lite.server.admin.alter_config_ops import AlterConfigOp, apply_config_ops
from tests.support.counted_names import CountedName, counted_names

LISTS = {"cleanup.policy": ["delete"]}


def op(kind, name, value):
    return AlterableConfig(name=name, config_operation=kind, value=value)


@pytest.mark.parametrize(
    ("current", "ops", "after"),
    [
        ({}, [op(AlterConfigOp.SET, "a", "1")], {"a": "1"}),
        ({"a": "1", "b": "2"}, [op(AlterConfigOp.DELETE, "a", None)], {"b": "2"}),
        ({}, [op(AlterConfigOp.DELETE, "a", None)], {}),
        ({}, [op(AlterConfigOp.APPEND, "cleanup.policy", "compact")], {"cleanup.policy": "delete,compact"}),
        ({"cleanup.policy": "compact"}, [op(2, "cleanup.policy", "compact")], {"cleanup.policy": "compact"}),
        ({"cleanup.policy": "compact, delete"}, [op(3, "cleanup.policy", "delete")], {"cleanup.policy": "compact"}),
        ({}, [op(AlterConfigOp.SUBTRACT, "cleanup.policy", "delete")], {"cleanup.policy": ""}),
    ],
)
def test_each_operation_changes_the_config(current, ops, after):
    assert apply_config_ops(current, ops, LISTS) == after


@pytest.mark.parametrize(
    ("ops", "says"),
    [
        ([op(0, "a", "1"), op(1, "a", None)], "duplicate config keys : a"),
        ([op(7, "a", "1")], "Unknown operations"),
        ([op(0, "a", None)], "Null value not supported for : a"),
    ],
)
def test_invalid_operations_are_rejected(ops, says):
    with pytest.raises(ApiError, match=says) as caught:
        apply_config_ops({}, ops, LISTS)
    assert caught.value.error is Errors.INVALID_REQUEST


def test_only_lists_are_appended_to():
    with pytest.raises(ApiError, match="append is not allowed for config key") as caught:
        apply_config_ops({}, [op(2, "retention.ms", "1")], LISTS)
    assert caught.value.error is Errors.INVALID_CONFIG


def test_each_of_many_operations_is_looked_at_a_few_times():
    ops = [op(AlterConfigOp.SET, name, "1") for name in counted_names(1000)]
    CountedName.reset()
    assert len(apply_config_ops({}, ops, LISTS)) == 1000
    assert CountedName.looks < 20 * 1000

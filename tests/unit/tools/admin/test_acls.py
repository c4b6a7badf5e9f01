"""The flags of ``kafka-lite acls`` and the bindings that they stand for."""

from __future__ import annotations

import argparse

import pytest

from kafka_lite.tools.admin.acls import _bindings, _patterns, add_arguments
from kafka_lite.tools.common.tool_errors import ToolError


def parsed(*arguments: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    return parser.parse_args(["--bootstrap-server", "h:1", *arguments])


def bindings(*arguments: str) -> list[str]:
    options = parsed("--add", *arguments)
    found = sorted(_bindings(options, _patterns(options)))
    return [
        f"{b.pattern.resource_type.name}:{b.pattern.pattern_type.name}:{b.pattern.name} {b.entry.permission_type.name} "
        f"{b.entry.principal} {b.entry.host} {b.entry.operation.name}"
        for b in found
    ]


def test_each_principal_host_and_operation() -> None:
    found = bindings(
        "--topic", "orders", "--resource-pattern-type", "prefixed", "--allow-principal", "User:alice",
        "--deny-principal", "User:eve", "--deny-host", "10.0.0.1", "--operation", "Read",
        "--operation", "describeconfigs",
    )  # fmt: skip
    assert found == [
        "TOPIC:PREFIXED:orders ALLOW User:alice * READ",
        "TOPIC:PREFIXED:orders ALLOW User:alice * DESCRIBE_CONFIGS",
        "TOPIC:PREFIXED:orders DENY User:eve 10.0.0.1 READ",
        "TOPIC:PREFIXED:orders DENY User:eve 10.0.0.1 DESCRIBE_CONFIGS",
    ]


def test_without_an_operation_all_are_meant() -> None:
    assert bindings("--cluster", "--allow-principal", "User:admin") == [
        "CLUSTER:LITERAL:kafka-cluster ALLOW User:admin * ALL"
    ]


def test_producers_and_consumers() -> None:
    alice = ("--allow-principal", "User:alice")
    assert bindings("--producer", "--idempotent", "--topic", "t", "--transactional-id", "x", *alice) == [
        "TOPIC:LITERAL:t ALLOW User:alice * WRITE",
        "TOPIC:LITERAL:t ALLOW User:alice * CREATE",
        "TOPIC:LITERAL:t ALLOW User:alice * DESCRIBE",
        "CLUSTER:LITERAL:kafka-cluster ALLOW User:alice * IDEMPOTENT_WRITE",
        "TRANSACTIONAL_ID:LITERAL:x ALLOW User:alice * WRITE",
        "TRANSACTIONAL_ID:LITERAL:x ALLOW User:alice * DESCRIBE",
    ]
    assert bindings("--consumer", "--topic", "t", "--group", "g", *alice) == [
        "TOPIC:LITERAL:t ALLOW User:alice * READ",
        "TOPIC:LITERAL:t ALLOW User:alice * DESCRIBE",
        "GROUP:LITERAL:g ALLOW User:alice * READ",
    ]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--topic", "t"], "--allow-principal or --deny-principal"),
        (["--allow-principal", "User:a"], "name a resource"),
        (["--topic", "t", "--allow-principal", "alice"], "write principalType:principalName"),
        (
            ["--topic", "t", "--allow-principal", "User:a", "--operation", "Fly"],
            "Fly is no operation; valid: All",
        ),
        (["--topic", "t", "--allow-principal", "User:a", "--consumer"], "--consumer a --topic and a --group"),
        (["--topic", "t", "--deny-principal", "User:a", "--producer"], "only allow"),
        (["--topic", "t", "--allow-principal", "User:a", "--resource-pattern-type", "any"], "literal or prefixed"),
    ],
)
def test_a_mistake_is_named(arguments: list[str], says: str) -> None:
    with pytest.raises(ToolError, match=says):
        bindings(*arguments)

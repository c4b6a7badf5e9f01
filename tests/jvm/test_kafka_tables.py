"""The tables of errors and APIs compared with Kafka's."""

from __future__ import annotations

import re

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.protocol.api_key import LATER_APIS
from kafka_lite.protocol.api_keys import ApiKey
from tests.support.jvm import classpath, compile_java, run_java

pytestmark = pytest.mark.jvm

SOURCE = """
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.Errors;

public final class KafkaTables {
    public static void main(String[] arguments) {
        for (Errors error : Errors.values())
            System.out.println("error " + error.code() + " " + error.name() + " "
                + (error.exception() instanceof RetriableException));
        for (ApiKeys key : ApiKeys.values())
            System.out.println("api " + key.id + " " + key.name());
    }
}
"""


@pytest.mark.parametrize("kafka_version", ["3.9.1", "4.1.0"])
def test_errors_and_api_keys_match_kafka(kafka_version: str) -> None:
    jars = classpath(f"org.apache.kafka:kafka-clients:{kafka_version}")
    rows = run_java("KafkaTables", classpath=[compile_java(SOURCE, jars), *jars]).stdout.splitlines()
    errors = {tuple(row.split()[1:]) for row in rows if row.startswith("error")}
    ours = {(str(error.code), error.name, str(error.retriable).lower()) for error in Errors}
    assert errors <= ours
    if kafka_version == "4.1.0":
        assert errors == ours
    apis = {tuple(row.split()[1:]) for row in rows if row.startswith("api")}
    renamed = {} if kafka_version == "4.1.0" else {ApiKey.LIST_CONFIG_RESOURCES: "LIST_CLIENT_METRICS_RESOURCES"}
    since_4 = {"DESCRIBE_SHARE_GROUP_OFFSETS", "ALTER_SHARE_GROUP_OFFSETS", "DELETE_SHARE_GROUP_OFFSETS"}
    known = [key for key in ApiKey if kafka_version == "4.1.0" or key.name not in since_4]
    assert {(str(int(key)), renamed.get(key, key.name)) for key in known} <= apis
    if kafka_version == "4.1.0":
        later = {(str(key), re.sub("(?<!^)(?=[A-Z])", "_", name).upper()) for key, name in LATER_APIS.items()}
        assert later <= apis
        assert {int(key) for key, _ in apis} - set(LATER_APIS) <= set(ApiKey)

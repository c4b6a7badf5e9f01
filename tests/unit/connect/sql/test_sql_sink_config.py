import pytest

from kafka_lite.common.config_def import ConfigError
from kafka_lite.connect.sql.sql_sink_config import InsertMode, PrimaryKeyMode, check, sql_sink_config_def


def test_the_defaults_are_those_of_the_jdbc_connector() -> None:
    values = sql_sink_config_def().parse({"connection.url": "sqlite://"})
    check(values)
    assert (InsertMode(values["insert.mode"]), PrimaryKeyMode(values["pk.mode"])) == (
        InsertMode.INSERT, PrimaryKeyMode.NONE,
    )  # fmt: skip
    assert (values["batch.size"], values["max.retries"], values["retry.backoff.ms"]) == (3000, 10, 3000)
    assert [values[key] for key in ("auto.create", "auto.evolve", "delete.enabled")] == [False] * 3


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"delete.enabled": "true"}, "Deletes are only supported for pk.mode record_key"),
        ({"insert.mode": "upsert"}, "insert.mode=upsert needs a primary key"),
        ({"pk.mode": "kafka", "pk.fields": "a,b"}, "has three columns"),
    ],
)
def test_configurations_that_contradict_themselves(changes: dict[str, str], problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        check(sql_sink_config_def().parse({"connection.url": "sqlite://"} | changes))

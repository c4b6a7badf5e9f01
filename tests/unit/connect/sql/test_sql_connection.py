import builtins
from typing import Any

import pytest

from kafka_lite.common.config_def import Password
from kafka_lite.connect.api.errors import ConnectError
from kafka_lite.connect.sql.sql_connection import connection_config_def, database_url, new_engine, sqlalchemy_url


@pytest.mark.parametrize(
    ("given", "url"),
    [
        ("sqlite:////tmp/x.db", "sqlite:////tmp/x.db"),
        ("jdbc:sqlite:/tmp/x.db", "sqlite:////tmp/x.db"),
        ("jdbc:postgresql://db:5432/shop", "postgresql+psycopg://db:5432/shop"),
        ("jdbc:mysql://db/shop", "mysql+pymysql://db/shop"),
        ("jdbc:oracle:thin:@db", "oracle:thin:@db"),
    ],
)
def test_urls_of_jdbc(given: str, url: str) -> None:
    assert sqlalchemy_url(given) == url


def test_user_and_password_are_added() -> None:
    values = connection_config_def().parse(
        {"connection.url": "postgresql://db/shop", "connection.user": "me", "connection.password": "s3cret"}
    )
    assert values["connection.password"] == Password("s3cret")
    url = database_url(values)
    assert (url.username, url.password) == ("me", "s3cret")
    assert "s3cret" not in f"{values}{url}"


@pytest.mark.parametrize(
    "url",
    [
        "no url with s3cret",
        "nosuchdb://me:s3cret@db/shop",
        "jdbc:mariadb://me:s3cret@db/shop",
        "sqlite://me:s3cret@host:x/y",
    ],
)
def test_a_database_that_cannot_be_used_is_named_without_its_password(url: str) -> None:
    with pytest.raises(ConnectError, match=r"The database of connection\.url cannot be used") as raised:
        new_engine(connection_config_def().parse({"connection.url": url}))
    assert "s3cret" not in str(raised.value)
    assert raised.value.__suppress_context__


def test_without_sqlalchemy_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *arguments: Any) -> Any:
        if name == "sqlalchemy":
            raise ImportError(name)
        return real(name, *arguments)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ConnectError, match=r"pip install 'kafka-lite\[connect\]'"):
        new_engine({})

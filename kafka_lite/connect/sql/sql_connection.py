"""The connection to a database: its configuration keys, and SQLAlchemy's engine · book 8.3.2"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from kafka_lite.common.config_def import NO_DEFAULT, ConfigDef, Importance, Type
from kafka_lite.common.config_value import Width
from kafka_lite.connect.api.errors import ConnectError

if TYPE_CHECKING:
    from sqlalchemy import URL, Engine

HIGH, MEDIUM, LOW = Importance.HIGH, Importance.MEDIUM, Importance.LOW
DATABASE_GROUP = "Database"
CONNECTION_URL, CONNECTION_USER, CONNECTION_PASSWORD = "connection.url", "connection.user", "connection.password"
_JDBC = {"postgresql": "postgresql+psycopg", "mysql": "mysql+pymysql", "mariadb": "mariadb+pymysql"}
"""Databases in JDBC's URLs, and the drivers of Python that are preferred for them."""


def connection_config_def() -> ConfigDef:
    """The keys that source and sink have in common."""
    return (
        ConfigDef()
        .define(CONNECTION_URL, Type.STRING, NO_DEFAULT, HIGH,
                "The database: SQLAlchemy's URL, such as sqlite:////tmp/shop.db, or JDBC's.",
                group=DATABASE_GROUP, order_in_group=1, width=Width.LONG, display_name="Database URL")
        .define(CONNECTION_USER, Type.STRING, None, HIGH, "The user, unless the URL has it.",
                group=DATABASE_GROUP, order_in_group=2, width=Width.MEDIUM, display_name="Database User")
        .define(CONNECTION_PASSWORD, Type.PASSWORD, None, HIGH, "The password, unless the URL has it.",
                group=DATABASE_GROUP, order_in_group=3, width=Width.SHORT, display_name="Database Password")
    )  # fmt: skip


def sqlalchemy_url(url: str) -> str:
    """SQLAlchemy's form of a URL, which may be JDBC's::

    jdbc:sqlite:/tmp/shop.db          sqlite:////tmp/shop.db
    jdbc:postgresql://db:5432/shop    postgresql+psycopg://db:5432/shop
    """
    if not url.startswith("jdbc:"):
        return url
    database, _, rest = url.removeprefix("jdbc:").partition(":")
    return f"sqlite:///{rest}" if database == "sqlite" else f"{_JDBC.get(database, database)}:{rest}"


def new_engine(values: Mapping[str, Any]) -> Engine:
    """An engine for parsed values. The caller disposes of it. Raises ConnectError; its texts have no password."""
    try:
        import sqlalchemy
    except ImportError as error:
        raise ConnectError("SQL connectors need SQLAlchemy: pip install 'kafka-lite[connect]'") from error
    try:
        return sqlalchemy.create_engine(database_url(values), pool_pre_ping=True)
    except (sqlalchemy.exc.ArgumentError, ImportError, ValueError) as error:
        # SQLAlchemy's message may have the URL, and the password in it.
        reason = str(error) if isinstance(error, ImportError) else "it is no URL, or one of an unknown database"
        raise ConnectError(f"The database of {CONNECTION_URL} cannot be used: {reason}") from None


def database_url(values: Mapping[str, Any]) -> URL:
    """The URL with user and password. Raises sqlalchemy.exc.ArgumentError."""
    from sqlalchemy import make_url

    url, password = make_url(sqlalchemy_url(values[CONNECTION_URL])), values[CONNECTION_PASSWORD]
    if values[CONNECTION_USER] is not None:
        url = url.set(username=values[CONNECTION_USER])
    return url if password is None else url.set(password=password.value)

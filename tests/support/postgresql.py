"""A PostgreSQL server of the test's own, of Debian's package ``postgresql``.

It listens on a Unix socket in a folder of its own. Without the package, or without psycopg, the caller is skipped, or
fails where KAFKA_LITE_REQUIRE_JVM=1 says that everything has to be there.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.connect_sql import Database
from tests.support.jvm import REQUIRE

INSTALLED = Path("/usr/lib/postgresql")
USER = "postgres"
"""A server refuses to run as root. This is the user that the package makes."""


@contextmanager
def postgresql() -> Iterator[str]:
    """Run a server, and return the URL of its empty database."""
    programs = _programs()
    folder = Path(tempfile.mkdtemp(prefix="postgresql-"))
    try:
        if os.geteuid() == 0:
            shutil.chown(folder, USER, USER)
        _run(programs / "initdb", "--pgdata", folder / "data", "--auth=trust", "--username=shop", "--no-sync")
        options = f"-c listen_addresses= -c unix_socket_directories={folder} -c fsync=off -c lock_timeout=20s"
        pg_ctl = (programs / "pg_ctl", "--pgdata", folder / "data", "--log", folder / "log", "--wait")
        _run(*pg_ctl, "--options", options, "start")
        try:
            yield f"postgresql+psycopg://shop@/postgres?host={folder}"
        finally:
            _run(*pg_ctl, "--mode=immediate", "stop")
    finally:
        shutil.rmtree(folder)


class PostgresqlDatabase(Database):
    """The database of a server, emptied for the next test when it is closed."""

    def __init__(self, url: str) -> None:
        self._open(url)
        self.at_end.append(lambda: self.run("DROP SCHEMA public CASCADE", "CREATE SCHEMA public"))


def _programs() -> Path:
    found = sorted(INSTALLED.glob("*/bin"))
    missing = [
        name
        for name, is_there in (
            ("PostgreSQL (Debian: postgresql)", found),
            ("psycopg", importlib.util.find_spec("psycopg")),
        )
        if not is_there
    ]
    if missing and os.environ.get(REQUIRE) == "1":
        pytest.fail(f"{REQUIRE}=1, but there is no {' and no '.join(missing)}")
    if missing:
        pytest.skip(f"needs {' and '.join(missing)}")
    return found[-1]


def _run(*command: object) -> None:
    as_user = ["runuser", "-u", USER, "--"] if os.geteuid() == 0 else []
    done = subprocess.run([*as_user, *map(str, command)], cwd="/", capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"

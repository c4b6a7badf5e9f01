"""A Spark cluster on this machine: a standalone master and its workers, from PySpark's own scripts.

Spark 4.2: core/.../deploy/master/Master.scala, core/.../deploy/worker/Worker.scala · book 1.1

All of them run on the Java that ``java_home`` finds, and listen on free ports of the loopback interface. Each worker
starts an executor.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Self

import pyspark

from kafka_lite.server.broker_process import HOST, ServerProcess, free_port
from kafka_lite.spark.java_runtime import java_home

WORKER_CORES = 1
WORKER_MEMORY = "1g"

_SPARK_CLASS = Path(pyspark.__file__).parent / "bin" / "spark-class"
_MASTER, _WORKER = "org.apache.spark.deploy.master.Master", "org.apache.spark.deploy.worker.Worker"


class StandaloneCluster:
    """A master and its workers; a context manager that starts and stops them.

    Their logs and working directories are in ``folder``. A worker may be killed; its executor ends with it.
    """

    def __init__(self, folder: Path, worker_count: int) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.master = _process(folder / "master.log", _MASTER, [])
        work = ["--cores", str(WORKER_CORES), "--memory", WORKER_MEMORY, "--work-dir"]
        self.workers = [
            _process(folder / f"worker-{number}.log", _WORKER, [*work, str(folder / f"worker-{number}"), self.url])
            for number in range(worker_count)
        ]
        self._running = ExitStack()

    @property
    def url(self) -> str:
        """For ``--master``."""
        return f"spark://{HOST}:{self.master.port}"

    def __enter__(self) -> Self:
        with ExitStack() as starting:
            for server in (self.master, *self.workers):
                starting.enter_context(server)
            self._running = starting.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._running.close()


def _process(log_file: Path, main_class: str, arguments: Sequence[str]) -> ServerProcess:
    port = free_port()
    environment = [
        f"JAVA_HOME={java_home()}",
        f"SPARK_LOCAL_IP={HOST}",  # without it, the web page would listen on all interfaces
        "SPARK_DAEMON_MEMORY=256m",
        f'SPARK_DAEMON_JAVA_OPTS="-Dkafka_lite.log={log_file}"',  # tells in a list of processes whose it is
    ]
    address = ["--host", HOST, "--port", str(port), "--webui-port", "0"]
    return ServerProcess(["env", *environment, str(_SPARK_CLASS), main_class, *address, *arguments], port, log_file)

"""Kafka's smoke test of Streams as programs: its driver and client, and ours of ``examples.smoke_test``."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from tests.support.jvm import classpath, compile_java, java_command
from tests.support.program import Program

KEYS, RECORDS_PER_KEY = 10, 100
DAY_S, LONGEST_TEST_S = 86_400, 120
CLIENT = "org.apache.kafka.streams.tests.StreamsSmokeTest"
CONFIGS_3_9 = {
    "processing.guarantee": "exactly_once_v2",
    "session.timeout.ms": 6_000,
    "transaction.timeout.ms": 6_000,
}
"""Timeouts are short: the second instance waits for those of the first, which was killed."""
DRIVER = """
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.streams.tests.SmokeTestDriver;

/** Kafka's driver with fewer numbers than its own main function writes. */
public class FewNumbers {
    public static void main(String[] args) throws Exception {
        int keys = Integer.parseInt(args[1]);
        int recordsPerKey = Integer.parseInt(args[2]);
        Map<String, Set<Integer>> all = SmokeTestDriver.generate(args[0], keys, recordsPerKey%s);
        SmokeTestDriver.verify(args[0], all, recordsPerKey);
    }
}
"""


def await_a_day_that_is_long_enough() -> None:
    """Kafka's driver expects that all its records are in one window, which is a day of UTC."""
    left_of_day_s = DAY_S - time.time() % DAY_S
    if left_of_day_s < LONGEST_TEST_S:
        time.sleep(left_of_day_s)


class KafkasSmokeTest:
    """Kafka's classes of one version, and the files of one run."""

    def __init__(self, version: str, pause: str, servers: str, directory: Path) -> None:
        streams = "org.apache.kafka:kafka-streams"
        others = [f"org.apache.kafka:kafka-clients:jar:test:{version}", "org.slf4j:slf4j-nop:1.7.36"]
        self._jars = classpath(f"{streams}:{version}", f"{streams}:jar:test:{version}", *others)
        self._driver = compile_java(DRIVER % pause, self._jars)
        self._servers = servers
        self._directory = directory

    def driver(self) -> Program:
        return self._program("driver", "FewNumbers", self._servers, str(KEYS), str(RECORDS_PER_KEY))

    def client_0_10_2(self, name: str) -> Program:
        return self._program(name, CLIENT, self._servers, str(self._directory / name), "process")

    def client_3_9(self, name: str) -> Program:
        configs = {**CONFIGS_3_9, "bootstrap.servers": self._servers, "state.dir": self._directory / name}
        properties = self._directory / f"{name}.properties"
        properties.write_text("".join(f"{key}={value}\n" for key, value in configs.items()), encoding="utf-8")
        return self._program(name, CLIENT, str(properties), "process")

    def _program(self, name: str, main: str, *arguments: str) -> Program:
        command = java_command(main, *arguments, classpath=[self._driver, *self._jars])
        return Program(command, self._directory / f"{name}.log")


def our_client(servers: str, directory: Path, name: str, **configs: object) -> Program:
    """An instance of ours. ``configs`` have keys with underscores for dots."""
    command = [sys.executable, "-m", "examples.smoke_test", "process", "--bootstrap-server", servers]
    command += ["--state-dir", str(directory / name)]
    command += [f"--config={key.replace('_', '.')}={value}" for key, value in configs.items()]
    return Program(command, directory / f"{name}.log")

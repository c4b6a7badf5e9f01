"""A broker imports little, since every start of one pays for it: a quarter of a second for 750 modules."""

from __future__ import annotations

import subprocess
import sys

MOST = 840
IMPORTED = "import sys, kafka_lite.server.kafka_server; print(*sorted(sys.modules), sep='\\n')"
OF_OTHERS = {
    *("asyncio", "multiprocessing", "unittest", "http.server", "sqlite3", "xml.dom", "pydoc", "pdb"),
    *("rich", "numpy", "pandas", "pyarrow", "pyspark", "confluent_kafka", "rocksdict", "aiohttp", "jinja2"),
}
"""What a broker never needs, or not before it is asked for it."""
LATER = (
    *("server.share.", "server.apis.share.share_fetch", "server.startup.share_coordination", "coordinator.share.shard"),
    *("coordinator.group.modern.share.share_group_coordinator", "security.scram.scram_sasl", "security.kerberos"),
)
"""What serves share groups, which are off by default, and mechanisms that no listener has."""
OWN = {
    f"kafka_lite.{name}"
    for name in ("connect", "streams", "mirror", "spark", "testing", "tools", "producer", "consumer", "old_consumer")
}


def imported_by_a_broker() -> set[str]:
    done = subprocess.run([sys.executable, "-c", IMPORTED], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_a_broker_imports_few_modules_and_none_of_its_clients() -> None:
    modules = imported_by_a_broker()
    assert "kafka_lite.log.log" in modules
    assert modules & (OF_OTHERS | OWN) == set()
    assert [name for name in modules if name.startswith(tuple(f"kafka_lite.{each}" for each in LATER))] == []
    assert len(modules) <= MOST, "each module costs every start of a broker: is one imported before it is needed?"

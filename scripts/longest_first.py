"""The order in which the files of tests start: those that take longest first.

Otherwise one process still runs one of them when the others have nothing left to do.
"""

from __future__ import annotations

_LONGEST = (
    "tests/docs/test_site.py",
    "tests/docs/test_labs.py",
    "tests/docs/test_lab_answers.py",
    "tests/chaos/test_pipeline_kill_nine.py",
    "tests/integration/test_spark_source.py",
    "tests/docs/test_spark_page.py",
    "tests/integration/test_older_pyspark.py",
    "tests/jvm/test_spark_and_real_kafka.py",
    "tests/integration/test_pipeline_jobs.py",
    "tests/docs/test_quickstart.py",
    "tests/integration/test_pipeline_command.py",
    "tests/integration/test_demo.py",
    "tests/integration/test_kazoo_suite.py",
    "tests/integration/test_simulation.py",
    "tests/jvm/test_cluster_on_several_hosts.py",
    "tests/integration/test_cluster_of_three.py",
    "tests/integration/test_reassignment.py",
    "tests/integration/test_topics_on_three_brokers.py",
    "tests/integration/test_leader_elections.py",
    "tests/clients/test_consumer_groups.py",
    "tests/clients/test_faults_with_real_clients.py",
    "tests/clients/test_cluster_of_three_by_real_clients.py",
    "tests/jvm/test_five_systems.py",
    "tests/jvm/test_streams_smoke.py",
    "tests/jvm/test_streams_smoke_of_ours.py",
    "tests/jvm/test_streams_eos.py",
    "tests/jvm/test_mixed_with_later_kafka.py",
    "tests/jvm/test_mixed_cluster.py",
    "tests/jvm/test_mixed_transactions.py",
    "tests/jvm/test_rolling_replacement.py",
    "tests/integration/test_hanging_transactions.py",
    "tests/jvm/test_groups_outlive_their_broker.py",
    "tests/jvm/test_flights_by_our_producers.py",
    "tests/chaos/test_cluster_kill_nine.py",
    "tests/chaos/test_chaos_run.py",
    "tests/chaos/test_compaction_crashes.py",
    "tests/integration/runs/test_recorded_runs.py",
    "tests/chaos/test_producer_faults.py",
    "tests/chaos/test_broker_kill_nine.py",
    "tests/integration/test_replication.py",
    "tests/integration/test_second_try.py",
    "tests/jvm/test_streams_differential.py",
    "tests/jvm/test_streams_of_two_languages.py",
)
_PLACES = {path: place for place, path in enumerate(_LONGEST)}


def place_of(file: str) -> tuple[int, str]:
    """The key by which files are sorted. ``file`` is a path from the project's folder, as in a node id."""
    return _PLACES.get(file, len(_PLACES)), file

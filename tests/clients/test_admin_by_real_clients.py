"""What unmodified admin clients do with topics and configurations."""

import asyncio

import pytest
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.admin import NewTopic as AioNewTopic
from confluent_kafka import KafkaException
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewPartitions,
    NewTopic,
    ResourceType,
)
from kafka.admin import ConfigResource as PyConfigResource
from kafka.admin import ConfigResourceType as PyConfigResourceType
from kafka.admin import KafkaAdminClient
from kafka.admin import NewTopic as PyNewTopic
from kafka.errors import TopicAlreadyExistsError

from kafka_lite.testing.cluster import Cluster
from tests.support.patience import patient_s


@pytest.fixture(scope="module")
def cluster():
    with Cluster() as cluster:
        yield cluster


@pytest.fixture(scope="module")
def confluent(cluster):
    return AdminClient({"bootstrap.servers": cluster.bootstrap_servers})


def result(futures):
    ((_, future),) = futures.items()
    return future.result(timeout=patient_s(60))


def test_confluent_kafka_manages_topics(confluent, cluster):
    wish = NewTopic("confluent", num_partitions=3, replication_factor=1, config={"retention.ms": "1000"})
    result(confluent.create_topics([wish]))
    topic = confluent.list_topics("confluent", timeout=patient_s(60)).topics["confluent"]
    assert sorted(topic.partitions) == [0, 1, 2]
    assert {partition.leader for partition in topic.partitions.values()} == {0}
    result(confluent.create_partitions([NewPartitions("confluent", 5)]))
    assert len(confluent.list_topics("confluent", timeout=patient_s(60)).topics["confluent"].partitions) == 5
    with pytest.raises(KafkaException) as caught:
        result(confluent.create_topics([wish]))
    assert caught.value.args[0].name() == "TOPIC_ALREADY_EXISTS"
    result(confluent.delete_topics(["confluent"], operation_timeout=30))
    assert "confluent" not in confluent.list_topics(timeout=patient_s(60)).topics


def test_confluent_kafka_manages_configs(confluent, cluster):
    result(confluent.create_topics([NewTopic("configured", 1, 1)]))
    resource = ConfigResource(ResourceType.TOPIC, "configured")
    assert result(confluent.describe_configs([resource]))["retention.ms"].value == "604800000"
    change = ConfigEntry("retention.ms", "5", incremental_operation=AlterConfigOpType.SET)
    result(
        confluent.incremental_alter_configs(
            [ConfigResource(ResourceType.TOPIC, "configured", incremental_configs=[change])]
        )
    )
    entry = result(confluent.describe_configs([resource]))["retention.ms"]
    assert (entry.value, entry.is_default, entry.is_read_only) == ("5", False, False)
    broker = result(confluent.describe_configs([ConfigResource(ResourceType.BROKER, "0")]))
    assert broker["num.io.threads"].value == "4"
    assert not broker["num.io.threads"].is_read_only
    assert broker["num.network.threads"].is_read_only
    change = ConfigEntry("num.network.threads", "5", incremental_operation=AlterConfigOpType.SET)
    with pytest.raises(KafkaException, match="Cannot update these configs dynamically"):
        result(
            confluent.incremental_alter_configs(
                [ConfigResource(ResourceType.BROKER, "0", incremental_configs=[change])]
            )
        )


def test_confluent_kafka_describes_the_cluster(confluent, cluster):
    described = confluent.describe_cluster().result(timeout=patient_s(60))
    assert described.cluster_id == cluster.server.cluster_id
    assert described.controller.id == 0
    assert [node.id for node in described.nodes] == [0]


def test_kafka_python_manages_topics(cluster):
    admin = KafkaAdminClient(bootstrap_servers=cluster.bootstrap_servers)
    try:
        wish = PyNewTopic(
            "kafka-python", num_partitions=2, replication_factor=1, topic_configs={"segment.bytes": "1000"}
        )
        admin.create_topics([wish])
        assert "kafka-python" in admin.list_topics()
        with pytest.raises(TopicAlreadyExistsError):
            admin.create_topics([wish])
        configs = admin.describe_configs([PyConfigResource(PyConfigResourceType.TOPIC, "kafka-python")])
        assert "1000" in str(configs)
        admin.delete_topics(["kafka-python"])
        assert "kafka-python" not in admin.list_topics()
    finally:
        admin.close()


def test_aiokafka_manages_topics(cluster):
    async def steps():
        admin = AIOKafkaAdminClient(bootstrap_servers=cluster.bootstrap_servers)
        await admin.start()
        try:
            await admin.create_topics([AioNewTopic("aiokafka", num_partitions=2, replication_factor=1)])
            assert "aiokafka" in await admin.list_topics()
            (described,) = await admin.describe_topics(["aiokafka"])
            assert len(described["partitions"]) == 2
            await admin.delete_topics(["aiokafka"])
            assert "aiokafka" not in await admin.list_topics()
        finally:
            await admin.close()

    asyncio.run(steps())

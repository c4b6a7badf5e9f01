import java.util.*;
import java.util.concurrent.*;
import org.apache.kafka.clients.admin.*;
import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.clients.producer.*;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.serialization.*;

/** Admin, producer with every codec, consumer by assignment: prints one line per fact, "OK" at the end. */
public class JavaClient {
    static void check(boolean holds, String what) {
        if (!holds) throw new IllegalStateException(what);
        System.out.println(what);
    }

    /** Of the first record: a while ago, but not so long that retention would take it away. */
    static final long FIRST_MS = System.currentTimeMillis() - 3_600_000L;

    public static void main(String[] args) throws Exception {
        String bootstrap = args[0], prefix = args[1];
        Map<String, Object> base = new HashMap<>();
        base.put("bootstrap.servers", bootstrap);
        base.put("default.api.timeout.ms", "20000");
        base.put("request.timeout.ms", "10000");
        try (Admin admin = Admin.create(base)) {
            admin(admin, prefix + "-admin");
            for (String codec : List.of("none", "gzip", "snappy", "lz4", "zstd")) {
                String topic = prefix + "-" + codec;
                admin.createTopics(List.of(new NewTopic(topic, 2, (short) 1))).all().get();
                produce(bootstrap, topic, codec);
                consume(base, topic, codec);
            }
        }
        System.out.println("OK");
    }

    static void admin(Admin admin, String topic) throws Exception {
        check(admin.describeCluster().nodes().get().size() == 1, "one node");
        check(admin.describeCluster().controller().get().id() == 0, "controller 0");
        admin.createTopics(List.of(new NewTopic(topic, 1, (short) 1).configs(Map.of("retention.ms", "1000")))).all().get();
        ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, topic);
        Config config = admin.describeConfigs(List.of(resource)).all().get().get(resource);
        check(config.get("retention.ms").value().equals("1000"), "retention.ms=1000");
        check(config.get("retention.ms").source() == ConfigEntry.ConfigSource.DYNAMIC_TOPIC_CONFIG, "source of the topic");
        AlterConfigOp delete = new AlterConfigOp(new ConfigEntry("retention.ms", ""), AlterConfigOp.OpType.DELETE);
        admin.incrementalAlterConfigs(Map.of(resource, List.of(delete))).all().get();
        config = admin.describeConfigs(List.of(resource)).all().get().get(resource);
        check(config.get("retention.ms").value().equals("604800000"), "retention.ms back to its default");
        admin.createPartitions(Map.of(topic, NewPartitions.increaseTo(3))).all().get();
        check(admin.describeTopics(List.of(topic)).allTopicNames().get().get(topic).partitions().size() == 3, "three partitions");
        check(admin.listTopics().names().get().contains(topic), "listed");
        check(!admin.describeLogDirs(List.of(0)).allDescriptions().get().get(0).isEmpty(), "log dirs");
        try {
            admin.createTopics(List.of(new NewTopic(topic, 1, (short) 1))).all().get();
            throw new IllegalStateException("created twice");
        } catch (ExecutionException expected) {
            check(expected.getCause() instanceof org.apache.kafka.common.errors.TopicExistsException, "exists");
        }
        admin.deleteTopics(List.of(topic)).all().get();
        check(!admin.listTopics().names().get().contains(topic), "deleted");
    }

    static void produce(String bootstrap, String topic, String codec) throws Exception {
        Map<String, Object> config = new HashMap<>();
        config.put("bootstrap.servers", bootstrap);
        config.put("compression.type", codec);
        config.put("acks", "all");
        config.put("linger.ms", "20");
        List<Future<RecordMetadata>> sent = new ArrayList<>();
        try (KafkaProducer<byte[], byte[]> producer =
                new KafkaProducer<>(config, new ByteArraySerializer(), new ByteArraySerializer())) {
            for (int i = 0; i < 400; i++) {
                ProducerRecord<byte[], byte[]> record =
                    new ProducerRecord<>(topic, i % 2, FIRST_MS + i, ("k" + i).getBytes(), ("v" + i).repeat(1 + i % 40).getBytes());
                record.headers().add(new RecordHeader("n", new byte[] {(byte) i}));
                sent.add(producer.send(record));
            }
        }
        for (int i = 0; i < sent.size(); i++)
            if (sent.get(i).get().offset() != i / 2) throw new IllegalStateException("offset of " + i);
        System.out.println("produced " + codec);
    }

    static void consume(Map<String, Object> base, String topic, String codec) {
        List<TopicPartition> partitions = List.of(new TopicPartition(topic, 0), new TopicPartition(topic, 1));
        Map<String, Object> config = new HashMap<>(base);
        config.put("enable.auto.commit", "false");
        try (KafkaConsumer<byte[], byte[]> consumer =
                new KafkaConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            consumer.assign(partitions);
            consumer.seekToBeginning(partitions);
            long[] next = {0, 0};
            int found = 0;
            long deadline = System.currentTimeMillis() + 30_000;
            while (found < 400 && System.currentTimeMillis() < deadline) {
                for (ConsumerRecord<byte[], byte[]> record : consumer.poll(java.time.Duration.ofMillis(500))) {
                    int p = record.partition();
                    int i = (int) (record.offset() * 2 + p);
                    if (record.offset() != next[p]++) throw new IllegalStateException("gap before " + record.offset());
                    if (!new String(record.value()).equals(("v" + i).repeat(1 + i % 40))) throw new IllegalStateException("value " + i);
                    if (!new String(record.key()).equals("k" + i)) throw new IllegalStateException("key " + i);
                    if (record.timestamp() != FIRST_MS + i) throw new IllegalStateException("timestamp " + i);
                    if (record.headers().lastHeader("n").value()[0] != (byte) i) throw new IllegalStateException("header " + i);
                    found++;
                }
            }
            if (found != 400) throw new IllegalStateException("read " + found + " of 400");
            Map<TopicPartition, OffsetAndTimestamp> byTime = consumer.offsetsForTimes(Map.of(partitions.get(0), FIRST_MS + 100));
            if (byTime.get(partitions.get(0)).offset() != 50) throw new IllegalStateException("by time " + byTime);
            if (consumer.endOffsets(partitions).get(partitions.get(1)) != 200) throw new IllegalStateException("end offsets");
            System.out.println("consumed " + codec);
        }
    }
}

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** Reads many partitions at once while fetch.max.bytes has room for a few only: the limit falls anywhere in a batch. */
public class JavaSmallFetches {
    private static final int PARTITIONS = 12;
    private static final int RECORDS = 3000;

    public static void main(String[] args) throws Exception {
        Map<String, Object> config =
                Map.of("bootstrap.servers", args[0], "enable.idempotence", "false", "batch.size", "2000");
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", args[0]))) {
            admin.createTopics(List.of(new NewTopic(args[1], PARTITIONS, (short) 1))).all().get();
        }
        Random random = new Random(1);
        List<TopicPartition> partitions = new ArrayList<>();
        for (int i = 0; i < PARTITIONS; i++) {
            partitions.add(new TopicPartition(args[1], i));
        }
        try (var producer = new KafkaProducer<>(config, new ByteArraySerializer(), new ByteArraySerializer())) {
            for (int i = 0; i < RECORDS; i++) {
                producer.send(new ProducerRecord<>(args[1], i % PARTITIONS, null, new byte[random.nextInt(900)]));
            }
        }
        Map<String, Object> limits = Map.of(
                "bootstrap.servers", args[0], "fetch.max.bytes", "10000", "auto.offset.reset", "earliest");
        int read = 0;
        try (var consumer = new KafkaConsumer<>(limits, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            consumer.assign(partitions);
            long deadline = System.currentTimeMillis() + 60_000;
            while (read < RECORDS && System.currentTimeMillis() < deadline) {
                read += consumer.poll(Duration.ofMillis(200)).count();
            }
        }
        System.out.println(read == RECORDS ? "OK" : read + " of " + RECORDS + " records");
    }
}

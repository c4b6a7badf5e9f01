import java.time.Duration;
import java.util.List;
import java.util.Properties;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** Reads partition 0 of a topic, assigned, several times over; prints the messages per second of each time. */
public class JavaConsume {
    public static void main(String[] args) {
        TopicPartition partition = new TopicPartition(args[1], 0);
        long messages = Long.parseLong(args[2]);
        Properties properties = new Properties();
        properties.put("bootstrap.servers", args[0]);
        properties.put("key.deserializer", ByteArrayDeserializer.class.getName());
        properties.put("value.deserializer", ByteArrayDeserializer.class.getName());
        properties.put("enable.auto.commit", "false");
        properties.put("max.poll.records", "10000");
        try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(properties)) {
            consumer.assign(List.of(partition));
            for (int pass = Integer.parseInt(args[3]); pass > 0; pass--) {
                consumer.seekToBeginning(List.of(partition));
                long began = System.nanoTime(), came = 0;
                while (came < messages) {
                    ConsumerRecords<byte[], byte[]> records = consumer.poll(Duration.ofSeconds(10));
                    if (records.isEmpty()) throw new IllegalStateException("no message within ten seconds after " + came);
                    came += records.count();
                }
                System.out.println(came * 1e9 / (System.nanoTime() - began));
            }
        }
    }
}

import java.io.*;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.util.*;
import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.*;

/**
 * A consumer in a group, of the Java client of any version from 0.10 on: it is compiled against each.
 *
 * Arguments: BOOTSTRAP GROUP TOPIC CLIENT_ID ASSIGNOR ("consumer": the broker assigns, KIP-848). It prints "partitions 0 1 2" whenever it has been assigned
 * others, and "value V" for each record, until standard input ends; then it commits and leaves. It commits now and then, too.
 */
public class GroupMember {
    public static void main(String[] args) throws Exception {
        final boolean[] stopping = {false};
        Thread watcher = new Thread(() -> {
            try {
                while (System.in.read() >= 0) { }
            } catch (IOException e) {
                // as good as the end
            }
            synchronized (stopping) { stopping[0] = true; }
        });
        watcher.setDaemon(true);
        watcher.start();
        Map<String, Object> config = new HashMap<>();
        config.put("bootstrap.servers", args[0]);
        config.put("group.id", args[1]);
        config.put("client.id", args[3]);
        config.put("auto.offset.reset", "earliest");
        if (args[4].equals("consumer")) {
            config.put("group.protocol", "consumer");
        } else {
            config.put("partition.assignment.strategy", args[4]);
            config.put("session.timeout.ms", "10000");
            config.put("heartbeat.interval.ms", "500");
        }
        config.put("auto.commit.interval.ms", "1000");
        KafkaConsumer<byte[], String> consumer = new KafkaConsumer<>(config, new ByteArrayDeserializer(), new StringDeserializer());
        consumer.subscribe(Collections.singletonList(args[2]));
        Set<Integer> shown = null;
        try {
            while (true) {
                synchronized (stopping) { if (stopping[0]) break; }
                ConsumerRecords<byte[], String> records = poll(consumer);
                Set<Integer> partitions = new TreeSet<>();
                for (TopicPartition each : consumer.assignment()) partitions.add(each.partition());
                if (!partitions.equals(shown)) {
                    StringBuilder line = new StringBuilder("partitions");
                    for (int each : partitions) line.append(' ').append(each);
                    System.out.println(line);
                    shown = partitions;
                }
                for (ConsumerRecord<byte[], String> record : records) System.out.println("value " + record.value());
                System.out.flush();
            }
        } finally {
            consumer.close();
        }
    }

    /** poll(long) went with 4.0, poll(Duration) came with 2.0. */
    @SuppressWarnings("unchecked")
    static ConsumerRecords<byte[], String> poll(KafkaConsumer<byte[], String> consumer) throws Exception {
        try {
            Method poll = KafkaConsumer.class.getMethod("poll", java.time.Duration.class);
            return (ConsumerRecords<byte[], String>) poll.invoke(consumer, java.time.Duration.ofMillis(100));
        } catch (NoSuchMethodException e) {
            return (ConsumerRecords<byte[], String>) KafkaConsumer.class.getMethod("poll", long.class).invoke(consumer, 100L);
        }
    }
}

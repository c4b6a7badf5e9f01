import java.io.*;
import java.time.Duration;
import java.util.*;
import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.common.serialization.*;

/**
 * A member of a share group, of the Java client 4.1.
 *
 * Arguments: BOOTSTRAP GROUP TOPIC CLIENT_ID. It accepts each record, but releases every seventh at its first delivery. It prints "delivered P O N V" (partition,
 * offset, delivery count, value) for each record, "accepted P O" once the broker has acknowledged it, and "uncertain P O" if it has not said so, until standard input
 * ends.
 */
public class ShareMember {
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
        config.put("share.acknowledgement.mode", "explicit");
        config.put("max.poll.records", "50");
        KafkaShareConsumer<byte[], String> consumer = new KafkaShareConsumer<>(config, new ByteArrayDeserializer(), new StringDeserializer());
        consumer.subscribe(Collections.singletonList(args[2]));
        try {
            while (true) {
                synchronized (stopping) { if (stopping[0]) break; }
                ConsumerRecords<byte[], String> records = consumer.poll(Duration.ofMillis(200));
                List<String> accepted = new ArrayList<>();
                for (ConsumerRecord<byte[], String> each : records) {
                    int count = each.deliveryCount().orElse((short) 0);
                    System.out.println("delivered " + each.partition() + " " + each.offset() + " " + count + " " + each.value());
                    boolean release = each.offset() % 7 == 3 && count == 1;
                    consumer.acknowledge(each, release ? AcknowledgeType.RELEASE : AcknowledgeType.ACCEPT);
                    if (!release) accepted.add(each.partition() + " " + each.offset());
                }
                Map<String, Boolean> failed = new HashMap<>();
                consumer.commitSync(Duration.ofSeconds(20)).forEach((partition, failure) -> {
                    if (failure.isPresent()) {
                        failed.put(Integer.toString(partition.partition()), true);
                        System.out.println("failed " + partition.partition() + " " + failure.get().getClass().getSimpleName());
                    }
                });
                for (String each : accepted) System.out.println((failed.containsKey(each.split(" ")[0]) ? "uncertain " : "accepted ") + each);
                System.out.flush();
            }
        } finally {
            consumer.close();
        }
    }
}

import java.io.*;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.*;
import java.util.concurrent.Future;
import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.clients.producer.*;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.*;

/**
 * Writes and reads with the Java client of any version from 0.9 on: it is compiled against each.
 *
 * Commands come on standard input, "write BOOTSTRAP TOPIC CODEC TAG COUNT" and "read BOOTSTRAP TOPIC COUNT"; a record that
 * was read is printed as "OFFSET KEY VALUE", and every answer ends with "done". "digest BOOTSTRAP TOPIC PARTITIONS COUNT"
 * reads every partition and prints for each "PARTITION COUNT SHA-256", of all fields of all its records in order.
 */
public class AnyClient {
    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] words = line.split(" ");
            if (words[0].equals("write")) write(words[1], words[2], words[3], words[4], Integer.parseInt(words[5]));
            else if (words[0].equals("digest")) digest(words[1], words[2], Integer.parseInt(words[3]), Integer.parseInt(words[4]));
            else read(words[1], words[2], Integer.parseInt(words[3]));
            System.out.println("done");
            System.out.flush();
        }
    }

    static void write(String bootstrap, String topic, String codec, String tag, int count) throws Exception {
        Map<String, Object> config = new HashMap<>();
        config.put("bootstrap.servers", bootstrap);
        config.put("compression.type", codec);
        config.put("acks", "all");
        config.put("linger.ms", "50");
        config.put("enable.idempotence", "false"); // its sequence numbers need today's message format
        List<Future<RecordMetadata>> sent = new ArrayList<>();
        KafkaProducer<String, String> producer = new KafkaProducer<>(config, new StringSerializer(), new StringSerializer());
        try {
            for (int i = 0; i < count; i++)
                sent.add(producer.send(new ProducerRecord<>(topic, 0, "k" + i, tag + "-" + i)));
            for (Future<RecordMetadata> each : sent) each.get();
        } finally {
            producer.close();
        }
    }

    /** poll(long) went with 4.0, poll(Duration) came with 2.0. */
    @SuppressWarnings("unchecked")
    static <T> ConsumerRecords<T, T> poll(KafkaConsumer<T, T> consumer) throws Exception {
        try {
            Method poll = KafkaConsumer.class.getMethod("poll", java.time.Duration.class);
            return (ConsumerRecords<T, T>) poll.invoke(consumer, java.time.Duration.ofMillis(200));
        } catch (NoSuchMethodException e) {
            return (ConsumerRecords<T, T>) KafkaConsumer.class.getMethod("poll", long.class).invoke(consumer, 200L);
        }
    }

    static void read(String bootstrap, String topic, int count) throws Exception {
        Map<String, Object> config = new HashMap<>();
        config.put("bootstrap.servers", bootstrap);
        config.put("enable.auto.commit", "false");
        KafkaConsumer<String, String> consumer = new KafkaConsumer<>(config, new StringDeserializer(), new StringDeserializer());
        try {
            TopicPartition partition = new TopicPartition(topic, 0);
            consumer.assign(Collections.singletonList(partition));
            consumer.seek(partition, 0L);
            long deadline = System.currentTimeMillis() + 30_000;
            for (int found = 0; found < count && System.currentTimeMillis() < deadline; ) {
                for (ConsumerRecord<String, String> record : poll(consumer)) {
                    System.out.println(record.offset() + " " + record.key() + " " + record.value());
                    found++;
                }
            }
        } finally {
            consumer.close();
        }
    }

    static void digest(String bootstrap, String topic, int partitions, int count) throws Exception {
        Map<String, Object> config = new HashMap<>();
        config.put("bootstrap.servers", bootstrap);
        config.put("enable.auto.commit", "false");
        List<TopicPartition> all = new ArrayList<>();
        long[] counts = new long[partitions];
        MessageDigest[] digests = new MessageDigest[partitions];
        for (int i = 0; i < partitions; i++) {
            all.add(new TopicPartition(topic, i));
            digests[i] = MessageDigest.getInstance("SHA-256");
        }
        KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer());
        try {
            consumer.assign(all);
            for (TopicPartition each : all) consumer.seek(each, 0L);
            long deadline = System.currentTimeMillis() + 60_000;
            for (int found = 0; found < count && System.currentTimeMillis() < deadline; ) {
                for (ConsumerRecord<byte[], byte[]> record : poll(consumer)) {
                    digests[record.partition()].update(allFields(record));
                    counts[record.partition()]++;
                    found++;
                    deadline = System.currentTimeMillis() + 60_000;
                }
            }
        } finally {
            consumer.close();
        }
        for (int i = 0; i < partitions; i++)
            System.out.println(i + " " + counts[i] + " " + String.format("%064x", new java.math.BigInteger(1, digests[i].digest())));
    }

    static byte[] allFields(ConsumerRecord<byte[], byte[]> record) throws Exception {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytes);
        out.writeLong(record.offset());
        out.writeLong(timestamp(record));
        writeBytes(out, record.key());
        writeBytes(out, record.value());
        List<Object> headers = headers(record);
        out.writeInt(headers.size());
        for (Object header : headers) {
            Class<?> type = Class.forName("org.apache.kafka.common.header.Header");
            writeBytes(out, ((String) type.getMethod("key").invoke(header)).getBytes(StandardCharsets.UTF_8));
            writeBytes(out, (byte[]) type.getMethod("value").invoke(header));
        }
        return bytes.toByteArray();
    }

    /** Timestamps came with 0.10. */
    static long timestamp(ConsumerRecord<byte[], byte[]> record) throws Exception {
        try {
            return (Long) ConsumerRecord.class.getMethod("timestamp").invoke(record);
        } catch (NoSuchMethodException e) {
            return -1;
        }
    }

    /** Headers came with 0.11. */
    static List<Object> headers(ConsumerRecord<byte[], byte[]> record) throws Exception {
        List<Object> headers = new ArrayList<>();
        try {
            for (Object header : (Iterable<?>) ConsumerRecord.class.getMethod("headers").invoke(record)) headers.add(header);
        } catch (NoSuchMethodException e) {
            // Without headers a record has none.
        }
        return headers;
    }

    static void writeBytes(DataOutputStream out, byte[] bytes) throws IOException {
        out.writeInt(bytes == null ? -1 : bytes.length);
        if (bytes != null) out.write(bytes);
    }
}

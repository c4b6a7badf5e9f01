import java.time.Duration;
import java.util.*;
import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.clients.producer.*;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.ProducerFencedException;
import org.apache.kafka.common.serialization.*;

/** Commit, abort, fencing, consume-transform-produce with Java's transactional producer: "OK" at the end. */
public class JavaTransactions {
    static final long DEADLINE_MS = 120_000;
    static String bootstrap;

    static void check(boolean holds, String what) {
        if (!holds) throw new IllegalStateException(what);
        System.out.println(what);
    }

    static KafkaProducer<String, String> producer(String id) {
        Map<String, Object> config = new HashMap<>();
        config.put("bootstrap.servers", bootstrap);
        if (id != null) config.put("transactional.id", id);
        KafkaProducer<String, String> producer = new KafkaProducer<>(config, new StringSerializer(), new StringSerializer());
        if (id != null) producer.initTransactions();
        return producer;
    }

    static KafkaConsumer<String, String> consumer(String group) {
        Map<String, Object> config = new HashMap<>();
        config.put("bootstrap.servers", bootstrap);
        config.put("group.id", group);
        config.put("isolation.level", "read_committed");
        config.put("auto.offset.reset", "earliest");
        config.put("enable.auto.commit", "false");
        return new KafkaConsumer<>(config, new StringDeserializer(), new StringDeserializer());
    }

    static void write(KafkaProducer<String, String> producer, String topic, String value) throws Exception {
        for (int partition = 0; partition < 3; partition++)
            producer.send(new ProducerRecord<>(topic, partition, null, value + partition)).get();
    }

    /** The committed values, once there are as many as expected. */
    static List<String> read(String topic, int count) {
        List<String> values = new ArrayList<>();
        try (KafkaConsumer<String, String> consumer = consumer("reader")) {
            List<TopicPartition> partitions = new ArrayList<>();
            for (int partition = 0; partition < 3; partition++) partitions.add(new TopicPartition(topic, partition));
            consumer.assign(partitions);
            consumer.seekToBeginning(partitions);
            long deadline = System.currentTimeMillis() + DEADLINE_MS;
            while (values.size() < count && System.currentTimeMillis() < deadline)
                for (ConsumerRecord<String, String> record : consumer.poll(Duration.ofMillis(200))) values.add(record.value());
        }
        Collections.sort(values);
        return values;
    }

    public static void main(String[] args) throws Exception {
        bootstrap = args[0];
        String topic = args[1], source = args[2];
        try (KafkaProducer<String, String> zombie = producer("java")) {
            for (int number = 0; number < 4; number++) {
                zombie.beginTransaction();
                write(zombie, topic, number + "-");
                if (number % 2 == 0) zombie.commitTransaction(); else zombie.abortTransaction();
            }
            check(read(topic, 6).equals(List.of("0-0", "0-1", "0-2", "2-0", "2-1", "2-2")), "committed and aborted");
            zombie.beginTransaction();
            write(zombie, topic, "zombie");
            try (KafkaProducer<String, String> heir = producer("java")) {
                heir.beginTransaction();
                write(heir, topic, "heir");
                heir.commitTransaction();
            }
            try {
                zombie.commitTransaction();
                throw new IllegalStateException("not fenced");
            } catch (ProducerFencedException expected) {
                System.out.println("fenced");
            }
        }
        check(read(topic, 9).subList(6, 9).equals(List.of("heir0", "heir1", "heir2")), "the heir's records only");
        transform(source, topic);
        System.out.println("OK");
    }

    static void transform(String source, String topic) throws Exception {
        try (KafkaProducer<String, String> feeder = producer(null)) {
            for (int number = 0; number < 10; number++) feeder.send(new ProducerRecord<>(source, 0, null, "in" + number)).get();
        }
        try (KafkaProducer<String, String> producer = producer("transformer")) {
            for (boolean commit : List.of(false, true)) {
                try (KafkaConsumer<String, String> consumer = consumer("transformers")) {
                    consumer.subscribe(List.of(source));
                    producer.beginTransaction();
                    int taken = 0;
                    while (taken < 10)
                        for (ConsumerRecord<String, String> record : consumer.poll(Duration.ofMillis(200))) {
                            producer.send(new ProducerRecord<>(topic, 0, null, "out" + record.value()));
                            taken++;
                        }
                    Map<TopicPartition, OffsetAndMetadata> offsets =
                        Map.of(new TopicPartition(source, 0), new OffsetAndMetadata(taken));
                    producer.sendOffsetsToTransaction(offsets, consumer.groupMetadata());
                    if (commit) producer.commitTransaction(); else producer.abortTransaction();
                }
            }
        }
        List<String> values = read(topic, 19);
        check(values.size() == 19 && Collections.frequency(values, "outin9") == 1, "transformed once");
        try (KafkaConsumer<String, String> consumer = consumer("transformers")) {
            TopicPartition partition = new TopicPartition(source, 0);
            check(consumer.committed(Set.of(partition)).get(partition).offset() == 10, "offsets committed with the results");
        }
    }
}

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.MockConsumer;
import org.apache.kafka.clients.consumer.OffsetResetStrategy;
import org.apache.kafka.clients.producer.MockProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.common.utils.Utils;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.kstream.JoinWindows;
import org.apache.kafka.streams.kstream.KGroupedTable;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.KStreamBuilder;
import org.apache.kafka.streams.kstream.KTable;
import org.apache.kafka.streams.kstream.SessionWindows;
import org.apache.kafka.streams.kstream.TimeWindows;
import org.apache.kafka.streams.kstream.ValueTransformer;
import org.apache.kafka.streams.kstream.Windowed;
import org.apache.kafka.streams.processor.ProcessorContext;
import org.apache.kafka.streams.processor.StateStore;
import org.apache.kafka.streams.processor.TaskId;
import org.apache.kafka.streams.processor.internals.MockStreamsMetrics;
import org.apache.kafka.streams.processor.internals.ProcessorTopology;
import org.apache.kafka.streams.processor.internals.RecordCollectorImpl;
import org.apache.kafka.streams.processor.internals.StateDirectory;
import org.apache.kafka.streams.processor.internals.StreamTask;
import org.apache.kafka.streams.state.Stores;
import org.apache.kafka.streams.state.internals.ThreadCache;

/**
 * Builds topologies of Kafka Streams 0.10.2 from descriptions, and runs them without a broker. Standard input has, for
 * each, a line per operator ("op OPERATOR NODE [NODE]"), one per record ("in TOPIC KEY VALUE TIMESTAMP") and "run". The
 * response is a line for each record sent ("TOPIC KEY VALUE TIMESTAMP", in hexadecimal, "-" for null) and "end".
 */
public class RandomTopologies {
    static final String APPLICATION = "test";
    static final Serde<String> STRING = Serdes.String();
    static final Serde<Long> LONG = Serdes.Long();

    public static void main(String[] args) throws Exception {
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
        List<String[]> operators = new ArrayList<>();
        List<String[]> records = new ArrayList<>();
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            String[] words = line.split(" ");
            if (words[0].equals("op")) {
                operators.add(words);
            } else if (words[0].equals("in")) {
                records.add(words);
            } else {
                System.out.print(run(operators, records));
                System.out.println("end");
                System.out.flush();
                operators.clear();
                records.clear();
            }
        }
    }

    static String run(List<String[]> operators, List<String[]> records) throws Exception {
        Path directory = Files.createTempDirectory("random-topologies");
        try {
            Described described = new Described();
            for (String[] words : operators) {
                described.add(words[1], Integer.parseInt(words[2]), words.length > 3 ? Integer.parseInt(words[3]) : -1);
            }
            Runner runner = new Runner(described.builder, directory);
            for (String[] words : records) {
                runner.process(words[1], bytes(words[2]), bytes(words[3]), Long.parseLong(words[4]));
            }
            runner.close();
            return runner.sent.toString();
        } catch (Exception error) {
            error.printStackTrace();
            return "error " + error + "\n";
        } finally {
            Utils.delete(directory.toFile());
        }
    }

    static byte[] bytes(String text) {
        return text.equals("-") ? null : text.getBytes();
    }

    // ── what is built ─────────────────────────────────────────────────────────────────────────────────────────────

    static String text(Object value) {
        return value == null ? "null" : value.toString();
    }

    static String end(String text) {
        return text.length() <= 6 ? text : text.substring(text.length() - 6);
    }

    static String both(String first, String second) {
        return end(text(first) + "+" + text(second));
    }

    static String first(String value) {
        return text(value).substring(0, 1);
    }

    static boolean isEven(String value) {
        return text(value).length() % 2 == 0;
    }

    /** Streams and tables by number: 0 is a stream, 1 a table, and each operator adds its result. */
    @SuppressWarnings("unchecked")
    static class Described {
        final KStreamBuilder builder = new KStreamBuilder();
        final List<Object> nodes = new ArrayList<>();

        Described() {
            nodes.add(builder.stream("events"));
            nodes.add(builder.table("table", "Table"));
        }

        KStream<String, String> stream(int number) {
            return (KStream<String, String>) nodes.get(number);
        }

        KTable<String, String> table(int number) {
            return (KTable<String, String>) nodes.get(number);
        }

        void add(String operator, int node, int other) {
            String store = "Store" + nodes.size();
            TimeWindows tumbling = TimeWindows.of(60_000);
            TimeWindows hopping = TimeWindows.of(1 << 21).advanceBy(1 << 20);
            SessionWindows sessions = SessionWindows.with(60_000);
            JoinWindows near = JoinWindows.of(30_000);
            switch (operator) {
                case "filter":
                    nodes.add(stream(node).filter((key, value) -> isEven(value)));
                    break;
                case "filter_not":
                    nodes.add(stream(node).filterNot((key, value) -> isEven(value)));
                    break;
                case "map":
                    nodes.add(stream(node).map((key, value) -> new KeyValue<>(end(text(value)), key)));
                    break;
                case "map_values":
                    nodes.add(stream(node).mapValues(value -> end(text(value) + "!")));
                    break;
                case "flat_map":
                    nodes.add(stream(node).flatMap((key, value) ->
                        Arrays.asList(new KeyValue<>(first(value), value), new KeyValue<>(key, end(text(value) + "2")))));
                    break;
                case "flat_map_values":
                    nodes.add(stream(node).flatMapValues(value -> Arrays.asList(first(value), text(value))));
                    break;
                case "select_key":
                    nodes.add(stream(node).selectKey((key, value) -> first(value)));
                    break;
                case "branch":
                    KStream<String, String>[] branches =
                        stream(node).branch((key, value) -> isEven(value), (key, value) -> !first(value).equals("a"));
                    nodes.addAll(Arrays.asList(branches));
                    break;
                case "merge":
                    nodes.add(builder.merge(stream(node), stream(other)));
                    break;
                case "transform_values":
                    nodes.add(stream(node).transformValues(Numbering::new));
                    break;
                case "through":
                    nodes.add(stream(node).through("through-" + store));
                    break;
                case "count":
                    nodes.add(stream(node).groupByKey().count(store).mapValues(value -> text(value)));
                    break;
                case "reduce":
                    nodes.add(stream(node).groupByKey().reduce((all, value) -> end(all + value), store));
                    break;
                case "aggregate":
                    nodes.add(stream(node).groupBy((key, value) -> first(value)).aggregate(
                        () -> "0", (key, value, all) -> both(all, value), STRING, store));
                    break;
                case "tumbling":
                    nodes.add(strings(stream(node).groupByKey().count(tumbling, store)));
                    break;
                case "hopping":
                    nodes.add(strings(stream(node).groupBy((key, value) -> first(value)).count(hopping, store)));
                    break;
                case "sessions":
                    nodes.add(strings(stream(node).groupByKey().count(sessions, Stores.create(store).withKeys(STRING)
                        .withValues(LONG).persistent().sessionWindowed(sessions.maintainMs()).build())));
                    break;
                case "join_table":
                    nodes.add(stream(node).join(table(other), RandomTopologies::both));
                    break;
                case "left_join_table":
                    nodes.add(stream(node).leftJoin(table(other), RandomTopologies::both));
                    break;
                case "join":
                    nodes.add(stream(node).join(stream(other), RandomTopologies::both, near));
                    break;
                case "left_join":
                    nodes.add(stream(node).leftJoin(stream(other), RandomTopologies::both, near));
                    break;
                case "outer_join":
                    nodes.add(stream(node).outerJoin(stream(other), RandomTopologies::both, near));
                    break;
                case "filter_table":
                    nodes.add(table(node).filter((key, value) -> isEven(value)));
                    break;
                case "filter_not_table":
                    nodes.add(table(node).filterNot((key, value) -> isEven(value)));
                    break;
                case "map_values_table":
                    nodes.add(table(node).mapValues(value -> end(text(value) + "!")));
                    break;
                case "to_stream":
                    nodes.add(table(node).toStream());
                    break;
                case "join_tables":
                    nodes.add(table(node).join(table(other), RandomTopologies::both));
                    break;
                case "left_join_tables":
                    nodes.add(table(node).leftJoin(table(other), RandomTopologies::both));
                    break;
                case "outer_join_tables":
                    nodes.add(table(node).outerJoin(table(other), RandomTopologies::both));
                    break;
                case "count_groups":
                    nodes.add(groups(node).count(store).mapValues(value -> text(value)));
                    break;
                case "reduce_groups":
                    nodes.add(groups(node).reduce(
                        (all, value) -> end(all + value), (all, value) -> end(all + "-" + value), store));
                    break;
                case "aggregate_groups":
                    nodes.add(groups(node).aggregate(
                        () -> "0", (key, value, all) -> both(all, value), (key, value, all) -> end(all + "-" + value),
                        STRING, store));
                    break;
                case "to":
                    if (nodes.get(node) instanceof KStream) {
                        stream(node).to("out-" + node);
                    } else {
                        table(node).to("out-" + node);
                    }
                    break;
                default:
                    throw new IllegalArgumentException(operator);
            }
        }

        KGroupedTable<String, String> groups(int node) {
            return table(node).groupBy((key, value) -> new KeyValue<>(first(value), key));
        }

        /** Windowed counts as a stream of texts. */
        static KStream<String, String> strings(KTable<Windowed<String>, Long> counts) {
            return counts.toStream((windowed, count) -> windowed.key() + "@" + windowed.window().start())
                .mapValues(count -> text(count));
        }
    }

    /** Numbers the records of a task. */
    static class Numbering implements ValueTransformer<String, String> {
        private int number;

        @Override
        public void init(ProcessorContext context) { }

        @Override
        public String transform(String value) {
            return end(text(value) + ++number);
        }

        @Override
        public String punctuate(long timestamp) {
            return null;
        }

        @Override
        public void close() { }
    }

    // ── how it runs ───────────────────────────────────────────────────────────────────────────────────────────────

    /** A task for each sub-topology, one partition for each topic, no caches; a record is processed as it is sent. */
    static class Runner {
        final StringBuilder sent = new StringBuilder();
        private final MockProducer<byte[], byte[]> producer =
            new MockProducer<>(true, new ByteArraySerializer(), new ByteArraySerializer());
        private final List<StreamTask> tasks = new ArrayList<>();
        private final Map<String, StreamTask> taskOfTopic = new HashMap<>();
        private final Map<String, Long> offsets = new HashMap<>();
        private final StateDirectory directory;

        Runner(KStreamBuilder builder, Path path) {
            Properties configs = new Properties();
            configs.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, "localhost:1");
            configs.put(StreamsConfig.APPLICATION_ID_CONFIG, APPLICATION);
            configs.put(StreamsConfig.STATE_DIR_CONFIG, path.toString());
            configs.put(StreamsConfig.KEY_SERDE_CLASS_CONFIG, STRING.getClass().getName());
            configs.put(StreamsConfig.VALUE_SERDE_CLASS_CONFIG, STRING.getClass().getName());
            configs.put(StreamsConfig.CACHE_MAX_BYTES_BUFFERING_CONFIG, "0");
            StreamsConfig config = new StreamsConfig(configs);
            directory = new StateDirectory(APPLICATION, path.toString());
            builder.setApplicationId(APPLICATION);
            for (int group : builder.topicGroups().keySet()) {
                start(new TaskId(group, 0), builder.build(group), config);
            }
        }

        private void start(TaskId id, ProcessorTopology topology, StreamsConfig config) {
            List<TopicPartition> partitions = new ArrayList<>();
            for (String topic : topology.sourceTopics()) {
                partitions.add(new TopicPartition(topic, 0));
            }
            MockConsumer<byte[], byte[]> consumer = new MockConsumer<>(OffsetResetStrategy.EARLIEST);
            consumer.assign(partitions);
            MockStreamsMetrics metrics = new MockStreamsMetrics(new Metrics());
            StreamTask task = new StreamTask(
                id, APPLICATION, partitions, topology, consumer, new EmptyTopics(), config, metrics, directory,
                new ThreadCache("none", 0, metrics), Time.SYSTEM, new RecordCollectorImpl(producer, "random"));
            tasks.add(task);
            for (TopicPartition partition : partitions) {
                taskOfTopic.put(partition.topic(), task);
            }
        }

        void process(String topic, byte[] key, byte[] value, long timestamp) {
            Deque<ProducerRecord<byte[], byte[]>> waiting = new ArrayDeque<>();
            waiting.add(new ProducerRecord<>(topic, 0, timestamp, key, value));
            boolean isInput = true;
            while (!waiting.isEmpty()) {
                ProducerRecord<byte[], byte[]> record = waiting.remove();
                if (!isInput) {
                    sent.append(String.join(" ", record.topic(), hex(record.key()), hex(record.value()),
                        "" + record.timestamp())).append("\n");
                }
                isInput = false;
                StreamTask task = taskOfTopic.get(record.topic());
                if (task != null) {
                    waiting.addAll(processed(task, record));
                }
            }
        }

        private Collection<ProducerRecord<byte[], byte[]>> processed(
            StreamTask task, ProducerRecord<byte[], byte[]> record) {
            long offset = offsets.merge(record.topic(), 1L, Long::sum) - 1;
            TopicPartition partition = new TopicPartition(record.topic(), 0);
            producer.clear();
            task.addRecords(partition, Collections.singleton(new ConsumerRecord<>(
                record.topic(), 0, offset, record.timestamp(), TimestampType.CREATE_TIME, 0L, 0, 0, record.key(),
                record.value())));
            task.process();
            task.commit();
            return new ArrayList<>(producer.history());
        }

        void close() throws IOException {
            for (StreamTask task : tasks) {
                task.close();
                for (StateStore store : task.topology().stateStores()) {
                    store.close();
                }
                directory.unlock(task.id());
            }
        }

        private static String hex(byte[] bytes) {
            if (bytes == null) {
                return "-";
            }
            StringBuilder text = new StringBuilder("x");
            for (byte each : bytes) {
                text.append(String.format("%02x", each));
            }
            return text.toString();
        }
    }

    /** Every topic has one empty partition. */
    static class EmptyTopics extends MockConsumer<byte[], byte[]> {
        EmptyTopics() {
            super(OffsetResetStrategy.EARLIEST);
        }

        @Override
        public synchronized List<PartitionInfo> partitionsFor(String topic) {
            return Collections.singletonList(new PartitionInfo(topic, 0, null, null, null));
        }

        @Override
        public ConsumerRecords<byte[], byte[]> poll(long timeout) {
            return ConsumerRecords.empty();
        }

        @Override
        public synchronized void seekToEnd(Collection<TopicPartition> partitions) { }

        @Override
        public synchronized void seekToBeginning(Collection<TopicPartition> partitions) { }

        @Override
        public synchronized long position(TopicPartition partition) {
            return 0L;
        }
    }
}

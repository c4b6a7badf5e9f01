import java.util.Arrays;
import java.util.Collections;
import java.util.Properties;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.kstream.GlobalKTable;
import org.apache.kafka.streams.kstream.JoinWindows;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.KStreamBuilder;
import org.apache.kafka.streams.kstream.KTable;
import org.apache.kafka.streams.kstream.SessionWindows;
import org.apache.kafka.streams.kstream.TimeWindows;
import org.apache.kafka.streams.kstream.Transformer;
import org.apache.kafka.streams.kstream.UnlimitedWindows;
import org.apache.kafka.streams.kstream.Windowed;
import org.apache.kafka.streams.kstream.Windows;
import org.apache.kafka.streams.kstream.internals.SessionKeySerde;
import org.apache.kafka.streams.kstream.internals.WindowedDeserializer;
import org.apache.kafka.streams.kstream.internals.WindowedSerializer;
import org.apache.kafka.streams.processor.ProcessorContext;
import org.apache.kafka.streams.processor.StateStoreSupplier;
import org.apache.kafka.streams.state.SessionStore;
import org.apache.kafka.streams.state.Stores;
import org.apache.kafka.streams.state.WindowStore;

/**
 * Runs a topology of Kafka Streams 0.10.2 until standard input ends:
 * BOOTSTRAP APPLICATION STATE-DIR TOPOLOGY [CACHE-BYTES [COMMIT-INTERVAL-MS [STANDBY-REPLICAS]]].
 */
public class StreamsTopologies {
    static final Serde<String> STRING = Serdes.String();
    static final Serde<Long> LONG = Serdes.Long();
    static final Serde<Windowed<String>> WINDOWED = Serdes.serdeFrom(
        new WindowedSerializer<>(STRING.serializer()), new WindowedDeserializer<>(STRING.deserializer()));

    public static void main(String[] args) throws Exception {
        Properties configs = new Properties();
        configs.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, args[0]);
        configs.put(StreamsConfig.APPLICATION_ID_CONFIG, args[1]);
        configs.put(StreamsConfig.STATE_DIR_CONFIG, args[2]);
        configs.put(StreamsConfig.KEY_SERDE_CLASS_CONFIG, STRING.getClass().getName());
        configs.put(StreamsConfig.VALUE_SERDE_CLASS_CONFIG, STRING.getClass().getName());
        configs.put(StreamsConfig.CACHE_MAX_BYTES_BUFFERING_CONFIG, args.length > 4 ? args[4] : "0");
        configs.put(StreamsConfig.COMMIT_INTERVAL_MS_CONFIG, args.length > 5 ? args[5] : "100");
        configs.put(StreamsConfig.NUM_STANDBY_REPLICAS_CONFIG, args.length > 6 ? args[6] : "0");
        configs.put(ConsumerConfig.SESSION_TIMEOUT_MS_CONFIG, 45000);
        // A request that times out on a busy machine is sent again, and without idempotence its records are there twice.
        configs.put("producer." + ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG, 120000);
        configs.put("internal.leave.group.on.close", true);
        String output = args[1] + "-out";
        KStreamBuilder builder = new KStreamBuilder();
        if (args[3].equals("word-count")) {
            wordCount(builder, output);
        } else if (args[3].equals("joins")) {
            joins(builder, output);
        } else if (args[3].equals("stream-joins")) {
            streamJoins(builder, output);
        } else if (args[3].equals("sessions")) {
            sessions(builder, output);
        } else if (args[3].equals("global-table")) {
            globalTable(builder, output);
        } else if (args[3].equals("cached")) {
            cached(builder, output);
        } else if (args[3].equals("windows")) {
            windows(builder, output);
        } else {
            groupedTable(builder, output);
        }
        KafkaStreams streams = new KafkaStreams(builder, configs);
        streams.start();
        while (System.in.read() >= 0) { }
        streams.close();
    }

    static void wordCount(KStreamBuilder builder, String output) {
        KStream<String, String> lines = builder.stream("in");
        lines.flatMapValues(line -> Arrays.asList(line.split(" ")))
            .groupBy((key, word) -> word)
            .count("Counts")
            .to(STRING, LONG, output);
    }

    static void joins(KStreamBuilder builder, String output) {
        KTable<String, String> left = builder.table("in", "Left");
        KTable<String, String> right = builder.table("more", "Right");
        KStream<String, String> events = builder.stream("events");
        left.join(right, (a, b) -> a + "+" + b).to(output);
        left.leftJoin(right.filter((key, value) -> !value.equals("b")), (a, b) -> a + "+" + b).to(output + "-left");
        left.outerJoin(right, (a, b) -> a + "+" + b)
            .groupBy((key, value) -> new KeyValue<>(value.substring(0, 1), key))
            .count("Outer")
            .to(STRING, LONG, output + "-lengths");
        events.selectKey((key, value) -> key + "")
            .leftJoin(left.mapValues(value -> value + "!"), (a, b) -> a + "+" + b, STRING, STRING)
            .to(output + "-stream");
    }

    static void streamJoins(KStreamBuilder builder, String output) {
        KStream<String, String> left = builder.stream("in");
        KStream<String, String> right = builder.stream("more");
        JoinWindows windows = JoinWindows.of(20_000).before(40_000).until(120_000);
        left.join(right, (a, b) -> a + "+" + b, windows).to(output);
        left.leftJoin(right, (a, b) -> a + "+" + b, windows).to(output + "-left");
        left.selectKey((key, value) -> key + "")
            .outerJoin(right, (a, b) -> a + "+" + b, windows, STRING, STRING, STRING)
            .to(output + "-stream");
    }

    /** Several stores that share a cache, in one task; a copy of the input says how far it has come. */
    static void cached(KStreamBuilder builder, String output) {
        KStream<String, String> events = builder.stream("events");
        TimeWindows hopping = TimeWindows.of(1 << 21).advanceBy(1 << 20);
        events.groupByKey().count("Counts").to(STRING, LONG, output);
        events.groupByKey().count(hopping, "Hopping").to(WINDOWED, LONG, output + "-left");
        events.groupByKey()
            .reduce((old, added) -> added.equals("or") ? null : old + added, "Reduced")
            .filter((key, value) -> value.length() < 9)
            .mapValues(value -> value + "!")
            .to(output + "-lengths");
        events.to(output + "-stream");
    }

    /**
     * A store without a cache, as ours in the same place. UnlimitedWindows need a retention of their own, since the
     * default one of the changelog overflows, and newer brokers refuse the negative number. With a cache, the ends of
     * UnlimitedWindows overflow, too.
     */
    @SuppressWarnings("unchecked")
    static <V> StateStoreSupplier<WindowStore> windowStore(String name, Serde<V> serde, Windows<?> windows) {
        long retention = Math.min(windows.maintainMs(), Long.MAX_VALUE - 86_400_000);
        return Stores.create(name).withKeys(STRING).withValues(serde).persistent()
            .windowed(windows.size(), windows.maintainMs(), windows.segments, false)
            .enableLogging(Collections.singletonMap("retention.ms", "" + (retention + 86_400_000)))
            .build();
    }

    /** A store without a cache, as ours in the same place: a cache of 0.10.2 never passes merged sessions on. */
    @SuppressWarnings("unchecked")
    static <V> StateStoreSupplier<SessionStore> sessionStore(String name, Serde<V> serde, SessionWindows windows) {
        return Stores.create(name).withKeys(STRING).withValues(serde).persistent()
            .sessionWindowed(windows.maintainMs()).build();
    }

    static void sessions(KStreamBuilder builder, String output) {
        KStream<String, String> events = builder.stream("events");
        Serde<Windowed<String>> sessionKey = new SessionKeySerde<>(STRING);
        SessionWindows windows = SessionWindows.with(60_000).until(120_000);
        SessionWindows longer = SessionWindows.with(100_000);
        events.groupByKey()
            .count(windows, sessionStore("Counts", LONG, windows))
            .to(sessionKey, LONG, output);
        events.groupByKey()
            .reduce((old, added) -> old + added, longer, sessionStore("Reduced", STRING, longer))
            .to(sessionKey, STRING, output + "-left");
        events.groupBy((key, value) -> value)
            .aggregate(() -> 100L, (key, value, total) -> total + value.length(),
                (key, total, other) -> total + other, longer, LONG, sessionStore("Lengths", LONG, longer))
            .groupBy((session, total) -> new KeyValue<>(session.key().substring(0, 1), total), STRING, LONG)
            .aggregate(() -> 0L, (key, value, total) -> total + value, (key, value, total) -> total - value, LONG, "Sum")
            .to(STRING, LONG, output + "-lengths");
    }

    static void windows(KStreamBuilder builder, String output) {
        KStream<String, String> events = builder.stream("events");
        TimeWindows hopping = TimeWindows.of(1 << 21).advanceBy(1 << 20);
        TimeWindows tumbling = TimeWindows.of(60_000).until(120_000);
        UnlimitedWindows all = UnlimitedWindows.of().startOn(70_000);
        events.groupByKey()
            .count(hopping, "Hopping")
            .to(WINDOWED, LONG, output);
        events.groupByKey()
            .reduce((old, added) -> old + added, tumbling, "Tumbling")
            .filter((windowed, value) -> value.length() < 4)
            .to(WINDOWED, STRING, output + "-left");
        events.groupBy((key, value) -> value)
            .aggregate(() -> (Long) null, (key, value, total) -> (total == null ? 100L : total) + 1, all,
                windowStore("All", LONG, all))
            .groupBy((windowed, total) -> new KeyValue<>(windowed.key().substring(0, 1), total), STRING, LONG)
            .aggregate(() -> 0L, (key, value, total) -> total + value, (key, value, total) -> total - value, LONG, "Sum")
            .to(STRING, LONG, output + "-lengths");
    }

    static void globalTable(KStreamBuilder builder, String output) {
        GlobalKTable<String, String> words = builder.globalTable("more", "Words");
        KStream<String, String> events = builder.stream("events");
        events.join(words, (key, value) -> value, (a, b) -> a + "+" + b).to(output);
        events.leftJoin(words, (key, value) -> key + value, (a, b) -> a + "+" + b).to(output + "-left");
        events.transform(Numbering::new).to(output + "-stream");
    }

    /** Numbers the records of a task, and leaves every third out. */
    static class Numbering implements Transformer<String, String, KeyValue<String, String>> {
        private int number;

        @Override
        public void init(ProcessorContext context) {
            context.schedule(600_000);
        }

        @Override
        public KeyValue<String, String> transform(String key, String value) {
            return ++number % 3 == 0 ? null : new KeyValue<>(value, key + number);
        }

        @Override
        public KeyValue<String, String> punctuate(long timestamp) {
            return new KeyValue<>("punctuated", "" + timestamp);
        }

        @Override
        public void close() { }
    }

    static void groupedTable(KStreamBuilder builder, String output) {
        KTable<String, String> table = builder.table("in", "Table");
        KStream<String, String> copied = builder.stream("more");
        table.filter((key, value) -> value.length() > 2)
            .mapValues(value -> value + "!")
            .groupBy((key, value) -> new KeyValue<>(value.substring(0, 1), value))
            .reduce((all, added) -> all + added, (all, removed) -> all.replaceFirst(removed, ""), "Groups")
            .to(output);
        KStream<String, String>[] branches = copied
            .filterNot((key, value) -> value.isEmpty())
            .map((key, value) -> new KeyValue<>(value, key))
            .branch((key, value) -> key.length() > 3, (key, value) -> true);
        builder.merge(branches[1], branches[0])
            .groupByKey()
            .aggregate(() -> 100L, (key, value, total) -> total + value.length(), LONG, "Lengths")
            .to(STRING, LONG, output + "-lengths");
    }
}

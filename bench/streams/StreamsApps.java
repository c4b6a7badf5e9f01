import java.time.Duration;
import java.util.Arrays;
import java.util.Properties;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.JoinWindows;
import org.apache.kafka.streams.kstream.KGroupedStream;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.kstream.StreamJoined;
import org.apache.kafka.streams.state.KeyValueStore;

/**
 * The applications on Kafka Streams: KIND BOOTSTRAP APPLICATION STATE-DIR STORE CACHE-BYTES OUTPUT INPUT…
 *
 * It says that it is ready, waits for a byte, starts, says that it runs, and goes on until standard input ends.
 */
public class StreamsApps {
    static final Serde<String> STRING = Serdes.String();

    public static void main(String[] args) throws Exception {
        Properties configs = new Properties();
        configs.put("bootstrap.servers", args[1]);
        configs.put("application.id", args[2]);
        configs.put("state.dir", args[3]);
        configs.put("default.dsl.store", args[4]);
        configs.put("statestore.cache.max.bytes", args[5]);
        configs.put("commit.interval.ms", "1000");
        configs.put("auto.offset.reset", "earliest");
        StreamsBuilder builder = new StreamsBuilder();
        KStream<String, String> input = builder.stream(args[7], Consumed.with(STRING, STRING));
        switch (args[0]) {
            case "word-count" -> count(
                input.flatMapValues(line -> Arrays.asList(line.split(" ")))
                    .groupBy((key, word) -> word, Grouped.with(STRING, STRING)), args[6]);
            case "count-keys" -> count(input.groupByKey(Grouped.with(STRING, STRING)), args[6]);
            default -> input
                .join(
                    builder.stream(args[8], Consumed.with(STRING, STRING)),
                    (order, payment) -> order + "+" + payment,
                    JoinWindows.ofTimeDifferenceAndGrace(Duration.ofSeconds(2), Duration.ofHours(1)),
                    StreamJoined.with(STRING, STRING, STRING))
                .to(args[6], Produced.with(STRING, STRING));
        }
        KafkaStreams streams = new KafkaStreams(builder.build(configs), configs);
        streams.setStateListener((now, before) -> {
            if (now == KafkaStreams.State.RUNNING) System.out.println("running");
        });
        System.out.println("ready");
        System.in.read();
        streams.start();
        while (System.in.read() >= 0) { }
        streams.close();
    }

    static void count(KGroupedStream<String, String> grouped, String output) {
        grouped.count(Materialized.<String, Long, KeyValueStore<Bytes, byte[]>>as("Counts").withKeySerde(STRING))
            .toStream()
            .to(output, Produced.with(STRING, Serdes.Long()));
    }
}

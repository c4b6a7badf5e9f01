import java.util.Arrays;
import java.util.Properties;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.KStreamBuilder;
import org.apache.kafka.streams.kstream.KTable;

/**
 * Word count on Kafka Streams 0.10.2 until standard input ends: BOOTSTRAP STATE-DIR.
 *
 * It reads lines from the topic "text", and writes each new count of a word to "word-counts".
 */
public class StreamsWordCount {
    public static void main(String[] args) throws Exception {
        Properties configs = new Properties();
        configs.put(StreamsConfig.APPLICATION_ID_CONFIG, "kafka-streams");
        configs.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, args[0]);
        configs.put(StreamsConfig.STATE_DIR_CONFIG, args[1]);
        configs.put(StreamsConfig.COMMIT_INTERVAL_MS_CONFIG, "100");
        configs.put(StreamsConfig.CACHE_MAX_BYTES_BUFFERING_CONFIG, "0");
        KafkaStreams streams = new KafkaStreams(wordCount(), configs);
        streams.start();
        while (System.in.read() >= 0) { }
        streams.close();
    }

    static KStreamBuilder wordCount() {
        Serde<String> string = Serdes.String();
        KStreamBuilder builder = new KStreamBuilder();
        KStream<String, String> lines = builder.stream(string, string, "text");
        KTable<String, Long> counts = lines
            .flatMapValues(line -> Arrays.asList(line.toLowerCase().split(" ")))
            .groupBy((key, word) -> word, string, string)
            .count("Counts");
        counts.to(string, Serdes.Long(), "word-counts");
        return builder;
    }
}

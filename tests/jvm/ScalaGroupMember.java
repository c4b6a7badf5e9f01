import java.io.*;
import java.nio.charset.StandardCharsets;
import java.util.*;
import kafka.consumer.*;
import kafka.javaapi.consumer.ConsumerConnector;
import kafka.javaapi.consumer.ConsumerRebalanceListener;
import kafka.message.MessageAndMetadata;

/**
 * A member of a group of old consumers, the original: key=value arguments are its configuration. The first argument
 * tells what it consumes: static:topic=threads,topic=threads or white_list:regex=threads.
 *
 * Prints "assigned partition>owner ..." after each rebalance and "message topic partition offset value" for each
 * message. Lines on stdin: "commit"; the end of stdin shuts it down.
 */
public class ScalaGroupMember {
    static synchronized void print(String line) {
        System.out.println(line);
        System.out.flush();
    }

    public static void main(String[] args) throws Exception {
        Properties config = new Properties();
        for (int i = 1; i < args.length; i++) {
            String[] pair = args[i].split("=", 2);
            config.put(pair[0], pair[1]);
        }
        ConsumerConnector connector = Consumer.createJavaConsumerConnector(new ConsumerConfig(config));
        connector.setConsumerRebalanceListener(new Listener());
        for (KafkaStream<byte[], byte[]> stream : streams(connector, args[0])) new Thread(() -> consume(stream)).start();
        print("ready");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            connector.commitOffsets(true);
            print("committed");
        }
        connector.shutdown();
    }

    static List<KafkaStream<byte[], byte[]>> streams(ConsumerConnector connector, String subscription) {
        String[] words = subscription.split(":", 2);
        List<KafkaStream<byte[], byte[]>> streams = new ArrayList<>();
        if (words[0].equals("static")) {
            Map<String, Integer> counts = new HashMap<>();
            for (String each : words[1].split(",")) counts.put(each.split("=")[0], Integer.valueOf(each.split("=")[1]));
            for (List<KafkaStream<byte[], byte[]>> each : connector.createMessageStreams(counts).values())
                streams.addAll(each);
        } else {
            String[] pair = words[1].split("=");
            streams.addAll(connector.createMessageStreamsByFilter(new Whitelist(pair[0]), Integer.parseInt(pair[1])));
        }
        return streams;
    }

    static void consume(KafkaStream<byte[], byte[]> stream) {
        for (MessageAndMetadata<byte[], byte[]> each : stream)
            print("message " + each.topic() + " " + each.partition() + " " + each.offset() + " "
                + new String(each.message(), StandardCharsets.UTF_8));
    }

    static class Listener implements ConsumerRebalanceListener {
        public void beforeReleasingPartitions(Map<String, Set<Integer>> owned) {}

        public void beforeStartingFetchers(String id, Map<String, Map<Integer, ConsumerThreadId>> assignment) {
            List<String> owners = new ArrayList<>();
            for (Map.Entry<String, Map<Integer, ConsumerThreadId>> topic : assignment.entrySet())
                for (Map.Entry<Integer, ConsumerThreadId> each : topic.getValue().entrySet())
                    owners.add(topic.getKey() + "-" + each.getKey() + ">" + each.getValue());
            Collections.sort(owners);
            print("assigned " + String.join(" ", owners));
        }
    }
}

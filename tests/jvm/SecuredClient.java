import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.StringReader;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * Lists the topics of a cluster, once for each block of properties on stdin; blocks end with an empty line. Prints what
 * came of each on a line of its own.
 */
public class SecuredClient {
    static String run(String text) throws Exception {
        Properties properties = new Properties();
        properties.load(new StringReader(text));
        boolean showTopics = properties.remove("show.topics") != null;
        long sessionMs = Long.parseLong((String) properties.remove("session.ms"));
        try (KafkaConsumer<byte[], byte[]> consumer =
                new KafkaConsumer<>(properties, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            long start = System.currentTimeMillis();
            Set<String> topics;
            do {
                topics = consumer.listTopics().keySet();
                Thread.sleep(sessionMs == 0 ? 0 : 200);
            } while (System.currentTimeMillis() - start < sessionMs);
            return showTopics ? "ok " + String.join(" ", topics) : "ok";
        } catch (Exception error) {
            return error.getClass().getSimpleName() + ": " + String.valueOf(error.getMessage()).replace("\n", " ");
        }
    }

    public static void main(String[] arguments) throws Exception {
        ExecutorService threads = Executors.newCachedThreadPool();
        List<Future<String>> outcomes = new ArrayList<>();
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
        StringBuilder block = new StringBuilder();
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            if (!line.isEmpty()) {
                block.append(line).append("\n");
                continue;
            }
            String text = block.toString();
            block.setLength(0);
            outcomes.add(threads.submit(() -> run(text)));
        }
        for (Future<String> each : outcomes) {
            System.out.println(each.get());
        }
        threads.shutdown();
    }
}

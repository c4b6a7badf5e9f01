import java.io.*;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.*;
import kafka.api.FetchRequestBuilder;
import kafka.javaapi.FetchResponse;
import kafka.javaapi.consumer.SimpleConsumer;
import kafka.javaapi.producer.Producer;
import kafka.message.MessageAndOffset;
import kafka.producer.KeyedMessage;
import kafka.producer.ProducerConfig;

/** The clients of Kafka 0.8, written in Scala: its producer and its SimpleConsumer. Commands as AnyClient's. */
public class ScalaClient {
    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] words = line.split(" ");
            if (words[0].equals("write")) write(words[1], words[2], words[3], words[4], Integer.parseInt(words[5]));
            else read(words[1], words[2], Integer.parseInt(words[3]));
            System.out.println("done");
            System.out.flush();
        }
    }

    static void write(String bootstrap, String topic, String codec, String tag, int count) {
        Properties config = new Properties();
        config.put("metadata.broker.list", bootstrap);
        config.put("serializer.class", "kafka.serializer.StringEncoder");
        config.put("compression.codec", codec);
        config.put("request.required.acks", "-1");
        Producer<String, String> producer = new Producer<>(new ProducerConfig(config));
        List<KeyedMessage<String, String>> messages = new ArrayList<>();
        for (int i = 0; i < count; i++) messages.add(new KeyedMessage<>(topic, "k" + i, tag + "-" + i));
        producer.send(messages);
        producer.close();
    }

    static String text(ByteBuffer buffer) {
        return StandardCharsets.UTF_8.decode(buffer).toString();
    }

    static void read(String bootstrap, String topic, int count) {
        String[] place = bootstrap.split(":");
        SimpleConsumer consumer = new SimpleConsumer(place[0], Integer.parseInt(place[1]), 10_000, 1 << 16, "scala");
        long offset = 0;
        while (offset < count) {
            FetchResponse answer = consumer.fetch(new FetchRequestBuilder().addFetch(topic, 0, offset, 1 << 20).build());
            if (answer.hasError()) throw new IllegalStateException("error " + answer.errorCode(topic, 0));
            long before = offset;
            for (MessageAndOffset each : answer.messageSet(topic, 0)) {
                if (each.offset() < offset) continue;
                System.out.println(each.offset() + " " + text(each.message().key()) + " " + text(each.message().payload()));
                offset = each.nextOffset();
            }
            if (offset == before) throw new IllegalStateException("nothing at " + offset);
        }
        consumer.close();
    }
}

import java.io.*;
import java.nio.ByteBuffer;
import java.util.*;
import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.*;
import org.apache.kafka.common.*;

/**
 * Kafka's own assignors. Each line of standard input is a case:
 *
 *     range t=3 u=2 | m1 7 t,u t-0,u-1 | m2 -1 t -
 *
 * The assignor, the topics with their numbers of partitions; for each member its id, its generation, its topics, what it
 * owns. It prints "m1 t-0,u-1 m2 -" for each.
 */
public class Assignors {
    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = in.readLine()) != null; ) System.out.println(assign(line));
    }

    static String assign(String line) {
        String[] parts = line.split(" \\| ");
        String[] head = parts[0].split(" ");
        Node node = new Node(0, "h", 1);
        List<PartitionInfo> infos = new ArrayList<>();
        for (String topic : Arrays.copyOfRange(head, 1, head.length)) {
            String[] of = topic.split("=");
            for (int i = 0; i < Integer.parseInt(of[1]); i++)
                infos.add(new PartitionInfo(of[0], i, node, new Node[] {node}, new Node[] {node}));
        }
        Cluster cluster = new Cluster("c", List.of(node), infos, Set.of(), Set.of());
        Map<String, Subscription> subscriptions = new LinkedHashMap<>();
        for (String member : Arrays.copyOfRange(parts, 1, parts.length)) {
            String[] words = member.split(" ");
            List<TopicPartition> owned = new ArrayList<>();
            if (!words[3].equals("-")) for (String each : words[3].split(",")) owned.add(partition(each));
            int generation = Integer.parseInt(words[1]);
            ByteBuffer userData = null;
            if (head[0].equals("sticky")) {
                StickyAssignor own = new StickyAssignor();
                own.onAssignment(new Assignment(owned), new ConsumerGroupMetadata("g", generation, words[0], Optional.empty()));
                if (generation >= 0) userData = own.subscriptionUserData(Set.of());
                owned = List.of();
            }
            subscriptions.put(words[0], new Subscription(Arrays.asList(words[2].split(",")), userData, owned, generation, Optional.empty()));
        }
        Map<String, Assignment> result = new TreeMap<>(assignor(head[0]).assign(cluster, new GroupSubscription(subscriptions)).groupAssignment());
        StringBuilder out = new StringBuilder();
        for (Map.Entry<String, Assignment> each : result.entrySet()) {
            TreeSet<String> names = new TreeSet<>();
            for (TopicPartition partition : each.getValue().partitions()) names.add(partition.toString());
            out.append(out.length() > 0 ? " " : "").append(each.getKey()).append(' ').append(names.isEmpty() ? "-" : String.join(",", names));
        }
        return out.toString();
    }

    static ConsumerPartitionAssignor assignor(String name) {
        switch (name) {
            case "range": return new RangeAssignor();
            case "roundrobin": return new RoundRobinAssignor();
            case "sticky": return new StickyAssignor();
            default: return new CooperativeStickyAssignor();
        }
    }

    static TopicPartition partition(String name) {
        int dash = name.lastIndexOf('-');
        return new TopicPartition(name.substring(0, dash), Integer.parseInt(name.substring(dash + 1)));
    }
}

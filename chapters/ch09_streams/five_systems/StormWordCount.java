import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.serialization.LongSerializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.storm.Config;
import org.apache.storm.LocalCluster;
import org.apache.storm.generated.KillOptions;
import org.apache.storm.generated.StormTopology;
import org.apache.storm.kafka.bolt.KafkaBolt;
import org.apache.storm.kafka.spout.KafkaSpout;
import org.apache.storm.kafka.spout.KafkaSpoutConfig;
import org.apache.storm.kafka.spout.trident.KafkaTridentSpoutConfig;
import org.apache.storm.kafka.spout.trident.KafkaTridentSpoutOpaque;
import org.apache.storm.kafka.trident.TridentKafkaStateFactory;
import org.apache.storm.kafka.trident.TridentKafkaStateUpdater;
import org.apache.storm.kafka.trident.mapper.FieldNameBasedTupleToKafkaMapper;
import org.apache.storm.kafka.trident.selector.DefaultTopicSelector;
import org.apache.storm.topology.BasicOutputCollector;
import org.apache.storm.topology.OutputFieldsDeclarer;
import org.apache.storm.topology.TopologyBuilder;
import org.apache.storm.topology.base.BaseBasicBolt;
import org.apache.storm.trident.TridentTopology;
import org.apache.storm.trident.operation.BaseFunction;
import org.apache.storm.trident.operation.TridentCollector;
import org.apache.storm.trident.operation.builtin.Count;
import org.apache.storm.trident.testing.MemoryMapState;
import org.apache.storm.trident.tuple.TridentTuple;
import org.apache.storm.tuple.Fields;
import org.apache.storm.tuple.Tuple;
import org.apache.storm.tuple.Values;

/**
 * Word count on Storm's local cluster until standard input ends: BOOTSTRAP storm|trident.
 *
 * Both read lines from the topic "text", and write each new count of a word to "word-counts".
 */
public class StormWordCount {
    public static void main(String[] args) throws Exception {
        Config config = new Config();
        config.setMaxSpoutPending(args[1].equals("storm") ? 1000 : 1); // lines of a spout, or batches, that are not acked
        try (LocalCluster cluster = new LocalCluster()) {
            StormTopology topology = args[1].equals("storm") ? storm(args[0]) : trident(args[0]);
            cluster.submitTopology("word-count", config, topology);
            while (System.in.read() >= 0) { }
            KillOptions now = new KillOptions();
            now.set_wait_secs(0);
            cluster.killTopologyWithOpts("word-count", now);
        }
        System.exit(0);
    }

    static StormTopology storm(String bootstrap) {
        KafkaSpoutConfig<String, String> text = KafkaSpoutConfig.builder(bootstrap, "text")
            .setProp(ConsumerConfig.GROUP_ID_CONFIG, "storm")
            .build();
        KafkaBolt<String, Long> toTopic = new KafkaBolt<String, Long>()
            .withProducerProperties(producer(bootstrap))
            .withTopicSelector("word-counts")
            .withTupleToKafkaMapper(
                new org.apache.storm.kafka.bolt.mapper.FieldNameBasedTupleToKafkaMapper<>("word", "count"));
        TopologyBuilder builder = new TopologyBuilder();
        builder.setSpout("lines", new KafkaSpout<>(text));
        builder.setBolt("split", new SplitBolt(), 2).shuffleGrouping("lines");
        builder.setBolt("count", new CountBolt(), 2).fieldsGrouping("split", new Fields("word"));
        builder.setBolt("counted", toTopic).shuffleGrouping("count");
        return builder.createTopology();
    }

    static class SplitBolt extends BaseBasicBolt {
        @Override
        public void execute(Tuple line, BasicOutputCollector collector) {
            for (String word : line.getStringByField("value").toLowerCase().split(" ")) {
                collector.emit(new Values(word));
            }
        }

        @Override
        public void declareOutputFields(OutputFieldsDeclarer declarer) {
            declarer.declare(new Fields("word"));
        }
    }

    static class CountBolt extends BaseBasicBolt {
        private final Map<String, Long> counts = new HashMap<>();

        @Override
        public void execute(Tuple tuple, BasicOutputCollector collector) {
            String word = tuple.getString(0);
            collector.emit(new Values(word, counts.merge(word, 1L, Long::sum)));
        }

        @Override
        public void declareOutputFields(OutputFieldsDeclarer declarer) {
            declarer.declare(new Fields("word", "count"));
        }
    }

    static StormTopology trident(String bootstrap) {
        KafkaTridentSpoutConfig<String, String> text = KafkaTridentSpoutConfig.builder(bootstrap, "text")
            .setProp(ConsumerConfig.GROUP_ID_CONFIG, "trident")
            .setPollTimeoutMs(100)
            .build();
        TridentKafkaStateFactory<String, Long> toTopic = new TridentKafkaStateFactory<String, Long>()
            .withProducerProperties(producer(bootstrap))
            .withKafkaTopicSelector(new DefaultTopicSelector("word-counts"))
            .withTridentTupleToKafkaMapper(new FieldNameBasedTupleToKafkaMapper<>("word", "count"));
        TridentTopology topology = new TridentTopology();
        topology.newStream("lines", new KafkaTridentSpoutOpaque<>(text))
            .each(new Fields("value"), new SplitFunction(), new Fields("word"))
            .groupBy(new Fields("word"))
            .persistentAggregate(new MemoryMapState.Factory(), new Count(), new Fields("count"))
            .newValuesStream()
            .partitionPersist(toTopic, new Fields("word", "count"), new TridentKafkaStateUpdater(), new Fields());
        return topology.build();
    }

    static class SplitFunction extends BaseFunction {
        @Override
        public void execute(TridentTuple line, TridentCollector collector) {
            for (String word : line.getString(0).toLowerCase().split(" ")) {
                collector.emit(new Values(word));
            }
        }
    }

    static Properties producer(String bootstrap) {
        Properties properties = new Properties();
        properties.put(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, bootstrap);
        properties.put(ProducerConfig.KEY_SERIALIZER_CLASS_CONFIG, StringSerializer.class.getName());
        properties.put(ProducerConfig.VALUE_SERIALIZER_CLASS_CONFIG, LongSerializer.class.getName());
        return properties;
    }
}

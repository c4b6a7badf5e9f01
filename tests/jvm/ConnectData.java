import java.io.*;
import java.nio.charset.StandardCharsets;
import java.util.*;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.connect.data.*;
import org.apache.kafka.connect.header.Header;
import org.apache.kafka.connect.json.JsonConverter;
import org.apache.kafka.connect.sink.SinkRecord;
import org.apache.kafka.connect.transforms.Transformation;

/**
 * Kafka's own JsonConverter and transformations. A line of input, in fields with tabs between them, makes a line of output:
 * "json", schemas.enable, JSON in base64: what the converter reads of it, written again, in base64;
 * "transform", class, keys and values with ";" between them, schemas.enable, JSON in base64: topic, key, value and headers.
 * An error is "!", its class and its message.
 */
public class ConnectData {
    static JsonConverter converter(String schemas) {
        JsonConverter made = new JsonConverter();
        made.configure(Collections.singletonMap("schemas.enable", schemas), false);
        return made;
    }

    static String text(Schema schema, Object value) {
        byte[] bytes = converter(schema == null ? "false" : "true").fromConnectData("t", schema, value);
        return bytes == null ? "(null)" : new String(bytes, StandardCharsets.UTF_8);
    }

    @SuppressWarnings("unchecked")
    static String transform(String name, String config, SchemaAndValue value) throws Exception {
        Map<String, String> configs = new LinkedHashMap<>();
        for (String pair : config.split(";"))
            if (!pair.isEmpty())
                configs.put(pair.substring(0, pair.indexOf('=')), pair.substring(pair.indexOf('=') + 1));
        Transformation<SinkRecord> made = (Transformation<SinkRecord>)
            Class.forName("org.apache.kafka.connect.transforms." + name).getDeclaredConstructor().newInstance();
        made.configure(configs);
        SinkRecord record = new SinkRecord("topic-1", 2, Schema.STRING_SCHEMA, "key", value.schema(), value.value(), 42,
            1700000000123L, TimestampType.CREATE_TIME);
        record.headers().addString("old", "h");
        SinkRecord changed = made.apply(record);
        if (changed == null)
            return "(dropped)";
        StringBuilder all = new StringBuilder(changed.topic());
        all.append('\t').append(text(changed.keySchema(), changed.key()));
        all.append('\t').append(text(changed.valueSchema(), changed.value()));
        for (Header header : changed.headers())
            all.append('\t').append(header.key()).append('=').append(text(header.schema(), header.value()));
        return all.toString();
    }

    static String result(String[] fields) throws Exception {
        boolean json = fields[0].equals("json");
        JsonConverter converter = converter(fields[json ? 1 : 3]);
        SchemaAndValue value = converter.toConnectData("t", Base64.getDecoder().decode(fields[json ? 2 : 4]));
        if (!json)
            return transform(fields[1], fields[2], value);
        return Base64.getEncoder().encodeToString(converter.fromConnectData("t", value.schema(), value.value()));
    }

    public static void main(String[] arguments) throws IOException {
        PrintStream out = new PrintStream(System.out, true, "UTF-8");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            try {
                out.println(result(line.split("\t", -1)));
            } catch (Exception error) {
                out.println("!\t" + error.getClass().getSimpleName() + "\t" + String.valueOf(error.getMessage()).replaceAll("\\s", " "));
            }
        }
    }
}

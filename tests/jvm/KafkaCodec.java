import com.fasterxml.jackson.databind.JsonNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import org.apache.kafka.common.message.ApiMessageType;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.ObjectSerializationCache;

/**
 * Kafka's own message codecs as a filter. Each line of the input is answered by one line of the output:
 *
 *   headers KEY VERSION                     version of the request header, version of the response header
 *   default KEY VERSION DIRECTION           hex of a message of defaults
 *   recode  KEY VERSION DIRECTION HEX       hex of the decoded message encoded again, a tab, its values as JSON
 *   data    CLASS VERSION HEX               the same as recode, for a message of no API
 *   convert KEY FROM TO DIRECTION HEX       hex of the message decoded in one version and encoded in another
 *
 * DIRECTION is request or response. What this version of Kafka does not know is answered by "unsupported", an exception
 * by "error" and its text.
 */
public final class KafkaCodec {
    public static void main(String[] arguments) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String answer;
            try {
                answer = answer(line.split(" ", -1));
            } catch (Exception | Error error) {
                answer = "error " + String.valueOf(error).replace('\n', ' ');
            }
            out.println(answer);
        }
        out.flush();
    }

    private static String answer(String[] words) throws Exception {
        if (words[0].equals("data")) {
            ApiMessage message = (ApiMessage) Class.forName(words[1]).getDeclaredConstructor().newInstance();
            short version = Short.parseShort(words[2]);
            return hex(decode(message, version, words[3]), version) + "\t" + json(message, version);
        }
        ApiMessageType type;
        try {
            type = ApiMessageType.fromApiKey(Short.parseShort(words[1]));
        } catch (Exception unknown) {
            return "unsupported";
        }
        short version = Short.parseShort(words[2]);
        if (version < type.lowestSupportedVersion() || version > type.highestSupportedVersion(true))
            return "unsupported";
        switch (words[0]) {
            case "headers":
                return type.requestHeaderVersion(version) + " " + type.responseHeaderVersion(version);
            case "default":
                return hex(create(type, words[3]), version);
            case "recode":
                ApiMessage message = decode(create(type, words[3]), version, words[4]);
                return hex(message, version) + "\t" + json(message, version);
            case "convert":
                short target = Short.parseShort(words[3]);
                if (target < type.lowestSupportedVersion() || target > type.highestSupportedVersion(true))
                    return "unsupported";
                return hex(decode(create(type, words[4]), version, words[5]), target);
            default:
                throw new IllegalArgumentException(words[0]);
        }
    }

    private static ApiMessage create(ApiMessageType type, String direction) {
        return direction.equals("request") ? type.newRequest() : type.newResponse();
    }

    private static ApiMessage decode(ApiMessage message, short version, String hex) {
        ByteBuffer buffer = ByteBuffer.wrap(HexFormat.of().parseHex(hex));
        message.read(new ByteBufferAccessor(buffer), version);
        if (buffer.hasRemaining())
            throw new IllegalStateException(buffer.remaining() + " bytes are left over");
        return message;
    }

    private static String hex(ApiMessage message, short version) {
        ObjectSerializationCache cache = new ObjectSerializationCache();
        ByteBuffer buffer = ByteBuffer.allocate(message.size(cache, version));
        message.write(new ByteBufferAccessor(buffer), cache, version);
        return HexFormat.of().formatHex(buffer.array(), 0, buffer.position());
    }

    private static String json(ApiMessage message, short version) throws Exception {
        Class<?> converter = Class.forName(message.getClass().getName() + "JsonConverter");
        Method write = converter.getMethod("write", message.getClass(), short.class, boolean.class);
        boolean recordsThemselves = false; // only their size: the converter cannot write them
        JsonNode node = (JsonNode) write.invoke(null, message, version, recordsThemselves);
        return node.toString();
    }
}

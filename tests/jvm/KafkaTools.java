import java.io.*;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.util.*;

/**
 * Runs Kafka's command-line tools one after the other, for a start of Java costs more than most of them.
 *
 * A line of the input is one command: what the tool reads from its standard input, its class, its arguments, all with
 * U+001F between them, and U+001E for the ends of lines within. After what each one printed comes a line U+001D and the
 * exit code. With an argument, what the tools print to standard error is in it, too.
 */
public class KafkaTools {
    /** What a tool meets that exits. Some take it for an error of theirs and exit again: the first code counts. */
    static class Exited extends RuntimeException {
        Exited() {
            super("", null, false, false);
        }

        @Override
        public String toString() {
            return "";
        }
    }

    static Integer exitCode;

    static void exit(int code) {
        if (exitCode == null) exitCode = code;
        throw new Exited();
    }

    /** Tools of before 0.11 really exit, and Java with them. */
    static void interceptExits() throws Exception {
        Class<?> exit;
        try {
            exit = Class.forName("org.apache.kafka.common.utils.Exit");
        } catch (ClassNotFoundException e) {
            return;
        }
        Class<?> procedure = Class.forName("org.apache.kafka.common.utils.Exit$Procedure");
        Object intercept = Proxy.newProxyInstance(KafkaTools.class.getClassLoader(), new Class<?>[] {procedure}, (self, method, given) -> {
            exit((Integer) given[0]);
            return null;
        });
        exit.getMethod("setExitProcedure", procedure).invoke(null, intercept);
        exit.getMethod("setHaltProcedure", procedure).invoke(null, intercept);
    }

    public static void main(String[] args) throws Exception {
        interceptExits();
        if (args.length > 0) System.setErr(System.out);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String command = in.readLine(); command != null; command = in.readLine()) {
            List<String> words = List.of(command.replace('\u001e', '\n').split("\u001f", -1));
            System.setIn(new ByteArrayInputStream(words.get(0).getBytes(StandardCharsets.UTF_8)));
            System.out.println("\n\u001d" + run(words.get(1), words.subList(2, words.size())));
            System.out.flush();
        }
        Runtime.getRuntime().halt(0);
    }

    static int run(String name, List<String> arguments) throws Exception {
        exitCode = null;
        try {
            Class.forName(name).getMethod("main", String[].class).invoke(null, (Object) arguments.toArray(new String[0]));
        } catch (java.lang.reflect.InvocationTargetException e) {
            if (exitCode == null) {
                e.getCause().printStackTrace();
                return -1;
            }
        }
        return exitCode == null ? 0 : exitCode;
    }
}

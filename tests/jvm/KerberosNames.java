import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.Arrays;
import java.util.List;
import org.apache.kafka.common.security.kerberos.KerberosName;
import org.apache.kafka.common.security.kerberos.KerberosShortNamer;

/** For each line of stdin, default realm, principal and rules with tabs between them: the user name, or "refused". */
public class KerberosNames {
    public static void main(String[] arguments) throws Exception {
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            List<String> words = Arrays.asList(line.split("\t", -1));
            String answer;
            try {
                KerberosShortNamer namer = KerberosShortNamer.fromUnparsedRules(words.get(0), words.subList(2, words.size()));
                answer = "user " + namer.shortName(KerberosName.parse(words.get(1)));
            } catch (Exception error) {
                answer = "refused";
            }
            System.out.println(answer);
        }
    }
}

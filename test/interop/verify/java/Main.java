import com.nimbusds.jose.util.JSONObjectUtils;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.text.ParseException;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Checks each case of the file that it is given, with the code of the documentation. */
class Main {
  @SuppressWarnings("unchecked")
  public static void main(String[] args) throws Exception {
    Verifier verifier = new Verifier();
    verifier.directories.put("eventemitter.example.com", System.getenv("DIRECTORY"));
    verifier.directories.put("down.example.com", System.getenv("DIRECTORY") + "down");
    StringBuilder output = new StringBuilder();
    for (String line : Files.readAllLines(Path.of(args[0]))) {
      Map<String, Object> each = JSONObjectUtils.parse(line);
      Map<String, String> headers = (Map<String, String>) (Map<?, ?>) each.get("headers");
      byte[] body = Base64.getDecoder().decode((String) each.get("body"));
      try {
        if ("secret".equals(each.get("kind"))) {
          Map<String, List<String>> lists = new HashMap<>();
          headers.forEach((name, value) -> lists.put(name, List.of(value)));
          SecretVerifier.verify((String) each.get("secret"), lists, body);
        } else {
          verifier.verify((String) each.get("method"), (String) each.get("url"), headers, body);
        }
        output.append("ok\n");
      } catch (IOException | ParseException error) {
        output.append("unavailable\n");
      } catch (Exception error) {
        output.append("refused ").append(error.getMessage()).append('\n');
      }
    }
    System.out.print(output);
  }
}

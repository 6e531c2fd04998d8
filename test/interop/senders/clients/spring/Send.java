import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.springframework.web.client.RestClient;
import org.springframework.web.client.RestClientException;

/** Posts an event to each URL with Spring's RestClient. */
class Send {
  @SuppressWarnings("unchecked")
  public static void main(String[] args) throws Exception {
    ObjectMapper json = new ObjectMapper();
    Map<String, List<String>> urls = json.readValue(System.getenv("URLS"), Map.class);
    Map<String, String> headers = json.readValue(System.getenv("HEADERS"), Map.class);
    RestClient client = RestClient.builder().defaultHeaders(all -> headers.forEach(all::set)).build();
    Map<String, String> outcomes = new LinkedHashMap<>();
    for (String url : urls.get("plain")) {
      try {
        client.post().uri(url).body(System.getenv("EVENT").getBytes()).retrieve().toBodilessEntity();
        outcomes.put(url, "returns");
      } catch (RestClientException failure) {
        outcomes.put(url, "fails");
      }
    }
    System.out.println(json.writeValueAsString(outcomes));
  }
}

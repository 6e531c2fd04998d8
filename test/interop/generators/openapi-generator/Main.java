import com.fasterxml.jackson.databind.ObjectMapper;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.openapitools.client.api.SubscriptionsApi;
import org.openapitools.client.model.Problem;
import org.openapitools.client.model.Subscription;
import org.openapitools.client.model.SubscriptionRegistration;
import org.openapitools.client.model.SubscriptionRequest;

/** What a consumer does, one step after the other. Library.java has what differs between the generated libraries. */
public class Main {
  interface Step {
    Object take() throws Exception;
  }

  static final ObjectMapper mapper = Library.mapper();
  static final Map<String, Object> told = new LinkedHashMap<>();

  /** A step that fails has the body of the response as its result, or the exception. */
  static void step(String name, Step step) {
    try {
      told.put(name, step.take());
    } catch (Exception failure) {
      String body = Library.bodyOf(failure);
      Throwable cause = failure;
      while (cause.getCause() != null) cause = cause.getCause();
      told.put(name, Map.of("failure", body == null ? cause.toString() : body));
    }
  }

  static List<String> pages(SubscriptionsApi registry) throws Exception {
    Pattern next = Pattern.compile("[?&]cursor=([^&>]+)[^>]*>; *rel=\"next\"");
    List<String> ids = new ArrayList<>();
    String cursor = null;
    do {
      var page = registry.listSubscriptionsWithHttpInfo(
          null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, 1, cursor, null);
      for (Subscription subscription : Library.body(page)) ids.add(subscription.getId());
      List<String> links = page.getHeaders().get("link");
      var link = next.matcher(links == null ? "" : String.join(",", links));
      cursor = link.find() ? URLDecoder.decode(link.group(1), StandardCharsets.UTF_8) : null;
    } while (cursor != null);
    return ids;
  }

  public static void main(String[] unused) throws Exception {
    String id = System.getenv("ID"), type = System.getenv("TYPE");
    SubscriptionsApi registry = Library.connect(System.getenv("REGISTRY"), System.getenv("TOKEN"));
    SubscriptionsApi later = Library.connect(System.getenv("LATER"), System.getenv("TOKEN"));
    step("register", () -> {
      var request = new SubscriptionRegistration().sink(System.getenv("SINK")).protocol("HTTP").types(List.of(type));
      return registry.createSubscription(request, null, null, null, null, "wait=10", null).getStatus();
    });
    step("read", () -> {
      var read = registry.getSubscription(id, null);
      return List.of(read.getStatus(), read.getStatusdetails().getAllowedrate());
    });
    step("send back", () -> {
      var request = mapper.convertValue(registry.getSubscription(id, null), SubscriptionRequest.class);
      return registry.replaceSubscription(id, request.subject("changed"), null, null, null, null).getSubject();
    });
    step("pages", () -> pages(registry));
    step("unknown value", () -> later.getSubscription(id, null).getStatus());
    step("problem", () -> {
      try {
        return registry.getSubscription("unknown", null);
      } catch (Exception failure) {
        String body = Library.bodyOf(failure);
        if (body == null) throw failure;
        return mapper.readValue(body, Problem.class).getCode();
      }
    });
    System.out.println(mapper.writeValueAsString(told));
  }
}

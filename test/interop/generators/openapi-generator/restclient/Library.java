import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.databind.ObjectMapper;
import org.openapitools.client.ApiClient;
import org.openapitools.client.api.SubscriptionsApi;
import org.springframework.http.ResponseEntity;
import org.springframework.web.client.RestClientResponseException;

class Library {
  /** The mapper of the library, which writes null for absent members unless it is told otherwise. */
  static ObjectMapper mapper() {
    String include = System.getenv().getOrDefault("INCLUDE", "ALWAYS");
    return ApiClient.createDefaultObjectMapper(null).setSerializationInclusion(JsonInclude.Include.valueOf(include));
  }

  static SubscriptionsApi connect(String url, String token) {
    ApiClient client = new ApiClient(ApiClient.buildRestClient(mapper())).setBasePath(url);
    client.setBearerToken(token);
    return new SubscriptionsApi(client);
  }

  static <T> T body(ResponseEntity<T> response) {
    return response.getBody();
  }

  static String bodyOf(Exception failure) {
    return failure instanceof RestClientResponseException answered ? answered.getResponseBodyAsString() : null;
  }
}

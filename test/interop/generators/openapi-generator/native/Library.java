import com.fasterxml.jackson.databind.ObjectMapper;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.ApiResponse;
import org.openapitools.client.api.SubscriptionsApi;

class Library {
  static ObjectMapper mapper() {
    return ApiClient.createDefaultObjectMapper();
  }

  static SubscriptionsApi connect(String url, String token) {
    ApiClient client = new ApiClient();
    client.updateBaseUri(url);
    client.setRequestInterceptor(request -> request.header("Authorization", "Bearer " + token));
    return new SubscriptionsApi(client);
  }

  static <T> T body(ApiResponse<T> response) {
    return response.getData();
  }

  static String bodyOf(Exception failure) {
    return failure instanceof ApiException answered ? answered.getResponseBody() : null;
  }
}

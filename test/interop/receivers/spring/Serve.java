package receivers;

import io.cloudevents.CloudEvent;
import io.cloudevents.spring.mvc.CloudEventHttpMessageConverter;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.web.servlet.context.ServletWebServerInitializedEvent;
import org.springframework.context.event.EventListener;
import org.springframework.http.ResponseEntity;
import org.springframework.http.converter.HttpMessageConverter;
import org.springframework.web.bind.annotation.*;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;
import org.springframework.web.util.UriUtils;

/** Starts controllers as they come and with the handler, and prints the addresses as JSON. The converter returns the subject. */
@SpringBootApplication
@RestController
public class Serve implements WebMvcConfigurer {
  static final Map<String, String> RATES = Map.of("eventemitter.example.com", "120");

  @Override
  public void configureMessageConverters(List<HttpMessageConverter<?>> converters) {
    converters.add(0, new CloudEventHttpMessageConverter());
  }

  @PostMapping({"/plain", "/events"})
  ResponseEntity<Void> plain(@RequestBody(required = false) byte[] body) {
    return ResponseEntity.noContent().build();
  }

  @PostMapping("/plain/converter")
  ResponseEntity<String> convert(@RequestBody CloudEvent event) {
    return ResponseEntity.ok(event.getSubject());
  }

  @PostMapping(path = "/converter", consumes = "application/cloudevents+json")
  ResponseEntity<String> convertStructured(@RequestBody CloudEvent event) {
    return ResponseEntity.ok(event.getSubject());
  }

  @PostMapping(path = "/converter", headers = "ce-id")
  ResponseEntity<String> convertBinary(@RequestBody CloudEvent event) {
    return ResponseEntity.ok(UriUtils.decode(event.getSubject(), StandardCharsets.UTF_8));
  }

  @RequestMapping(path = "/events", method = RequestMethod.OPTIONS)
  ResponseEntity<Void> handshake(@RequestHeader("WebHook-Request-Origin") String origin) {
    var response = ResponseEntity.noContent();
    if (RATES.containsKey(origin)) {
      response.header("WebHook-Allowed-Origin", origin).header("WebHook-Allowed-Rate", RATES.get(origin));
    }
    return response.build();
  }

  @RequestMapping(path = "/converter", method = RequestMethod.OPTIONS)
  ResponseEntity<Void> handshakeOfConverter(@RequestHeader("WebHook-Request-Origin") String origin) {
    return handshake(origin);
  }

  @EventListener
  void print(ServletWebServerInitializedEvent event) {
    String host = "http://127.0.0.1:" + event.getWebServer().getPort();
    System.out.printf(
        "{\"plain\": {\"Spring\": \"%1$s/plain\", \"Spring with the CloudEvents converter\": \"%1$s/plain/converter\"}, "
            + "\"advised\": {\"Spring\": \"%1$s/events\", \"Spring with the CloudEvents converter\": \"%1$s/converter\"}}%n",
        host);
  }

  public static void main(String[] args) {
    SpringApplication.run(
        Serve.class,
        "--server.port=0",
        "--server.address=127.0.0.1",
        "--spring.main.banner-mode=off",
        "--logging.level.root=off");
  }
}

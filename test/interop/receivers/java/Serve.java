import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;

/** Starts the server of the JDK as it comes and the program of the documentation, and prints the addresses as JSON. */
class Serve {
  public static void main(String[] args) throws IOException {
    HttpServer plain = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    plain.createContext("/events", exchange -> {
      exchange.sendResponseHeaders(204, -1);
      exchange.close();
    });
    plain.start();
    Webhook.main(args);
    System.out.printf(
        "{\"plain\": {\"JDK `HttpServer`\": \"%s\"}, \"advised\": {\"JDK `HttpServer`\": \"%s\"}}%n",
        address(plain.getAddress().getPort()), address(Integer.parseInt(System.getenv("PORT"))));
  }

  private static String address(int port) {
    return "http://127.0.0.1:" + port + "/events";
  }
}

/** The origin, rate and path that the lines below have; they are replaced by those of a subscription. */
const example = { origin: 'eventemitter.example.com', rate: '120', path: '/events' };

/**
 * What consents to a handshake in each framework. The lines are those of docs/consumers/receive.md, which run against a
 * registry in test/interop/receivers; a test compares them.
 */
export const webhookSnippets: ReadonlyArray<{ name: string; code: string }> = [
  {
    name: 'Express',
    code: `const rates = new Map([['eventemitter.example.com', '120']]);

app.options('/events', (request, response) => {
  const origin = request.get('WebHook-Request-Origin');
  if (rates.has(origin)) {
    response.set({ 'WebHook-Allowed-Origin': origin, 'WebHook-Allowed-Rate': rates.get(origin) });
  }
  response.set('Allow', 'POST').sendStatus(204);
});`,
  },
  {
    name: 'Fastify',
    code: `const rates = new Map([['eventemitter.example.com', '120']]);

async function handshake(request, reply) {
  const origin = request.headers['webhook-request-origin'];
  if (rates.has(origin)) {
    reply.headers({ 'WebHook-Allowed-Origin': origin, 'WebHook-Allowed-Rate': rates.get(origin) });
  }
  return reply.code(204).header('Allow', 'POST').send();
}
// As a hook it comes before the body is read: Fastify refuses a body without a type.
app.options('/events', { onRequest: handshake }, handshake);`,
  },
  {
    name: 'Hono',
    code: `const rates = new Map([['eventemitter.example.com', '120']]);

app.options('/events', (c) => {
  const origin = c.req.header('WebHook-Request-Origin');
  if (rates.has(origin)) {
    c.header('WebHook-Allowed-Origin', origin);
    c.header('WebHook-Allowed-Rate', rates.get(origin));
  }
  c.header('Allow', 'POST');
  return c.body(null, 204);
});`,
  },
  {
    name: 'Go',
    code: `var rates = map[string]string{"eventemitter.example.com": "120"}

func handshake(w http.ResponseWriter, r *http.Request) {
	origin := r.Header.Get("WebHook-Request-Origin")
	if rate, known := rates[origin]; known {
		w.Header().Set("WebHook-Allowed-Origin", origin)
		w.Header().Set("WebHook-Allowed-Rate", rate)
	}
	w.Header().Set("Allow", "POST")
	w.WriteHeader(http.StatusNoContent)
}

routes.HandleFunc("OPTIONS /events", handshake)`,
  },
  {
    name: 'Python: Flask',
    code: `rates = {"eventemitter.example.com": "120"}

@app.route("/events", methods=["OPTIONS"])
def handshake():
    origin = request.headers.get("WebHook-Request-Origin")
    consent = {"WebHook-Allowed-Origin": origin, "WebHook-Allowed-Rate": rates[origin]} if origin in rates else {}
    return "", 204, {"Allow": "POST", **consent}`,
  },
  {
    name: 'Python: FastAPI',
    code: `rates = {"eventemitter.example.com": "120"}

@app.options("/events")
async def handshake(request: Request):
    origin = request.headers.get("WebHook-Request-Origin")
    consent = {"WebHook-Allowed-Origin": origin, "WebHook-Allowed-Rate": rates[origin]} if origin in rates else {}
    return Response(status_code=204, headers={"Allow": "POST", **consent})`,
  },
  {
    name: 'Python: Django',
    code: `rates = {"eventemitter.example.com": "120"}

class Webhook(View):
    def options(self, request):
        origin = request.headers.get("WebHook-Request-Origin")
        consent = {"WebHook-Allowed-Origin": origin, "WebHook-Allowed-Rate": rates[origin]} if origin in rates else {}
        return HttpResponse(status=204, headers={"Allow": "POST", **consent})`,
  },
  {
    name: 'Java',
    code: `static final Map<String, String> RATES = Map.of("eventemitter.example.com", "120");

if (exchange.getRequestMethod().equals("OPTIONS")) {
  String origin = exchange.getRequestHeaders().getFirst("WebHook-Request-Origin");
  if (origin != null && RATES.containsKey(origin)) {
    exchange.getResponseHeaders().set("WebHook-Allowed-Origin", origin);
    exchange.getResponseHeaders().set("WebHook-Allowed-Rate", RATES.get(origin));
  }
  exchange.getResponseHeaders().set("Allow", "POST");
}`,
  },
  {
    name: 'nginx',
    code: `map $http_webhook_request_origin $webhook_origin { eventemitter.example.com eventemitter.example.com; }
map $http_webhook_request_origin $webhook_rate { eventemitter.example.com 120; }
server {
  location = /events {
    if ($request_method = OPTIONS) {
      add_header WebHook-Allowed-Origin $webhook_origin;
      add_header WebHook-Allowed-Rate $webhook_rate;
      add_header Allow POST;
      return 204;
    }
    proxy_pass http://127.0.0.1:9100;
  }
}`,
  },
  {
    name: 'Caddy',
    code: `@known {
  method OPTIONS
  header WebHook-Request-Origin eventemitter.example.com
}
@options method OPTIONS
@other not method POST
route /events {
  header @other Allow POST
  header @known {
    WebHook-Allowed-Origin eventemitter.example.com
    WebHook-Allowed-Rate 120
  }
  respond @options 204
  reverse_proxy 127.0.0.1:9100
}`,
  },
  {
    name: 'HAProxy',
    code: `acl known req.fhdr(WebHook-Request-Origin) -i eventemitter.example.com
http-request return status 204 hdr Allow POST hdr WebHook-Allowed-Origin eventemitter.example.com hdr WebHook-Allowed-Rate 120 if METH_OPTIONS known
http-request return status 204 hdr Allow POST if METH_OPTIONS`,
  },
];

/** The registry's own default rate. */
const usualRate = 60;

/** What was asked for, or what the origin's default is. Never no limit: who copies lines has not decided that. */
export const rateToSuggest = (asked: number | undefined, byDefault: number | '*' | undefined): number =>
  asked ?? (byDefault === undefined || byDefault === '*' ? usualRate : byDefault);

/** The lines for one origin. The path of the sink is filled in if it needs no escaping in any language. */
export function linesFor(code: string, { origin, rate, sink }: { origin: string; rate: number; sink: string }): string {
  const path = URL.canParse(sink) ? new URL(sink).pathname : '';
  const given: Record<string, string> = {
    [example.origin]: origin,
    [example.rate]: String(rate),
    [example.path]: /^[\w./~-]+$/.test(path) ? path : example.path,
  };
  return code.replace(/eventemitter\.example\.com|120|\/events/g, (found) => given[found] ?? found);
}

#!/usr/bin/env python3
"""A sender that needs Python 3.9 and nothing else. Reads CloudEvents in the JSON format, one on each line.

REGISTRY=http://127.0.0.1:3000 TOKEN=... python3 sender.py < events.jsonl
ALLOWED_NETWORKS=127.0.0.0/8,10.0.0.0/8 also reaches these networks; without it, only public addresses.
"""

import base64
import http.client
import ipaddress
import json
import os
import socket
import ssl
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid

REGISTRY = os.environ["REGISTRY"].rstrip("/")
TOKEN = os.environ["TOKEN"]
ALLOWED = [ipaddress.ip_network(n) for n in os.environ.get("ALLOWED_NETWORKS", "").split(",") if n]
INSTANCE = f"python-{uuid.uuid4()}"
ATTEMPTS = 5
DEADLINE_SECONDS = 10
# A busy sender asks for as many requests as it can send in two seconds. The registry gives what the rate allows.
LEASE_REQUESTS = 50
TLS = ssl.create_default_context()
TLS.minimum_version = ssl.TLSVersion.TLSv1_2


class Refused(Exception):
    """The registry accepts no request with this token."""


def call(path, body=None, content_type="application/json", method="POST", key=None):
    """A request to the registry. Returns the status and the JSON of the response; waits while the registry is away."""
    pause = 1
    while True:
        request = urllib.request.Request(f"{REGISTRY}/v1{path}", method=method)
        request.add_header("Authorization", f"Bearer {TOKEN}")
        if body is not None:
            request.data = json.dumps(body).encode()
            request.add_header("Content-Type", content_type)
        if key is not None:
            request.add_header("Idempotency-Key", key)
        try:
            with urllib.request.urlopen(request, timeout=DEADLINE_SECONDS) as response:
                return response.status, json.load(response)
        except urllib.error.HTTPError as problem:
            status, found = problem.code, json_of(problem)
        except (OSError, http.client.HTTPException) as error:
            status, found = None, {"detail": str(error)}
        detail = str(found.get("detail", status)).rstrip(".")
        if status == 401 or (status == 403 and found.get("code") != "not_permitted"):
            raise Refused(f"the registry refuses the token: {detail}")
        if status is not None and status < 500 and status != 429:
            return status, found
        print(f"{path}: {detail}. Trying again in {pause} s.", file=sys.stderr)
        time.sleep(pause)
        pause = min(2 * pause, 30)


def json_of(problem):
    try:
        return json.load(problem)
    except ValueError:
        return {}  # It is from a proxy.


# What may be sent now, for each origin and sink: the id of the lease, how many requests are left, and its end.
LEASES = {}


def permit(origin, sink):
    """Waits until one request may be sent. Returns None then, or the denial if none may."""
    while True:
        lease, left, end = LEASES.get((origin, sink), (None, 0, 0))
        if left > 0 and time.monotonic() < end:
            LEASES[origin, sink] = lease, left - 1, end
            return None
        wanted = {"origin": origin, "sink": sink, "instance": INSTANCE, "requests": LEASE_REQUESTS}
        if lease is not None:
            wanted["returns"] = [{"lease": lease, "unused": left}]
        LEASES.pop((origin, sink), None)
        asked_at = time.monotonic()
        status, found = call("/leases", wanted)
        if status >= 400:
            return found["faults"][0]["rule"] if found.get("faults") else found.get("code", status)
        if found["requests"] > 0:
            LEASES[origin, sink] = found.get("lease"), found["requests"], asked_at + found.get("seconds", 2)
        else:
            # An admin can end a hold earlier.
            time.sleep(min(found.get("waitseconds", 1), 10))


def give_back(origin, sink):
    """Nothing more is sent with this lease."""
    lease, left, _ = LEASES.pop((origin, sink), (None, 0, 0))
    if lease is not None and left > 0:
        call(f"/leases/{urllib.parse.quote(lease)}?unused={left}", method="DELETE")


def report(outcome):
    try:
        call("/deliveries/outcomes", [outcome], key=str(uuid.uuid4()))
    except Refused as why:
        print(f"not reported: {why}", file=sys.stderr)


def authorization(credential):
    """The value of the header, or None for a credential that cannot be applied."""
    if credential["credentialtype"] == "PLAIN":
        if ":" in credential["identifier"]:
            return None
        pair = f"{credential['identifier']}:{credential['secret']}"
        return "Basic " + base64.b64encode(pair.encode()).decode()
    if credential.get("accesstokentype", "bearer").lower() == "bearer":
        return f"Bearer {credential['accesstoken']}"
    return None


UTF_8 = ("utf-8", "utf8", "us-ascii")
VISIBLE = "".join(chr(code) for code in range(0x21, 0x7F) if chr(code) not in '"%')


def header_text(value):
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return urllib.parse.quote(text, safe=VISIBLE)


def content(event, mode):
    """Headers and body in the content mode (CloudEvents HTTP binding, section 3)."""
    structured = {"Content-Type": "application/cloudevents+json; charset=utf-8"}, json.dumps(event).encode()
    attributes = {name: value for name, value in event.items() if value is not None}
    data, encoded = attributes.pop("data", None), attributes.pop("data_base64", None)
    has_data = "data" in event
    media_type = attributes.pop("datacontenttype", "application/json" if has_data else None)
    if mode != "binary" or media_type is None or media_type.lower().startswith("application/cloudevents"):
        return structured
    kind, *parameters = [part.strip().lower() for part in media_type.split(";")]
    if encoded is not None:
        body = base64.b64decode(encoded)
    elif not has_data or any(p.startswith("charset=") and p[8:].strip('"') not in UTF_8 for p in parameters):
        return structured
    elif isinstance(data, str) and not (kind.endswith("/json") or kind.endswith("+json")):
        body = data.encode()
    else:
        body = json.dumps(data).encode()
    if not body:
        return structured
    headers = {f"ce-{name}": header_text(value) for name, value in attributes.items()}
    return {**headers, "Content-Type": media_type}, body


class Blocked(Exception):
    """The address must not be reached."""


def may_reach(address):
    ip = ipaddress.ip_address(address)
    if any(ip in network for network in ALLOWED):
        return True
    if ip.version == 6 and (ip not in ipaddress.ip_network("2000::/3") or ip.sixtofour or ip.teredo):
        return False
    # The last one serves any guest of Azure with configuration and credentials.
    return ip.is_global and not ip.is_multicast and address != "168.63.129.16"


class CheckedConnection(http.client.HTTPSConnection):
    """Connects to an address that was checked, so that the name cannot lead elsewhere meanwhile."""

    def connect(self):
        found = socket.getaddrinfo(self.host, self.port, type=socket.SOCK_STREAM)
        addresses = [info[4][0] for info in found]
        if not all(may_reach(address) for address in addresses):
            raise Blocked(f"{self.host} leads to an address that must not be reached")
        plain = socket.create_connection((addresses[0], self.port), self.timeout)
        self.sock = TLS.wrap_socket(plain, server_hostname=self.host)

    def give_up(self):
        try:
            if self.sock is not None:
                self.sock.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass  # It is closed already.


def post(sink, headers, body):
    """One request, no redirects. Returns the status and Retry-After; None without a response."""
    url = urllib.parse.urlsplit(sink)
    connection = CheckedConnection(url.hostname, url.port or 443, timeout=DEADLINE_SECONDS, context=TLS)
    timer = threading.Timer(DEADLINE_SECONDS, connection.give_up)
    timer.start()
    try:
        target = (url.path or "/") + (f"?{url.query}" if url.query else "")
        connection.request("POST", target, body, headers)
        response = connection.getresponse()
        return response.status, response.getheader("Retry-After")
    except (OSError, http.client.HTTPException):
        return None, None
    finally:
        timer.cancel()
        connection.close()


def deliver(event, origin, to):
    sink, credential = to["sink"], to.get("sinkcredential")
    previous = to.get("previouscredential")
    if credential is None and to.get("hascredential"):
        return "withheld: the token lacks the scope assent:credentials"
    attempt = 0
    while True:
        settings = to.get("protocolsettings", {}).get("headers", {})
        headers, body = content(event, to["contentmode"])
        headers = {**settings, **headers, "WebHook-Request-Origin": origin}
        if credential is not None:
            headers["Authorization"] = authorization(credential)
            if headers["Authorization"] is None:
                return "withheld: the credential cannot be applied"
        denial = permit(origin, sink)
        if denial is not None:
            return f"denied: {denial}"
        try:
            status, retry_after = post(sink, headers, body)
        except Blocked as why:
            # Nothing was sent, so nothing is reported.
            return f"blocked: {why}"
        outcome = {"origin": origin, "sink": sink}
        if status is not None:
            outcome["statuscode"] = status
        if retry_after is not None:
            outcome["retryafter"] = retry_after[:100]
        report(outcome)
        attempt += 1
        if status is None or status >= 300:
            give_back(origin, sink)
        if status == 401 and previous is not None:
            credential, previous = previous["sinkcredential"], None
            continue
        if status is not None and status < 500 and status != 429:
            return "delivered" if status < 300 else f"refused with {status}"
        if attempt >= ATTEMPTS:
            return "given up without a response" if status is None else f"given up after {status}"
        # After a 429 the registry knows how long to wait, and the next lease says so.
        if status != 429:
            time.sleep(2 ** (attempt - 1))


def main():
    for line in sys.stdin:
        event = json.loads(line)
        status, match = call("/match", event, "application/cloudevents+json")
        if status != 200:
            print(match.get("detail", status), file=sys.stderr)
            continue
        for to in match["sinks"]:
            print(to["sink"], deliver(event, match["origin"], to), flush=True)
        for to in match.get("withheld", []):
            print(to["sink"], "withheld: the registry cannot read the credential", flush=True)
    for origin, sink in list(LEASES):
        give_back(origin, sink)


try:
    main()
except Refused as why:
    sys.exit(str(why))

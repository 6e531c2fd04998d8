// A sender that needs Go 1.21 and nothing else. Reads CloudEvents in the JSON format, one on each line.
//
//	REGISTRY=http://127.0.0.1:3000 TOKEN=... go run . < events.jsonl
//
// ALLOWED_NETWORKS=127.0.0.0/8,10.0.0.0/8 also reaches these networks; without it, only public addresses.
package main

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"syscall"
	"time"
)

type object = map[string]any

const (
	attempts = 5
	deadline = 10 * time.Second
	// A busy sender asks for as many requests as it can send in two seconds. The registry gives what the rate allows.
	leaseRequests = 50
)

var (
	registry   = strings.TrimRight(os.Getenv("REGISTRY"), "/")
	token      = os.Getenv("TOKEN")
	instance   = fmt.Sprintf("go-%x", randomBytes())
	allowed    = networks(os.Getenv("ALLOWED_NETWORKS"))
	toRegistry = &http.Client{Timeout: deadline}
	errBlocked = errors.New("the address must not be reached")
	// The check runs for the address of each connection, after the name was resolved: no second look-up leads elsewhere.
	toWebhooks = &http.Client{
		Timeout:       deadline,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			DialContext:            (&net.Dialer{Timeout: deadline, Control: checkAddress}).DialContext,
			TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12},
			IdleConnTimeout:        4 * time.Second,
			MaxResponseHeaderBytes: 8192,
		},
	}
)

func randomBytes() []byte {
	bytes := make([]byte, 8)
	if _, err := rand.Read(bytes); err != nil {
		panic(err)
	}
	return bytes
}

func networks(list string) (found []netip.Prefix) {
	for _, text := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' }) {
		found = append(found, netip.MustParsePrefix(text))
	}
	return found
}

// Networks that are reserved by the IANA special-purpose registries, and Azure's host agent. Of IPv6 only 2000::/3 is
// public, without the forms that carry IPv4 addresses.
var reserved = networks("0.0.0.0/8,10.0.0.0/8,100.64.0.0/10,127.0.0.0/8,168.63.129.16/32,169.254.0.0/16,172.16.0.0/12," +
	"192.0.0.0/24,192.0.2.0/24,192.31.196.0/24,192.52.193.0/24,192.88.99.0/24,192.168.0.0/16,192.175.48.0/24," +
	"198.18.0.0/15,198.51.100.0/24,203.0.113.0/24,224.0.0.0/3,2001::/23,2001:db8::/32,2002::/16,2620:4f:8000::/48,3fff::/20")

func checkAddress(_, place string, _ syscall.RawConn) error {
	parsed, err := netip.ParseAddrPort(place)
	if err != nil {
		return errBlocked
	}
	address := parsed.Addr()
	for _, network := range allowed {
		if network.Contains(address) {
			return nil
		}
	}
	if address.Is6() && !netip.MustParsePrefix("2000::/3").Contains(address) {
		return errBlocked
	}
	for _, network := range reserved {
		if network.Contains(address) {
			return errBlocked
		}
	}
	return nil
}

var errRefused = errors.New("the registry refuses the token")

// call sends a request to the registry, and reads the JSON of the response into found. It waits while the registry is away.
func call(method, path string, body any, contentType string, found any) (int, error) {
	var text []byte
	if body != nil {
		var err error
		if text, err = json.Marshal(body); err != nil {
			return 0, err
		}
	}
	key := fmt.Sprintf("%x", randomBytes())
	for pause := time.Second; ; pause = min(2*pause, 30*time.Second) {
		status, response, err := once(method, path, text, contentType, key)
		var problem struct{ Code, Detail string }
		if err == nil && status >= 400 {
			// That of a proxy is no JSON.
			_ = json.Unmarshal(response, &problem)
		}
		switch {
		case status == 401 || status == 403 && problem.Code != "not_permitted":
			return status, fmt.Errorf("%w: %d %s", errRefused, status, problem.Detail)
		case err == nil && status < 500 && status != 429:
			return status, json.Unmarshal(response, found)
		case err != nil:
			problem.Detail = err.Error()
		}
		detail := strings.TrimSuffix(problem.Detail, ".")
		fmt.Fprintf(os.Stderr, "%s: %d %s. Trying again in %v.\n", path, status, detail, pause)
		time.Sleep(pause)
	}
}

func once(method, path string, body []byte, contentType, key string) (int, []byte, error) {
	request, err := http.NewRequest(method, registry+"/v1"+path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	request.Header.Set("Authorization", "Bearer "+token)
	if body != nil {
		request.Header.Set("Content-Type", contentType)
	}
	if path == "/deliveries/outcomes" {
		// A report that is repeated counts once.
		request.Header.Set("Idempotency-Key", key)
	}
	response, err := toRegistry.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return response.StatusCode, text, err
}

type pair struct{ origin, sink string }

// leases has what may be sent now: how many requests are left, and until when.
var leases = map[pair]lease{}

type lease struct {
	id   string
	left int
	end  time.Time
}

// permit waits until one request may be sent. It returns the denial if none may.
func permit(to pair) (string, error) {
	for {
		held := leases[to]
		if held.left > 0 && time.Now().Before(held.end) {
			held.left--
			leases[to] = held
			return "", nil
		}
		delete(leases, to)
		wanted := object{"origin": to.origin, "sink": to.sink, "instance": instance, "requests": leaseRequests}
		if held.id != "" {
			wanted["returns"] = []object{{"lease": held.id, "unused": held.left}}
		}
		var found struct {
			Requests            int
			Lease, Code         string
			Seconds, WaitSeconds float64
			Faults              []struct{ Rule string }
		}
		askedAt := time.Now()
		status, err := call("POST", "/leases", wanted, "application/json", &found)
		switch {
		case err != nil:
			return "", err
		case len(found.Faults) > 0:
			return found.Faults[0].Rule, nil
		case status >= 400:
			return found.Code, nil
		case found.Requests > 0:
			if found.Lease == "" {
				// Without a limit. Asking again shows a hold, or the end of the grant.
				found.Seconds = 2
			}
			leases[to] = lease{found.Lease, found.Requests, askedAt.Add(seconds(found.Seconds))}
		default:
			// An admin can end a hold earlier.
			time.Sleep(min(seconds(found.WaitSeconds), 10*time.Second))
		}
	}
}

func seconds(count float64) time.Duration {
	return time.Duration(count * float64(time.Second))
}

// giveBack ends a lease: nothing more is sent with it.
func giveBack(to pair) error {
	held := leases[to]
	delete(leases, to)
	if held.id == "" || held.left == 0 {
		return nil
	}
	_, err := call("DELETE", fmt.Sprintf("/leases/%s?unused=%d", held.id, held.left), nil, "", &object{})
	return err
}

type credential struct {
	CredentialType, Identifier, Secret, AccessToken, AccessTokenType string
}

// authorization returns the value of the header; ok is false for a credential that cannot be applied.
func (of credential) authorization() (value string, ok bool) {
	if of.CredentialType == "PLAIN" {
		pair := base64.StdEncoding.EncodeToString([]byte(of.Identifier + ":" + of.Secret))
		return "Basic " + pair, !strings.Contains(of.Identifier, ":")
	}
	return "Bearer " + of.AccessToken, of.AccessTokenType == "" || strings.EqualFold(of.AccessTokenType, "bearer")
}

type matchedSink struct {
	Sink               string
	ContentMode        string
	HasCredential      bool
	SinkCredential     *credential
	PreviousCredential *struct{ SinkCredential credential }
	ProtocolSettings   struct{ Headers map[string]string }
}

// headerText percent-encodes all but visible ASCII, and what has a meaning in a header value (section 3.1.3.2).
func headerText(value string) string {
	var text strings.Builder
	for _, octet := range []byte(value) {
		if octet > ' ' && octet < 0x7f && octet != '"' && octet != '%' {
			text.WriteByte(octet)
		} else {
			fmt.Fprintf(&text, "%%%02X", octet)
		}
	}
	return text.String()
}

// content sets the headers of the content mode (CloudEvents HTTP binding, section 3), and returns the body.
func content(event map[string]json.RawMessage, line []byte, mode string, header http.Header) []byte {
	attributes := map[string]string{}
	for name, raw := range event {
		var text string
		if json.Unmarshal(raw, &text) != nil {
			text = string(raw)
		}
		if string(raw) != "null" && name != "data" && name != "data_base64" {
			attributes[name] = text
		}
	}
	data, hasData := event["data"]
	mediaType := attributes["datacontenttype"]
	if mediaType == "" && hasData {
		mediaType = "application/json"
	}
	body := bodyOf(data, event["data_base64"], strings.ToLower(mediaType))
	if mode != "binary" || mediaType == "" || len(body) == 0 {
		header.Set("Content-Type", "application/cloudevents+json; charset=utf-8")
		return line
	}
	for name, value := range attributes {
		if name != "datacontenttype" {
			header.Set("ce-"+name, headerText(value))
		}
	}
	header.Set("Content-Type", mediaType)
	return body
}

// bodyOf returns nothing where the event has to be structured. The media type is in lower case.
func bodyOf(data, encoded json.RawMessage, mediaType string) []byte {
	if strings.HasPrefix(mediaType, "application/cloudevents") {
		return nil
	}
	var decoded []byte
	if len(encoded) > 0 && json.Unmarshal(encoded, &decoded) == nil {
		return decoded
	}
	kind, parameters, _ := strings.Cut(mediaType, ";")
	if _, charset, found := strings.Cut(parameters, "charset="); found {
		charset, _, _ = strings.Cut(charset, ";")
		charset = strings.Trim(charset, "\" ")
		if charset != "utf-8" && charset != "utf8" && charset != "us-ascii" {
			return nil
		}
	}
	kind = strings.TrimSpace(kind)
	var text string
	isJSON := strings.HasSuffix(kind, "/json") || strings.HasSuffix(kind, "+json")
	if !isJSON && json.Unmarshal(data, &text) == nil {
		return []byte(text)
	}
	return data
}

func deliver(event map[string]json.RawMessage, line []byte, origin string, to matchedSink) (string, error) {
	shown := to.SinkCredential
	if to.HasCredential && shown == nil {
		return "withheld: the token lacks the scope assent:credentials", nil
	}
	for attempt := 1; ; attempt++ {
		header := http.Header{}
		for name, value := range to.ProtocolSettings.Headers {
			header.Set(name, value)
		}
		body := content(event, line, to.ContentMode, header)
		header.Set("WebHook-Request-Origin", origin)
		if shown != nil {
			value, ok := shown.authorization()
			if !ok {
				return "withheld: the credential cannot be applied", nil
			}
			header.Set("Authorization", value)
		}
		if denial, err := permit(pair{origin, to.Sink}); err != nil || denial != "" {
			return "denied: " + denial, err
		}
		status, retryAfter, err := post(to.Sink, header, body)
		if errors.Is(err, errBlocked) {
			// Nothing was sent, so nothing is reported.
			return "blocked: " + err.Error(), nil
		}
		outcome := object{"origin": origin, "sink": to.Sink}
		if err == nil {
			outcome["statuscode"] = status
		}
		if retryAfter != "" {
			outcome["retryafter"] = retryAfter[:min(len(retryAfter), 100)]
		}
		if _, lost := call("POST", "/deliveries/outcomes", []object{outcome}, "application/json", &[]object{}); lost != nil {
			fmt.Fprintln(os.Stderr, "not reported:", lost)
		}
		if err != nil || status >= 300 {
			if err := giveBack(pair{origin, to.Sink}); err != nil {
				return "", err
			}
		}
		switch {
		case status == 401 && to.PreviousCredential != nil:
			shown, to.PreviousCredential = &to.PreviousCredential.SinkCredential, nil
			continue
		case err == nil && status < 300:
			return "delivered", nil
		case err == nil && status < 500 && status != 429:
			return fmt.Sprintf("refused with %d", status), nil
		case attempt >= attempts:
			if err != nil {
				return "given up without a response", nil
			}
			return fmt.Sprintf("given up after %d", status), nil
		case status != 429:
			// After a 429 the registry knows how long to wait, and the next lease says so.
			time.Sleep(time.Second << (attempt - 1))
		}
	}
}

func post(sink string, header http.Header, body []byte) (int, string, error) {
	request, err := http.NewRequest("POST", sink, bytes.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	request.Header = header
	response, err := toWebhooks.Do(request)
	if err != nil {
		return 0, "", err
	}
	return response.StatusCode, response.Header.Get("Retry-After"), response.Body.Close()
}

func main() {
	if err := sendAll(bufio.NewScanner(os.Stdin)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func sendAll(lines *bufio.Scanner) error {
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := bytes.Clone(lines.Bytes())
		var event map[string]json.RawMessage
		var match struct {
			Origin, Detail  string
			Sinks, Withheld []matchedSink
		}
		err := json.Unmarshal(line, &event)
		status := 0
		if err == nil {
			status, err = call("POST", "/match", json.RawMessage(line), "application/cloudevents+json", &match)
		}
		if errors.Is(err, errRefused) {
			return err
		}
		if err != nil || status != 200 {
			fmt.Fprintln(os.Stderr, status, match.Detail, err)
			continue
		}
		for _, to := range match.Sinks {
			outcome, err := deliver(event, line, match.Origin, to)
			if err != nil {
				return err
			}
			fmt.Println(to.Sink, outcome)
		}
		for _, to := range match.Withheld {
			fmt.Println(to.Sink, "withheld: the registry cannot read the credential")
		}
	}
	for to := range leases {
		if err := giveBack(to); err != nil {
			return err
		}
	}
	return lines.Err()
}

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

// call posts to the registry, and reads the JSON of the response into answer.
func call(path string, body any, contentType string, answer any) (int, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return 0, err
	}
	request, err := http.NewRequest("POST", registry+"/v1"+path, bytes.NewReader(text))
	if err != nil {
		return 0, err
	}
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Content-Type", contentType)
	response, err := toRegistry.Do(request)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	return response.StatusCode, json.NewDecoder(response.Body).Decode(answer)
}

// permit waits until one request may be sent. It returns the reason if none may.
func permit(origin, sink string) string {
	for {
		var answer struct {
			Requests   int
			Unlimited  bool
			HeldUntil  string
			RetryAfter float64
			Faults     []struct{ Rule string }
		}
		question := object{"origin": origin, "sink": sink, "instance": instance, "requests": 1}
		status, err := call("/leases", question, "application/json", &answer)
		switch {
		case status == 403 && len(answer.Faults) > 0:
			return answer.Faults[0].Rule
		case err != nil || status >= 400 || answer.HeldUntil != "":
			time.Sleep(time.Second)
		case answer.Unlimited || answer.Requests > 0:
			return ""
		default:
			time.Sleep(time.Duration(answer.RetryAfter * float64(time.Second)))
		}
	}
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

func deliver(event map[string]json.RawMessage, line []byte, origin string, to matchedSink) string {
	shown := to.SinkCredential
	if to.HasCredential && shown == nil {
		return "withheld: the token lacks the scope assent:credentials"
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
				return "withheld: the credential cannot be applied"
			}
			header.Set("Authorization", value)
		}
		if reason := permit(origin, to.Sink); reason != "" {
			return "denied: " + reason
		}
		status, retryAfter, err := post(to.Sink, header, body)
		outcome := object{"origin": origin, "sink": to.Sink, "status": status}
		if err != nil {
			outcome["status"] = "error"
		}
		if retryAfter != "" {
			outcome["retryafter"] = retryAfter[:min(len(retryAfter), 100)]
		}
		if _, reportErr := call("/deliveries/outcomes", []object{outcome}, "application/json", &[]object{}); reportErr != nil {
			fmt.Fprintln(os.Stderr, reportErr)
		}
		switch {
		case errors.Is(err, errBlocked):
			return "blocked: " + err.Error()
		case status == 401 && to.PreviousCredential != nil:
			shown, to.PreviousCredential = &to.PreviousCredential.SinkCredential, nil
			continue
		case err == nil && status < 300:
			return "delivered"
		case err == nil && status < 500 && status != 429:
			return fmt.Sprintf("refused with %d", status)
		case attempt >= attempts:
			return fmt.Sprintf("given up after %v", outcome["status"])
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
	lines := bufio.NewScanner(os.Stdin)
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
			status, err = call("/match", json.RawMessage(line), "application/cloudevents+json", &match)
		}
		if err != nil || status != 200 {
			fmt.Fprintln(os.Stderr, status, match.Detail, err)
			continue
		}
		for _, to := range match.Sinks {
			fmt.Println(to.Sink, deliver(event, line, match.Origin, to))
		}
		for _, to := range match.Withheld {
			fmt.Println(to.Sink, "withheld: the registry cannot read the credential")
		}
	}
}

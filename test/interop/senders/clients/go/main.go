// Posts an event to each URL with go-retryablehttp, as it comes and as docs/senders/brokers/clients.md sets it.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/hashicorp/go-retryablehttp"
)

func post(url string, headers map[string]string, looksAtStatus bool) error {
	client := retryablehttp.NewClient()
	client.Logger = nil
	// It would wait for a second, two, four and eight.
	client.RetryWaitMin = 10 * time.Millisecond
	request, err := retryablehttp.NewRequest("POST", url, []byte(os.Getenv("EVENT")))
	if err != nil {
		return err
	}
	for name, value := range headers {
		request.Header.Set(name, value)
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if looksAtStatus && response.StatusCode > 299 {
		return fmt.Errorf("the webhook returned %s", response.Status)
	}
	return nil
}

func main() {
	var urls map[string][]string
	var headers map[string]string
	for name, value := range map[string]any{"URLS": &urls, "HEADERS": &headers} {
		if err := json.Unmarshal([]byte(os.Getenv(name)), value); err != nil {
			panic(err)
		}
	}
	outcomes := map[string]string{}
	var lock sync.Mutex
	var group sync.WaitGroup
	for name, those := range urls {
		for _, url := range those {
			group.Add(1)
			go func() {
				defer group.Done()
				outcome := "returns"
				if post(url, headers, name == "configured") != nil {
					outcome = "fails"
				}
				lock.Lock()
				defer lock.Unlock()
				outcomes[url] = outcome
			}()
		}
	}
	group.Wait()
	if err := json.NewEncoder(os.Stdout).Encode(outcomes); err != nil {
		panic(err)
	}
}

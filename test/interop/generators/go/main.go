package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"

	"assent.test/generators/assent"
)

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// A rate is a number, or "*".
func rateOf(rate assent.Rate) any {
	if number, err := rate.AsRate0(); err == nil {
		return number
	}
	star, err := rate.AsRate1()
	check(err)
	return star
}

func secretOf(held *assent.SinkCredential) any {
	if held == nil {
		return nil
	}
	plain, err := held.AsPlainCredential()
	check(err)
	return plain.Secret
}

func main() {
	authorize := func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+os.Getenv("TOKEN"))
		return nil
	}
	registry, err := assent.NewClientWithResponses(os.Getenv("REGISTRY"), assent.WithRequestEditorFn(authorize))
	check(err)
	event := assent.CloudEvent{Specversion: "1.0", Id: "1", Source: "urn:example:a", Type: os.Getenv("TYPE")}
	ctx := context.Background()
	matched, err := registry.MatchEventWithApplicationCloudeventsPlusJSONBodyWithResponse(ctx, nil, event)
	check(err)
	answer, err := matched.JSON200.AsMatchResult()
	check(err)
	live := assent.ListGrantsParamsState("live")
	listed, err := registry.ListGrantsWithResponse(ctx, &assent.ListGrantsParams{State: &live})
	check(err)

	sinks, grants := [][]any{}, [][]any{}
	for _, to := range answer.Sinks {
		sinks = append(sinks, []any{to.Sink, rateOf(to.Allowedrate), secretOf(to.Sinkcredential), to.Contentmode})
	}
	for _, grant := range *listed.JSON200 {
		grants = append(grants, []any{grant.Sink, rateOf(grant.Allowedrate), grant.State})
	}
	cursor, changes := os.Getenv("CURSOR"), []string{}
	followed, err := registry.ListChangesWithResponse(ctx, &assent.ListChangesParams{After: &cursor})
	check(err)
	for _, change := range followed.JSON200.Changes {
		changes = append(changes, change.Kind)
	}
	told, err := json.Marshal(map[string]any{"sinks": sinks, "grants": grants, "changes": changes})
	check(err)
	fmt.Println(string(told))
}

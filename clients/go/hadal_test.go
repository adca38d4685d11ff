package hadal

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"time"
)

// server returns the URL of a real server.
func server(t *testing.T) string {
	address := os.Getenv("HADAL_TEST_URL")
	if address == "" {
		t.Fatal("HADAL_TEST_URL is the URL of a server")
	}
	return address
}

func connect(t *testing.T, address string, options Options) *Client {
	client, err := Connect(address, options)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func TestEventsAreLoggedAndQueried(t *testing.T) {
	ctx := context.Background()
	client := connect(t, server(t), Options{})
	for n := range 1_000 {
		if err := client.Log("go_events", map[string]any{"n": n, "name": "é"}, 1); err != nil {
			t.Fatal(err)
		}
	}
	if err := client.Flush(ctx); err != nil {
		t.Fatal(err)
	}
	answer, err := client.Query(ctx, "SELECT name, count(*), sum(n) FROM go_events GROUP BY name")
	if err != nil {
		t.Fatal(err)
	}
	row := answer.Rows[0]
	if row[0] != "é" || row[1] != json.Number("1000") || row[2] != json.Number("499500") {
		t.Fatalf("%v", row)
	}
	if answer.Coverage.RowsScanned != 1_000 || answer.Truncated || len(answer.Warnings) != 1 {
		t.Fatalf("%+v", answer)
	}
	rows := 0
	err = client.Rows(ctx, "SELECT n FROM go_events", func(row map[string]any) error {
		rows++
		return nil
	})
	if err != nil || rows != 1_000 {
		t.Fatal(rows, err)
	}
	_, err = client.Query(ctx, "SELECT nothing FROM go_events")
	var refused *Error
	if !errors.As(err, &refused) || refused.Status != 400 || refused.Kind != "bad-query" {
		t.Fatal(err)
	}
	if err := client.Close(ctx); err != nil || client.Counts() != (Counts{}) {
		t.Fatal(err, client.Counts())
	}
}

func TestAFullQueueDropsAndCounts(t *testing.T) {
	options := Options{QueueEvents: 100, Retry: 100 * time.Millisecond}
	client := connect(t, "http://127.0.0.1:9", options)
	for n := range 1_000 {
		_ = client.Log("t", map[string]any{"n": n}, 1)
	}
	if err := client.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	if counts := client.Counts(); counts.Dropped != 1_000 || counts.LastError == nil {
		t.Fatal(counts)
	}
}

func TestARetryHasTheSameId(t *testing.T) {
	var ids []string
	answer := func(writer http.ResponseWriter, request *http.Request) {
		ids = append(ids, request.Header.Get("Hadal-Batch"))
		if len(ids) == 1 {
			writer.WriteHeader(429)
		}
		_, _ = writer.Write([]byte(`{"rejected_count": 1}`))
	}
	fake := httptest.NewServer(http.HandlerFunc(answer))
	defer fake.Close()
	client := connect(t, fake.URL, Options{})
	_ = client.Log("t", map[string]any{"n": 1}, 1)
	if err := client.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	if len(ids) != 2 || ids[0] != ids[1] || client.Counts().Rejected != 1 {
		t.Fatal(ids, client.Counts())
	}
}

func TestAnAnswerThatBreaksOffIsAnError(t *testing.T) {
	answer := func(writer http.ResponseWriter, _ *http.Request) {
		_, _ = writer.Write([]byte("{\"n\": 1}\n"))
		writer.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
	fake := httptest.NewServer(http.HandlerFunc(answer))
	defer fake.Close()
	client := connect(t, fake.URL, Options{})
	rows := 0
	err := client.Rows(context.Background(), "SELECT n FROM t", func(map[string]any) error {
		rows++
		return nil
	})
	if err == nil || rows != 1 {
		t.Fatal(rows, err)
	}
}

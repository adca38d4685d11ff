// Package hadal logs events to a Hadal server and queries them.
package hadal

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	mathrand "math/rand"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// Options of a client; zero values mean the defaults.
type Options struct {
	// Token of the server; on loopback none is needed.
	Token string
	// QueueEvents and QueueBytes bound what waits: 100,000 and 64 MiB.
	QueueEvents, QueueBytes int
	// BatchEvents and BatchBytes bound a request: 10,000 and 4 MiB.
	BatchEvents, BatchBytes int
	// Linger is how long an event waits for others: 200 ms.
	Linger time.Duration
	// Retry is how long a batch is sent again: 60 s.
	Retry time.Duration
	// HTTP sends the requests; http.DefaultClient if it is nil.
	HTTP *http.Client
}

// Error is what a server refuses. Kind is a stable name, such as bad-query.
type Error struct {
	Status       int
	Kind, Detail string
	Hint         string
}

func (e *Error) Error() string {
	if e.Hint == "" {
		return e.Detail
	}
	return e.Detail + " (" + e.Hint + ")"
}

// Warning is something to know of an answer.
type Warning struct {
	Code, Subject, Message string
	Count                  int64
}

// Coverage says how many of the rows that should have been looked at were.
type Coverage struct {
	RowsExpected         int64   `json:"rows_expected"`
	RowsScanned          int64   `json:"rows_scanned"`
	Fraction             float64 `json:"fraction"`
	FractionIsUpperBound bool    `json:"fraction_is_upper_bound"`
}

// Column of an answer.
type Column struct{ Name, Type string }

// Answer to a query. Numbers are json.Number, or strings if a double would lose digits; times are
// strings.
type Answer struct {
	Columns  []Column
	Rows     [][]any
	Coverage Coverage
	Warnings []Warning
	// Truncated says that a limit of the server, not LIMIT, ended the rows.
	Truncated bool
}

// Counts of the events that did not become rows.
type Counts struct {
	// Dropped events were not sent: the queue was full, or the server did not take them in time.
	Dropped int64
	// Rejected events were refused one by one.
	Rejected int64
	// LastError is the last failure of a batch.
	LastError error
}

type line struct {
	table string
	text  []byte
}

// Client logs events and queries. It may be used by several goroutines.
type Client struct {
	address string
	options Options

	mutex   sync.Mutex
	queue   []line
	bytes   int
	logged  int64
	settled int64
	hurry   int64
	closed  bool
	counts  Counts
	changed chan struct{}
	stop    chan struct{}
}

// Columns that the server takes for an event's time, if it has one of them.
var times = []string{"time", "@timestamp", "timestamp", "ts", "_time", "datetime", "date",
	"eventTime", "event_time", "created_at", "t"}

// Connect returns a client of the server at this URL, such as http://127.0.0.1:4280.
func Connect(address string, options Options) (*Client, error) {
	parsed, err := url.Parse(address)
	if err != nil || parsed.Host == "" {
		return nil, fmt.Errorf("%q is not the URL of a server, such as http://127.0.0.1:4280", address)
	}
	pick := func(value *int, usual int) {
		if *value == 0 {
			*value = usual
		}
	}
	pick(&options.QueueEvents, 100_000)
	pick(&options.QueueBytes, 64<<20)
	pick(&options.BatchEvents, 10_000)
	pick(&options.BatchBytes, 4<<20)
	if options.Linger == 0 {
		options.Linger = 200 * time.Millisecond
	}
	if options.Retry == 0 {
		options.Retry = time.Minute
	}
	if options.HTTP == nil {
		options.HTTP = http.DefaultClient
	}
	client := &Client{
		address: strings.TrimRight(address, "/"),
		options: options,
		changed: make(chan struct{}),
		stop:    make(chan struct{}),
	}
	go client.run()
	return client, nil
}

// Log logs one event. It never waits: events are sent in batches, and those that find the queue full
// are dropped and counted. With a sampleRate of n, one of n events is logged, at random, and counts
// as n. It returns an error if the event cannot be JSON or is dropped.
func (c *Client) Log(table string, event map[string]any, sampleRate float64) error {
	if sampleRate < 1 {
		return fmt.Errorf("sampleRate is %v; it is 1 or more", sampleRate)
	}
	if sampleRate > 1 && mathrand.Float64()*sampleRate >= 1 {
		return nil
	}
	row := make(map[string]any, len(event)+2)
	hasTime := false
	for key, value := range event {
		row[key] = value
	}
	for _, name := range times {
		_, is := row[name]
		hasTime = hasTime || is
	}
	if !hasTime {
		row["time"] = time.Now().UTC().Format(time.RFC3339Nano)
	}
	if sampleRate > 1 {
		row["sample_rate"] = sampleRate
	}
	text, err := json.Marshal(row)
	if err != nil {
		return err
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	isFull := len(c.queue) >= c.options.QueueEvents || c.bytes+len(text) > c.options.QueueBytes
	if isFull || c.closed {
		c.counts.Dropped++
		return errors.New("the queue is full or closed; the event is dropped")
	}
	c.queue = append(c.queue, line{table, text})
	c.bytes += len(text)
	c.logged++
	if len(c.queue) == 1 || len(c.queue) == c.options.BatchEvents {
		c.wake()
	}
	return nil
}

// wake tells all who wait that something has changed. The mutex is held.
func (c *Client) wake() {
	close(c.changed)
	c.changed = make(chan struct{})
}

// Flush waits until all events that were logged before are accepted or given up.
func (c *Client) Flush(ctx context.Context) error {
	c.mutex.Lock()
	until := c.logged
	c.hurry = max(c.hurry, until)
	c.wake()
	for c.settled < until {
		changed := c.changed
		c.mutex.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
		c.mutex.Lock()
	}
	c.mutex.Unlock()
	return nil
}

// Close sends what is left until ctx is done, and drops the rest.
func (c *Client) Close(ctx context.Context) error {
	err := c.Flush(ctx)
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if !c.closed {
		c.closed = true
		close(c.stop)
		c.wake()
	}
	return err
}

// Counts returns how many events did not become rows.
func (c *Client) Counts() Counts {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.counts
}

func (c *Client) run() {
	for {
		c.mutex.Lock()
		for len(c.queue) == 0 && !c.closed {
			c.wait(nil)
		}
		if len(c.queue) == 0 {
			c.mutex.Unlock()
			return
		}
		linger := time.NewTimer(c.options.Linger)
		for c.lingers() && c.wait(linger.C) {
		}
		linger.Stop()
		batches := c.take()
		c.mutex.Unlock()
		for table, lines := range batches {
			rejected, err := c.sendBatch(table, lines)
			c.mutex.Lock()
			c.counts.Rejected += rejected
			if err != nil {
				c.counts.Dropped += int64(len(lines))
			}
			c.settled += int64(len(lines))
			c.wake()
			c.mutex.Unlock()
		}
	}
}

func (c *Client) lingers() bool {
	return len(c.queue) < c.options.BatchEvents && c.bytes < c.options.BatchBytes &&
		c.hurry <= c.settled && !c.closed
}

// wait releases the mutex until something changes; false if the time came first.
func (c *Client) wait(until <-chan time.Time) bool {
	changed := c.changed
	c.mutex.Unlock()
	defer c.mutex.Lock()
	select {
	case <-changed:
		return true
	case <-until:
		return false
	}
}

// take returns the lines of the next requests, by table.
func (c *Client) take() map[string][][]byte {
	batches := map[string][][]byte{}
	count, size := 0, 0
	for _, next := range c.queue {
		if count >= c.options.BatchEvents || size >= c.options.BatchBytes {
			break
		}
		batches[next.table] = append(batches[next.table], next.text)
		count++
		size += len(next.text)
	}
	c.queue = append([]line(nil), c.queue[count:]...)
	c.bytes -= size
	return batches
}

// sendBatch sends a batch, with the same id and the same bytes until the server answers.
func (c *Client) sendBatch(table string, lines [][]byte) (int64, error) {
	id := make([]byte, 16)
	if _, err := rand.Read(id); err != nil {
		return 0, err
	}
	headers := map[string]string{
		"Hadal-Batch": hex.EncodeToString(id), "Content-Type": "application/x-ndjson",
	}
	body := append(bytes.Join(lines, []byte("\n")), '\n')
	giveUp := time.Now().Add(c.options.Retry)
	for pause := 50 * time.Millisecond; ; pause = min(2*pause, 5*time.Second) {
		response, err := c.send(context.Background(), "/v1/log/"+url.PathEscape(table), body, headers)
		if err == nil {
			var receipt struct {
				Rejected int64 `json:"rejected_count"`
			}
			err = json.NewDecoder(response.Body).Decode(&receipt)
			response.Body.Close()
			if err == nil {
				return receipt.Rejected, nil
			}
		}
		c.mutex.Lock()
		c.counts.LastError = err
		c.mutex.Unlock()
		var refused *Error
		isFinal := errors.As(err, &refused) && refused.Status != 408 && refused.Status != 429 &&
			refused.Status < 500
		if isFinal || time.Now().After(giveUp) {
			return 0, err
		}
		select {
		case <-time.After(min(pause, time.Until(giveUp))):
		case <-c.stop:
			return 0, err
		}
	}
}

// Query returns the answer to one statement, of at most 100,000 rows.
func (c *Client) Query(ctx context.Context, sql string) (*Answer, error) {
	response, err := c.ask(ctx, "application/json", sql)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	answer := &Answer{}
	decoder := json.NewDecoder(response.Body)
	decoder.UseNumber()
	if err := decoder.Decode(answer); err != nil {
		return nil, err
	}
	for _, warning := range answer.Warnings {
		answer.Truncated = answer.Truncated || warning.Code == "limit_reached"
	}
	return answer, nil
}

// Rows calls each with the rows of an answer as they come: up to 10,000,000 if LIMIT asks for them
// and they are in the order of time. An error of each stops the query, and is returned; so is an
// error when the answer breaks off.
func (c *Client) Rows(ctx context.Context, sql string, each func(map[string]any) error) error {
	response, err := c.ask(ctx, "application/x-ndjson", sql)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	decoder := json.NewDecoder(bufio.NewReaderSize(response.Body, 1<<16))
	decoder.UseNumber()
	for {
		var row map[string]any
		err := decoder.Decode(&row)
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = each(row)
		}
		if err != nil {
			return err
		}
	}
}

func (c *Client) ask(ctx context.Context, accept, sql string) (*http.Response, error) {
	body, err := json.Marshal(map[string]string{"sql": sql})
	if err != nil {
		return nil, err
	}
	headers := map[string]string{"Accept": accept, "Content-Type": "application/json"}
	return c.send(ctx, "/v1/query", body, headers)
}

func (c *Client) send(
	ctx context.Context, path string, body []byte, headers map[string]string,
) (*http.Response, error) {
	address := c.address + path
	request, err := http.NewRequestWithContext(ctx, "POST", address, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("User-Agent", "hadal-go")
	for name, value := range headers {
		request.Header.Set(name, value)
	}
	if c.options.Token != "" {
		request.Header.Set("Authorization", "Bearer "+c.options.Token)
	}
	response, err := c.options.HTTP.Do(request)
	if err != nil || response.StatusCode < 400 {
		return response, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	if err != nil {
		return nil, err
	}
	var problem struct{ Type, Detail, Hint string }
	if json.Unmarshal(text, &problem) != nil || problem.Detail == "" {
		problem.Detail = response.Status
	}
	kind := problem.Type[strings.LastIndex(problem.Type, ":")+1:]
	return nil, &Error{response.StatusCode, kind, problem.Detail, problem.Hint}
}

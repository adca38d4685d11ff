package io.hadal;

import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;

/** A client of Hadal: logs events, and queries them. May be used by several threads. */
public final class Hadal implements AutoCloseable {
    /** What a server refuses. {@code kind} is a stable name, such as {@code bad-query}. */
    public static final class Refused extends IOException {
        public final int status;
        public final String kind;
        public final String detail;
        public final String hint;

        Refused(int status, Map<?, ?> problem) {
            super(problem.get("detail") + (problem.get("hint") == null ? "" : " (" + problem.get("hint") + ")"));
            this.status = status;
            String type = String.valueOf(problem.get("type"));
            this.kind = type.substring(type.lastIndexOf(':') + 1);
            this.detail = String.valueOf(problem.get("detail"));
            this.hint = (String) problem.get("hint");
        }
    }

    /**
     * An answer. Numbers are BigDecimal, or strings if a double would lose digits; times are strings.
     * {@code truncated} says that a limit of the server, not LIMIT, ended the rows.
     */
    public record Answer(
            List<String> columns,
            List<List<Object>> rows,
            Map<String, Object> coverage,
            List<Map<String, Object>> warnings,
            boolean truncated) {}

    /** What bounds the queue, a request, the waiting for others, and the sending again. */
    public record Options(
            String token, int queueEvents, int queueBytes, int batchEvents, int batchBytes,
            Duration linger, Duration retry) {
        public static Options usual() {
            return new Options(
                    null, 100_000, 64 << 20, 10_000, 4 << 20, Duration.ofMillis(200), Duration.ofSeconds(60));
        }
    }

    private record Line(String table, byte[] text) {}

    /** Columns that the server takes for an event's time, if it has one of them. */
    private static final Set<String> TIMES = Set.of(
            "time", "@timestamp", "timestamp", "ts", "_time", "datetime", "date", "eventTime",
            "event_time", "created_at", "t");
    private static final Set<Integer> RETRIED = Set.of(408, 429, 500, 502, 503, 504);

    private final String address;
    private final Options options;
    private final HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final Thread sender = new Thread(this::run, "hadal-log");
    // All below is guarded by this object.
    private final ArrayDeque<Line> queue = new ArrayDeque<>();
    private long bytes;
    private long logged;
    private long settled;
    private long hurry;
    private boolean closed;
    private long dropped;
    private long rejected;
    private Exception lastError;

    private Hadal(String address, Options options) {
        this.address = address.replaceAll("/$", "");
        this.options = options;
        sender.setDaemon(true);
        sender.start();
    }

    /** A client of the server at this URL, such as {@code http://127.0.0.1:4280}. */
    public static Hadal connect(String address) {
        return connect(address, Options.usual());
    }

    public static Hadal connect(String address, Options options) {
        return new Hadal(address, options);
    }

    public boolean log(String table, Map<String, ?> event) {
        return log(table, event, 1);
    }

    /**
     * Logs one event. Never waits: events are sent in batches, and those that find the queue full are
     * dropped and counted. With a sampleRate of n, one of n events is logged, at random, and counts as
     * n. Returns whether the event will be sent, or is left out by sampling.
     */
    public boolean log(String table, Map<String, ?> event, double sampleRate) {
        if (!(sampleRate >= 1)) {
            throw new IllegalArgumentException("sampleRate is " + sampleRate + "; it is 1 or more");
        }
        if (sampleRate > 1 && ThreadLocalRandom.current().nextDouble() * sampleRate >= 1) {
            return true;
        }
        Map<String, Object> row = new LinkedHashMap<>(event);
        if (row.keySet().stream().noneMatch(TIMES::contains)) {
            row.put("time", Instant.now().toString());
        }
        if (sampleRate > 1) {
            row.put("sample_rate", sampleRate);
        }
        byte[] text = Json.write(row).getBytes(StandardCharsets.UTF_8);
        synchronized (this) {
            boolean isFull = queue.size() >= options.queueEvents || bytes + text.length > options.queueBytes;
            if (isFull || closed) {
                dropped++;
                return false;
            }
            queue.add(new Line(table, text));
            bytes += text.length;
            logged++;
            if (queue.size() == 1 || queue.size() == options.batchEvents) {
                notifyAll();
            }
        }
        return true;
    }

    /** Events that were not sent: the queue was full, or the server did not take them in time. */
    public synchronized long dropped() {
        return dropped;
    }

    /** Events that the server refused one by one; its table _rejects has the reasons. */
    public synchronized long rejected() {
        return rejected;
    }

    /** The last failure of a batch, or null. */
    public synchronized Exception lastError() {
        return lastError;
    }

    /** Waits until all events that were logged before are accepted or given up; whether in time. */
    public synchronized boolean flush(Duration timeout) throws InterruptedException {
        long until = logged;
        hurry = Math.max(hurry, until);
        notifyAll();
        long end = System.nanoTime() + timeout.toNanos();
        while (settled < until) {
            long left = (end - System.nanoTime()) / 1_000_000;
            if (left <= 0) {
                return false;
            }
            wait(left);
        }
        return true;
    }

    /** Sends what is left, for at most ten seconds, and drops the rest. */
    @Override
    public void close() {
        try {
            flush(Duration.ofSeconds(10));
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
        synchronized (this) {
            closed = true;
            notifyAll();
        }
    }

    private void run() {
        try {
            while (true) {
                Map<String, List<byte[]>> batches;
                synchronized (this) {
                    while (queue.isEmpty() && !closed) {
                        wait();
                    }
                    if (queue.isEmpty()) {
                        return;
                    }
                    long end = System.nanoTime() + options.linger.toNanos();
                    long left = options.linger.toMillis();
                    while (left > 0 && queue.size() < options.batchEvents && bytes < options.batchBytes
                            && hurry <= settled && !closed) {
                        wait(left);
                        left = (end - System.nanoTime()) / 1_000_000;
                    }
                    batches = take();
                }
                for (Map.Entry<String, List<byte[]>> batch : batches.entrySet()) {
                    boolean isTaken = sendBatch(batch.getKey(), batch.getValue());
                    synchronized (this) {
                        dropped += isTaken ? 0 : batch.getValue().size();
                        settled += batch.getValue().size();
                        notifyAll();
                    }
                }
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** The lines of the next requests, by table. */
    private Map<String, List<byte[]>> take() {
        Map<String, List<byte[]>> batches = new LinkedHashMap<>();
        long size = 0;
        for (int count = 0; count < options.batchEvents && size < options.batchBytes; count++) {
            Line line = queue.poll();
            if (line == null) {
                break;
            }
            batches.computeIfAbsent(line.table, table -> new ArrayList<>()).add(line.text);
            size += line.text.length;
        }
        bytes -= size;
        return batches;
    }

    /** Sends a batch, with the same id and bytes until the server answers; whether it was taken. */
    private boolean sendBatch(String table, List<byte[]> lines) throws InterruptedException {
        StringBuilder text = new StringBuilder();
        lines.forEach(line -> text.append(new String(line, StandardCharsets.UTF_8)).append('\n'));
        String path = "/v1/log/" + URLEncoder.encode(table, StandardCharsets.UTF_8).replace("+", "%20");
        HttpRequest request = request(path, text.toString())
                .header("Hadal-Batch", UUID.randomUUID().toString())
                .header("Content-Type", "application/x-ndjson")
                .build();
        long giveUp = System.nanoTime() + options.retry.toNanos();
        for (long pause = 50; ; pause = Math.min(2 * pause, 5_000)) {
            Exception failure;
            try (InputStream body = send(request)) {
                Map<?, ?> receipt = (Map<?, ?>) Json.read(new String(body.readAllBytes(), StandardCharsets.UTF_8));
                synchronized (this) {
                    rejected += receipt.get("rejected_count") instanceof Number count ? count.longValue() : 0;
                }
                return true;
            } catch (IOException | RuntimeException error) {
                failure = error;
            }
            long left = (giveUp - System.nanoTime()) / 1_000_000;
            synchronized (this) {
                lastError = failure;
                boolean isFinal = failure instanceof Refused refused && !RETRIED.contains(refused.status);
                if (isFinal || left <= 0 || closed) {
                    return false;
                }
                long end = System.nanoTime() + Math.min(pause, left) * 1_000_000;
                for (long rest = Math.min(pause, left); rest > 0 && !closed; ) {
                    wait(rest);
                    rest = (end - System.nanoTime()) / 1_000_000;
                }
            }
        }
    }

    /** The answer to one statement, of at most 100,000 rows. */
    @SuppressWarnings("unchecked")
    public Answer query(String sql) throws IOException, InterruptedException {
        try (InputStream body = ask("application/json", sql)) {
            Map<String, Object> answer =
                    (Map<String, Object>) Json.read(new String(body.readAllBytes(), StandardCharsets.UTF_8));
            List<Map<String, Object>> columns = (List<Map<String, Object>>) answer.get("columns");
            List<Map<String, Object>> warnings = (List<Map<String, Object>>) answer.get("warnings");
            return new Answer(
                    columns.stream().map(column -> (String) column.get("name")).toList(),
                    (List<List<Object>>) answer.get("rows"),
                    (Map<String, Object>) answer.get("coverage"),
                    warnings,
                    warnings.stream().anyMatch(warning -> "limit_reached".equals(warning.get("code"))));
        }
    }

    /**
     * The answer to one statement in a format such as {@code text/csv},
     * {@code application/vnd.apache.arrow.stream} or {@code application/vnd.apache.parquet}, as it
     * comes: up to 10,000,000 rows if LIMIT asks for them and they are in the order of time. Closing
     * the stream stops the query. Reading fails when the answer breaks off.
     */
    public InputStream ask(String accept, String sql) throws IOException, InterruptedException {
        String body = Json.write(Map.of("sql", sql));
        HttpRequest.Builder request = request("/v1/query", body);
        return send(request.header("Accept", accept).header("Content-Type", "application/json").build());
    }

    private HttpRequest.Builder request(String path, String body) {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(address + path))
                .header("User-Agent", "hadal-java")
                .POST(HttpRequest.BodyPublishers.ofString(body));
        return options.token == null ? request : request.header("Authorization", "Bearer " + options.token);
    }

    private InputStream send(HttpRequest request) throws IOException, InterruptedException {
        HttpResponse<InputStream> response = http.send(request, HttpResponse.BodyHandlers.ofInputStream());
        if (response.statusCode() < 400) {
            return response.body();
        }
        String text = new String(response.body().readAllBytes(), StandardCharsets.UTF_8);
        Object problem;
        try {
            problem = Json.read(text);
        } catch (RuntimeException notJson) {
            problem = null;
        }
        Map<?, ?> fields = problem instanceof Map<?, ?> map ? map : Map.of("detail", text);
        throw new Refused(response.statusCode(), fields);
    }
}

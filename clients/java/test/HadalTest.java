import io.hadal.Hadal;
import java.io.InputStream;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Uses the Java client against a real server: HadalTest URL. */
public final class HadalTest {
    private static void check(boolean truth, Object what) {
        if (!truth) {
            throw new AssertionError(what);
        }
    }

    public static void main(String[] arguments) throws Exception {
        String url = arguments[0];
        try (Hadal db = Hadal.connect(url)) {
            for (int n = 0; n < 1_000; n++) {
                check(db.log("java_events", Map.of("n", n, "name", "é\"\n", "tags", Set.of("x", "y"))), n);
            }
            check(db.flush(Duration.ofSeconds(60)), "flushed");
            check(db.dropped() == 0 && db.rejected() == 0, db.lastError());
            Hadal.Answer answer =
                    db.query("SELECT name, tags, count(*) AS c FROM java_events GROUP BY name, tags");
            check(answer.columns().equals(List.of("name", "tags", "c")), answer);
            List<Object> row = List.of("é\"\n", List.of("x", "y"), new BigDecimal(1_000));
            check(answer.rows().equals(List.of(row)), answer);
            check(answer.coverage().get("rows_scanned").equals(new BigDecimal(1_000)), answer);
            check(!answer.truncated() && answer.warnings().size() == 1, answer);
            try (InputStream csv = db.ask("text/csv", "SELECT n FROM java_events ORDER BY n LIMIT 2")) {
                String text = new String(csv.readAllBytes(), StandardCharsets.UTF_8);
                check(text.equals("n\n0\n1\n"), text);
            }
            try {
                db.query("SELECT nothing FROM java_events");
                throw new AssertionError("a query of an unknown column");
            } catch (Hadal.Refused refused) {
                check(refused.status == 400 && refused.kind.equals("bad-query"), refused);
            }
        }
        Hadal.Options options = new Hadal.Options(
                null, 100, 1 << 20, 10, 1 << 20, Duration.ofMillis(10), Duration.ofMillis(100));
        Hadal nobody = Hadal.connect("http://127.0.0.1:9", options);
        for (int n = 0; n < 1_000; n++) {
            nobody.log("t", Map.of("n", n));
        }
        nobody.close();
        check(nobody.flush(Duration.ofSeconds(60)), "settled");
        check(nobody.dropped() == 1_000 && nobody.lastError() != null, nobody.dropped());
        System.out.println("fine");
    }
}

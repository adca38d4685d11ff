// pgJDBC against a server with the rows of crates/hadal/tests/cli/postgres_clients.rs.
// usage: java -cp postgresql.jar Client.java HOST PORT

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.sql.Timestamp;
import java.sql.Types;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

public final class Client {
    private static final OffsetDateTime FIRST = OffsetDateTime.of(2026, 11, 20, 10, 0, 0, 0, ZoneOffset.UTC);

    public static void main(String[] arguments) throws SQLException {
        String url = "jdbc:postgresql://" + arguments[0] + ":" + arguments[1] + "/hadal?user=me";
        try (Connection connection = DriverManager.getConnection(url)) {
            describes(connection);
            reads(connection);
            readsInParts(connection);
            fails(connection);
            writes(connection);
        }
        System.out.println("fine");
    }

    private static void same(Object actual, Object expected) {
        if (!Objects.equals(actual, expected)) {
            throw new AssertionError(actual + ", expected " + expected);
        }
    }

    private static void describes(Connection connection) throws SQLException {
        try (ResultSet tables = connection.getMetaData().getTables(null, "public", "%", new String[] {"TABLE"})) {
            List<String> names = new ArrayList<>();
            while (tables.next()) {
                names.add(tables.getString("TABLE_NAME"));
            }
            // Self tables appear with their first rows.
            names.removeIf(name -> name.startsWith("_"));
            same(names, List.of("requests"));
        }
        try (ResultSet columns = connection.getMetaData().getColumns(null, "public", "requests", "%")) {
            List<String> names = new ArrayList<>();
            while (columns.next()) {
                names.add(columns.getString("COLUMN_NAME") + ":" + columns.getString("TYPE_NAME"));
            }
            same(names, List.of("time:timestamptz", "host:text", "ms:numeric", "ok:bool", "status:numeric", "tags:_text"));
        }
        try (ResultSet keys = connection.getMetaData().getPrimaryKeys(null, "public", "requests")) {
            same(keys.next(), false);
        }
        try (ResultSet schemas = connection.getMetaData().getSchemas()) {
            List<String> names = new ArrayList<>();
            while (schemas.next()) {
                names.add(schemas.getString("TABLE_SCHEM"));
            }
            same(names.contains("public"), true);
        }
    }

    private static void reads(Connection connection) throws SQLException {
        String sql = "SELECT time, host, ok, status, tags, ms FROM requests WHERE status >= ? AND time >= ? ORDER BY time";
        // After five runs the driver prepares the statement, and asks for binary values.
        for (int run = 0; run < 8; run++) {
            try (PreparedStatement statement = connection.prepareStatement(sql)) {
                statement.setInt(1, 200);
                statement.setObject(2, FIRST);
                try (ResultSet rows = statement.executeQuery()) {
                    same(rows.next(), true);
                    same(rows.getObject(1, OffsetDateTime.class).toInstant(), FIRST.toInstant());
                    same(rows.getString(2), "a");
                    same(rows.getBoolean(3), true);
                    same(rows.getLong(4), 200L);
                    same(Arrays.asList((String[]) rows.getArray(5).getArray()), List.of("x", "y"));
                    same(rows.getDouble(6), 1.5);
                    same(rows.next(), true);
                    same(rows.getArray(5), null);
                    same(rows.next() && !rows.next(), true);
                }
            }
        }
        try (PreparedStatement statement = connection.prepareStatement("SELECT host FROM requests WHERE host = ANY(?)")) {
            statement.setArray(1, connection.createArrayOf("text", new String[] {"b", "c"}));
            try (ResultSet rows = statement.executeQuery()) {
                same(rows.getMetaData().getColumnType(1), Types.VARCHAR);
                same(rows.next(), true);
                same(rows.getString(1), "b");
            }
        }
    }

    /** A portal of the protocol: rows come two at a time. */
    private static void readsInParts(Connection connection) throws SQLException {
        connection.setAutoCommit(false);
        try (Statement statement = connection.createStatement()) {
            statement.setFetchSize(2);
            int count = 0;
            try (ResultSet rows = statement.executeQuery("SELECT host, ms FROM requests ORDER BY ms")) {
                while (rows.next()) {
                    count++;
                }
            }
            same(count, 3);
            statement.setFetchSize(0);
            statement.setMaxRows(1);
            try (ResultSet rows = statement.executeQuery("SELECT host FROM requests")) {
                same(rows.next() && !rows.next(), true);
            }
        }
        connection.commit();
        connection.setAutoCommit(true);
    }

    private static void fails(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.executeQuery("SELECT nope FROM requests");
            throw new AssertionError("there is no such column");
        } catch (SQLException failure) {
            same(failure.getSQLState(), "42703");
        }
    }

    private static void writes(Connection connection) throws SQLException {
        try (PreparedStatement insert = connection.prepareStatement("INSERT INTO logged (time, host, n) VALUES (?, ?, ?)")) {
            for (int n = 0; n < 3; n++) {
                insert.setTimestamp(1, Timestamp.from(Instant.parse("2026-11-20T10:00:00Z")));
                insert.setString(2, "it's");
                insert.setInt(3, n);
                insert.addBatch();
            }
            same(insert.executeBatch().length, 3);
        }
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("SELECT count(*), sum(n), max(time) FROM logged")) {
            same(rows.next(), true);
            same(rows.getLong(1), 3L);
            same(rows.getLong(2), 3L);
            same(rows.getTimestamp(3).toInstant(), FIRST.toInstant());
        }
        try (Statement statement = connection.createStatement()) {
            statement.execute("DROP TABLE logged");
        }
    }
}

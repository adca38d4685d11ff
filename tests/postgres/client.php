<?php
// PDO against a server with the rows of crates/hadal/tests/cli/postgres_clients.rs.
// usage: php client.php HOST PORT

declare(strict_types=1);

function same(mixed $actual, mixed $expected): void
{
    if ($actual !== $expected) {
        throw new RuntimeException(var_export($actual, true) . ", expected " . var_export($expected, true));
    }
}

[, $host, $port] = $argv;
$client = new PDO("pgsql:host=$host;port=$port;dbname=hadal", "me", "", [PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION]);

$all = $client->query("SELECT host, status, ok, ms, time FROM requests ORDER BY time")->fetchAll(PDO::FETCH_NUM);
same(count($all), 3);
same($all[0], ["a", 200, true, "1.5", "2026-11-20 10:00:00+00"]);

// PDO prepares on the server.
$statement = $client->prepare("SELECT host, count(*) AS n FROM requests WHERE status >= :least AND host = :host GROUP BY host");
foreach ([[200, "2"], [500, "1"]] as [$least, $count]) {
    $statement->execute(["least" => $least, "host" => "a"]);
    same($statement->fetchAll(PDO::FETCH_ASSOC), [["host" => "a", "n" => (int) $count]]);
}

try {
    $client->query("SELECT nope FROM requests");
    throw new RuntimeException("there is no such column");
} catch (PDOException $failure) {
    same($failure->getCode(), "42703");
}

$client->beginTransaction();
// PDO sends each value as text without a type.
$insert = $client->prepare("INSERT INTO logged (time, host, n) VALUES (?, ?, ?)");
foreach ([1, 2] as $n) {
    $insert->execute(["2026-11-20 10:00:00+00", "it's", $n]);
}
$client->commit();
same($client->query("SELECT count(*), sum(n) FROM logged")->fetch(PDO::FETCH_NUM), [2, 3]);
$client->exec("DROP TABLE logged");
echo "fine\n";

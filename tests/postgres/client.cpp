// libpqxx against a server with the rows of crates/hadal/tests/cli/postgres_clients.rs.
// usage: client HOST PORT

#include <iostream>
#include <pqxx/pqxx>
#include <stdexcept>
#include <string>

template <typename Actual, typename Expected>
void same(const Actual &actual, const Expected &expected, const char *what) {
    if (!(actual == expected)) {
        throw std::logic_error(std::string("another value of ") + what);
    }
}

int main(int, char **arguments) {
    pqxx::connection client(std::string("host=") + arguments[1] + " port=" + arguments[2] + " user=me dbname=hadal");
    {
        pqxx::work transaction(client);
        const pqxx::result rows = transaction.exec("SELECT host, status, ok, ms FROM requests ORDER BY time");
        same(rows.size(), 3, "rows");
        same(rows[0][0].as<std::string>(), "a", "host");
        same(rows[0][1].as<long>(), 200L, "status");
        same(rows[0][2].as<bool>(), true, "ok");
        same(rows[0][3].as<double>(), 1.5, "ms");
        const pqxx::result counted =
            transaction.exec_params("SELECT count(*) FROM requests WHERE host = $1 AND status >= $2", "a", 200);
        same(counted[0][0].as<long>(), 2L, "count");
        transaction.commit();
    }
    client.prepare("of-status", "SELECT count(*) FROM requests WHERE status = $1");
    {
        pqxx::nontransaction each(client);
        same(each.exec_prepared1("of-status", 200)[0].as<long>(), 2L, "prepared");
        try {
            each.exec("SELECT nope FROM requests");
            throw std::logic_error("there is no such column");
        } catch (const pqxx::undefined_column &failure) {
            same(std::string(failure.sqlstate()), "42703", "the SQLSTATE");
        }
    }
    {
        pqxx::work transaction(client);
        transaction.exec_params0("INSERT INTO logged (time, host, n) VALUES ($1, $2, $3)", "2026-11-20 10:00:00+00", "it's", 7);
        transaction.exec_params0("INSERT INTO logged (time, host, n) VALUES (now(), $1, $2)", "b\tc", 8);
        transaction.commit();
    }
    pqxx::nontransaction last(client);
    same(last.exec1("SELECT sum(n) FROM logged")[0].as<long>(), 15L, "sum");
    last.exec0("DROP TABLE logged");
    std::cout << "fine\n";
}

//! Fills the catalog's tables from the schemas of the front.

use std::sync::Arc;

use hadal_frontend::{NumberClass, type_of};
use hadal_types::{ColumnSchema, TableSchema};
use rusqlite::{Connection, params};

use super::names::{OWNER, PUBLIC, TYPES, table_oid, type_name};
use super::session_facts::SessionFacts;
use crate::column_type::ColumnType;

/// The number of schema `pg_catalog`.
const PG_CATALOG: i64 = 11;
/// The number of schema `information_schema`.
const INFORMATION_SCHEMA: i64 = 13_000;
/// The number of the only database.
const DATABASE: i64 = 5;
/// The collation of texts.
const COLLATION: i64 = 100;

/// Fills the tables.
pub(super) fn fill(
    connection: &Connection,
    schemas: &[Arc<TableSchema>],
    facts: &SessionFacts,
) -> rusqlite::Result<()> {
    connection.execute_batch("BEGIN")?;
    fill_schemas(connection, facts)?;
    fill_types(connection)?;
    for schema in schemas {
        fill_table(connection, schema, facts)?;
    }
    let mut setting = connection.prepare(
        "INSERT INTO pg_settings (name, setting, reset_val, vartype, context, source)
         VALUES (?1, ?2, ?2, 'string', 'user', 'default')",
    )?;
    for (name, value) in &facts.settings {
        setting.execute(params![name, value])?;
    }
    connection.execute_batch("COMMIT")
}

fn fill_schemas(connection: &Connection, facts: &SessionFacts) -> rusqlite::Result<()> {
    let SessionFacts { database, user, .. } = facts;
    for (oid, name) in
        [(PG_CATALOG, "pg_catalog"), (PUBLIC, "public"), (INFORMATION_SCHEMA, "information_schema")]
    {
        connection.execute(
            "INSERT INTO pg_namespace VALUES (?1, ?2, ?3, NULL)",
            params![oid, name, OWNER],
        )?;
        connection.execute(
            "INSERT INTO information_schema.schemata VALUES (?1, ?2, ?3)",
            params![database, name, user],
        )?;
    }
    connection.execute(
        "INSERT INTO pg_database (oid, datname, datdba, encoding, datlocprovider, datistemplate,
           datallowconn, datconnlimit, dattablespace, datcollate, datctype)
         VALUES (?1, ?2, ?3, 6, 'c', 0, 1, -1, 1663, 'C', 'C')",
        params![DATABASE, database, OWNER],
    )?;
    connection.execute(
        "INSERT INTO pg_roles VALUES (?1, ?2, 1, 1, 0, 0, 1, 0, -1, NULL, NULL, 1, NULL)",
        params![OWNER, user],
    )?;
    connection.execute_batch(
        "INSERT INTO pg_am VALUES (2, 'heap', 'heap_tableam_handler', 't');
         INSERT INTO pg_tablespace VALUES (1663, 'pg_default');
         INSERT INTO pg_collation VALUES (100, 'default', 11, 'd', 1);
         INSERT INTO pg_language VALUES (12, 'internal');",
    )
}

fn fill_types(connection: &Connection) -> rusqlite::Result<()> {
    let mut insert = connection.prepare(
        "INSERT INTO pg_type (oid, typname, typnamespace, typowner, typlen, typbyval, typtype,
           typcategory, typispreferred, typisdefined, typdelim, typrelid, typelem, typarray,
           typinput, typoutput, typnotnull, typbasetype, typtypmod, typndims, typcollation)
         VALUES (?1, ?2, 11, 10, ?3, ?4, 'b', ?5, 0, 1, ',', 0, ?6, ?7, ?8, ?8, 0, 0, -1, 0, ?9)",
    )?;
    for (oid, name, length, category, array, _) in TYPES {
        let is_array = category == "A";
        let input = if is_array { "array_in".to_owned() } else { format!("{name}in") };
        let element = if is_array { i64::from(ColumnType::Text.oid()) } else { 0 };
        let collation = if category == "S" { COLLATION } else { 0 };
        insert.execute(params![
            oid,
            name,
            length,
            (1..=8).contains(&length),
            category,
            element,
            array,
            input,
            collation
        ])?;
        // Arrays of the other types.
        if array != 0 && !TYPES.iter().any(|(other, ..)| *other == array) {
            insert.execute(params![
                array,
                format!("_{name}"),
                -1,
                false,
                "A",
                oid,
                0,
                "array_in",
                collation
            ])?;
        }
    }
    Ok(())
}

fn fill_table(
    connection: &Connection,
    schema: &TableSchema,
    facts: &SessionFacts,
) -> rusqlite::Result<()> {
    let SessionFacts { database, user, .. } = facts;
    let name = schema.name.as_str();
    let oid = table_oid(name);
    let rows = i64::try_from(schema.rows).unwrap_or(i64::MAX);
    connection
        .prepare_cached(
            "INSERT INTO pg_class (oid, relname, relnamespace, reltype, reloftype, relowner, relam,
           relfilenode, reltablespace, relpages, reltuples, relallvisible, reltoastrelid,
           relhasindex, relisshared, relpersistence, relkind, relnatts, relchecks, relhasrules,
           relhastriggers, relhassubclass, relrowsecurity, relforcerowsecurity, relispopulated,
           relreplident, relispartition, relrewrite, relhasoids)
         VALUES (?1, ?2, ?3, 0, 0, ?4, 2, ?1, 0, 0, ?5, 0, 0, 0, 0, 'p', 'r', ?6, 0, 0, 0, 0, 0, 0,
           1, 'd', 0, 0, 0)",
        )?
        .execute(params![oid, name, PUBLIC, OWNER, rows, schema.columns.len()])?;
    connection
        .prepare_cached("INSERT INTO pg_tables VALUES ('public', ?1, ?2, NULL, 0, 0, 0, 0)")?
        .execute(params![name, user])?;
    connection
        .prepare_cached("INSERT INTO pg_stat_user_tables VALUES (?1, 'public', ?2, ?3)")?
        .execute(params![oid, name, rows])?;
    connection
        .prepare_cached(
            "INSERT INTO information_schema.tables
             VALUES (?1, 'public', ?2, 'BASE TABLE', 'YES', 'NO')",
        )?
        .execute(params![database, name])?;
    // The time column comes first, as in `SELECT *`.
    let is_time = |column: &&ColumnSchema| column.name == schema.time_column;
    let columns = schema.columns.iter().filter(is_time);
    let columns = columns.chain(schema.columns.iter().filter(|column| !is_time(column)));
    for (index, column) in columns.enumerate() {
        let number = i64::try_from(index + 1).unwrap_or(i64::MAX);
        fill_column(connection, (database, name, oid), column, number)?;
    }
    Ok(())
}

fn fill_column(
    connection: &Connection,
    (database, table, table_oid): (&str, &str, i64),
    column: &ColumnSchema,
    number: i64,
) -> rusqlite::Result<()> {
    let column_type = ColumnType::in_advance(type_of(column), NumberClass::Any);
    let oid = i64::from(column_type.oid());
    let name = column.name.as_str();
    let udt =
        TYPES.iter().find(|(type_oid, ..)| *type_oid == oid).map_or("", |(_, name, ..)| *name);
    let collation = if column_type == ColumnType::Text { COLLATION } else { 0 };
    connection
        .prepare_cached(
            "INSERT INTO pg_attribute (attrelid, attname, atttypid, attlen, attnum, attcacheoff,
               atttypmod, attndims, attbyval, attalign, attstorage, attcompression, attnotnull,
               atthasdef, atthasmissing, attidentity, attgenerated, attisdropped, attislocal,
               attinhcount, attstattarget, attcollation)
             VALUES (?1, ?2, ?3, ?4, ?5, -1, -1, ?6, ?7, 'i', 'x', '', 0, 0, 0, '', '', 0, 1, 0, -1,
               ?8)",
        )?
        .execute(params![
            table_oid,
            name,
            oid,
            column_type.length(),
            number,
            column_type == ColumnType::TextArray,
            column_type.length() > 0,
            collation
        ])?;
    let data_type = match column_type {
        ColumnType::TextArray => "ARRAY",
        _ => type_name(oid),
    };
    connection
        .prepare_cached(
            "INSERT INTO information_schema.columns (table_catalog, table_schema, table_name,
               column_name, ordinal_position, is_nullable, data_type, datetime_precision,
               udt_catalog, udt_schema, udt_name, dtd_identifier, is_identity, is_generated,
               is_updatable)
             VALUES (?1, 'public', ?2, ?3, ?4, 'YES', ?5, ?6, ?1, 'pg_catalog', ?7, ?4, 'NO',
               'NEVER', 'NO')",
        )?
        .execute(params![
            database,
            table,
            name,
            number,
            data_type,
            (column_type == ColumnType::Timestamptz).then_some(6),
            udt
        ])?;
    Ok(())
}

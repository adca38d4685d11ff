//! Names and texts as PostgreSQL's catalog has them.

/// The number of the only role.
pub(crate) const OWNER: i64 = 10;
/// The number of schema `public`.
pub(crate) const PUBLIC: i64 = 2_200;

/// The name of a column of an answer. PostgreSQL names a call by its function, where SQLite takes
/// the text.
pub(crate) fn column_name(text: &str) -> String {
    let is_name = |name: &str| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    match text.split_once('(') {
        Some((function, _)) if text.ends_with(')') && is_name(function) => {
            function.to_ascii_lowercase()
        }
        _ => text.to_owned(),
    }
}

/// The name of a type of PostgreSQL by its number.
pub(crate) fn type_name(oid: i64) -> &'static str {
    TYPES.iter().find(|(type_oid, ..)| *type_oid == oid).map_or("???", |(.., shown)| *shown)
}

/// Types: number, name, length, category, the type of arrays of it, and the name that people see.
pub(crate) const TYPES: [(i64, &str, i64, &str, i64, &str); 22] = [
    (16, "bool", 1, "B", 1000, "boolean"),
    (17, "bytea", -1, "U", 1001, "bytea"),
    (18, "char", 1, "Z", 1002, "\"char\""),
    (19, "name", 64, "S", 1003, "name"),
    (20, "int8", 8, "N", 1016, "bigint"),
    (21, "int2", 2, "N", 1005, "smallint"),
    (23, "int4", 4, "N", 1007, "integer"),
    (25, "text", -1, "S", 1009, "text"),
    (26, "oid", 4, "N", 1028, "oid"),
    (114, "json", -1, "U", 199, "json"),
    (700, "float4", 4, "N", 1021, "real"),
    (701, "float8", 8, "N", 1022, "double precision"),
    (1009, "_text", -1, "A", 0, "text[]"),
    (1042, "bpchar", -1, "S", 1014, "character"),
    (1043, "varchar", -1, "S", 1015, "character varying"),
    (1082, "date", 4, "D", 1182, "date"),
    (1114, "timestamp", 8, "D", 1115, "timestamp without time zone"),
    (1184, "timestamptz", 8, "D", 1185, "timestamp with time zone"),
    (1186, "interval", 16, "T", 1187, "interval"),
    (1700, "numeric", -1, "N", 1231, "numeric"),
    (2205, "regclass", 4, "N", 2210, "regclass"),
    (3802, "jsonb", -1, "U", 3807, "jsonb"),
];

/// The number of a table, the same as long as the table has its name, in the range of user tables.
pub(crate) fn table_oid(name: &str) -> i64 {
    const FIRST: u32 = 16_384;
    // FNV-1a, 32 bits.
    let hash = name
        .bytes()
        .fold(2_166_136_261_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(16_777_619));
    i64::from(FIRST + hash % (i32::MAX.unsigned_abs() - FIRST))
}

/// `{a,b}`.
pub(crate) fn array_text(elements: &[String]) -> String {
    format!("{{{}}}", elements.join(","))
}

/// The elements of `{a,b}`.
pub(crate) fn array_elements(text: &str) -> impl Iterator<Item = &str> {
    let inner = text.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).unwrap_or(text);
    inner.split(',').map(|element| element.trim_matches('"')).filter(|element| !element.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_named_by_its_function() {
        assert_eq!(column_name("current_schema()"), "current_schema");
        assert_eq!(column_name("COUNT(*)"), "count");
        assert_eq!(column_name("Access privileges"), "Access privileges");
        assert_eq!(column_name("Name (long)"), "Name (long)");
    }

    #[test]
    fn a_table_keeps_its_number() {
        assert_eq!(table_oid("requests"), table_oid("requests"));
        assert_ne!(table_oid("requests"), table_oid("processes"));
        assert!(table_oid("") >= 16_384);
    }

    #[test]
    fn arrays_are_read_as_they_are_written() {
        let text = array_text(&["a".to_owned(), "b".to_owned()]);
        assert_eq!(array_elements(&text).collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(array_elements("{}").count(), 0);
    }
}

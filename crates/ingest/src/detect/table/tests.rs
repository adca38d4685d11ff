use super::*;

fn table_of(text: &str) -> Table {
    detect(text.as_bytes(), true, &ReadOptions::default())
}

#[test]
fn even_rows_show_the_separator() {
    for (text, separator) in [
        ("a,b\n1,2\n", b','),
        ("a;b\n1,5;2\n", b';'),
        ("a\tb\n1,5\t2\n", b'\t'),
        ("FlightDate|Carrier|City\n2024-01-01|AA|New York, NY\n2024-01-02|UA|Austin, TX\n", b'|'),
        ("id;name;note\n1;Ada;x\n2;Bob\n3;Cy;z\n", b';'),
        ("id;name;;\n1;Ada;;\n2;Bob;;\n", b';'),
        ("a~b\n1~2\n", b'~'),
        ("a\u{1}b\n1\u{1}2\n", 1),
        ("when;colx;coly\n2024-01-01;10,20;4,5\n2024-01-02;1.299,99;7,25\n", b';'),
        ("Name;City\nDoe, John;Berlin\nRoe, Jane;Rome\n", b';'),
        ("a;b\n1,5;2,5\n3,5;4,5\n5,5;6\n", b';'),
        ("1,5;2,5\n3,5;4,5\n", b';'),
        ("a;a;2\n1;2;3\n", b';'),
        ("name\nAda\nBob\n", b','),
        ("a|b|c\n1|x;y|2\n2|z;w|3\n", b'|'),
        ("t;x\n10:15;a,b\n10:16;c,d\n", b';'),
    ] {
        assert_eq!(table_of(text).dialect.separator, separator, "{text}");
    }
}

#[test]
fn a_line_may_state_the_separator() {
    for text in ["sep=;\r\nday;n\r\n2024-01-01;12\r\n", "\"sep=;\"\nday;n\n1;2\n", "SEP=;\na,b;c\n"]
    {
        let table = table_of(text);
        assert_eq!((table.dialect.separator, table.dialect.skip), (b';', 1), "{text}");
        assert_eq!(table.head_line, Some(2));
        assert!(table.remarks.is_empty());
    }
}

#[test]
fn titles_are_skipped_and_said() {
    let table = table_of("File: data.csv\nCreated: 2024-01-01\n\nname,age,city\nAda,25,Oslo\n");
    assert_eq!((table.dialect.skip, table.head_line), (3, Some(4)));
    let said = &table.remarks[0].message;
    assert!(said.starts_with("3 lines before the head skipped: \"File: data.csv\""), "{said}");
    let options = ReadOptions { skip: Some(0), ..ReadOptions::default() };
    let table = detect(b"x\n\na,b\n1,2\n", true, &options);
    assert_eq!((table.dialect.skip, table.head_line, table.remarks.len()), (0, Some(1), 0));
}

#[test]
fn a_first_row_is_no_head() {
    let table = table_of("1,2,3\n4,5,6\n");
    assert!(!table.dialect.has_head);
    assert_eq!(table.head_line, None);
    assert!(table.remarks[0].message.contains("--header"), "{:?}", table.remarks);
    let options = ReadOptions { header: Some(true), ..ReadOptions::default() };
    let table = detect(b"1,2,3\n4,5,6\n", true, &options);
    assert!(table.dialect.has_head && table.remarks.is_empty());
    assert!(table_of("").dialect.has_head);
}

#[test]
fn a_backslash_may_escape_quotes() {
    let table = table_of("id,msg,code\n1,\"say \\\"hi, there\\\"\",3\n2,\"ok\",4\n");
    assert_eq!(table.dialect.escape, Some(b'\\'));
    assert!(table.remarks[0].message.contains("--escape '\\'"), "{:?}", table.remarks);
    // A path that ends with a backslash.
    assert_eq!(table_of("a,b\n\"C:\\x\\\",1\n\"C:\\y\\\",2\n").dialect.escape, None);
    let quoted = table_of("'a';'b'\n'x;y';'1'\n'z';'2'\n");
    assert_eq!((quoted.dialect.quote, quoted.width), (Quote::Byte(b'\''), 2));
}

#[test]
fn an_escape_in_the_first_row_counts() {
    let table = table_of("1,\"say \\\"hi, you\\\"\",5\n2,\\N,6\n3,\"x\",\\N\n");
    assert_eq!((table.dialect.escape, table.dialect.has_head), (Some(b'\\'), false));
    assert_eq!(table.width, 3);
}

#[test]
fn names_of_rows_need_no_name() {
    let table = table_of("\"mpg\",\"cyl\"\n\"Mazda RX4\",21,6\n\"Datsun 710\",22.8,4\n");
    assert!(table.dialect.has_row_names && table.dialect.has_head);
    let trailing = table_of("a,b\n1,2,\n3,4,\n");
    assert!(!trailing.dialect.has_row_names);
}

#[test]
fn only_a_clear_table_needs_no_name() {
    for clear in [
        "a,b\n1,2\n",
        "a;b\nx;y\nz;w\n",
        "# made by x\na,b\n1,2\n",
        "2024-01-01,5,x\n2024-01-02,6,y\n2024-01-03,7,z\n",
        "sep=;\na;b\n",
    ] {
        assert!(table_of(clear).is_clear, "{clear}");
    }
    for text in [
        "",
        "all is well\n",
        "one, two\n",
        "2026-11-21 10:00:00,123 INFO x\n2026-11-21 10:00:00,124 INFO y\n",
        "hello, world\nthis is a line\nand, another, one\n",
        "INFO, started\nINFO, stopped\nWARN, started\n",
        "[pod/a/b] {\"time\":\"x\",\"n\":1}\n[pod/a/b] {\"time\":\"y\",\"n\":2}\n",
    ] {
        assert!(!table_of(text).is_clear, "{text}");
    }
}

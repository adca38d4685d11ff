//! Rows as they would be stored, for a preview.

use hadal_types::Micros;
use serde_json::Value;

use crate::json::{self, Element, Field, RowSink};
use crate::name_cache::{NameCache, NameId};

/// A row as it would be stored: the columns that are not null, the time first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExplainedRow {
    /// The name of each column, and its value as JSON.
    pub columns: Vec<(String, String)>,
}

impl ExplainedRow {
    /// The row of a JSON object, whose time was read already.
    pub(crate) fn new(object: &str, time_column: &str, time: Option<Micros>) -> Self {
        let mut fields = Fields { names: NameCache::default(), columns: Vec::new() };
        // The row was accepted, so it can be read again.
        let _ = json::read(object, &mut json::Scratch::default(), &mut fields);
        let mut columns = fields.columns;
        if let Some(time) = time {
            columns.retain(|(name, _)| name != time_column);
            columns.insert(0, (time_column.to_owned(), Value::from(time.to_string()).to_string()));
        }
        Self { columns }
    }

    /// The row as one JSON object.
    #[must_use]
    pub fn to_json(&self) -> String {
        let member =
            |(name, value): &(String, String)| format!("{}:{value}", Value::from(name.as_str()));
        let members: Vec<String> = self.columns.iter().map(member).collect();
        format!("{{{}}}", members.join(","))
    }
}

/// Collects the fields of an object.
struct Fields {
    names: NameCache,
    columns: Vec<(String, String)>,
}

impl<'j> RowSink<'j> for Fields {
    fn names(&mut self) -> &mut NameCache {
        &mut self.names
    }

    fn restart(&mut self) {
        self.columns.clear();
    }

    fn field(
        &mut self,
        name: &str,
        _name_id: Option<NameId>,
        field: &Field<'j>,
    ) -> Result<(), String> {
        if !self.columns.iter().any(|(other, _)| other == name) {
            self.columns.push((name.to_owned(), value(field)));
        }
        Ok(())
    }
}

/// A value as JSON.
fn value(field: &Field<'_>) -> String {
    let list = |elements: &[Element<'_>]| {
        Value::from_iter(elements.iter().flatten().map(AsRef::as_ref)).to_string()
    };
    match field {
        Field::Bool(truth) => truth.to_string(),
        Field::String(text) => Value::from(text.as_ref()).to_string(),
        Field::List(elements) | Field::Set(elements) | Field::Vector(elements) => list(elements),
        Field::Text(text) => Value::from(*text).to_string(),
        number => number.number().map_or("null".to_owned(), |number| number.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_their_columns_in_order() {
        let object = r#"{"z":1.50,"t":5,"a":{"b":"x\"y","c":null},"l":["p",2],"ok":true}"#;
        let row = ExplainedRow::new(object, "t", Some(Micros(1_500_000)));
        let time = r#"{"t":"1970-01-01T00:00:01.5Z","#;
        let rest = r#""z":1.5,"a.b":"x\"y","l":["p","2"],"ok":true}"#;
        assert_eq!(row.to_json(), format!("{time}{rest}"));
        assert_eq!(ExplainedRow::new("{}", "t", None).to_json(), "{}");
    }
}

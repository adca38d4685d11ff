//! The definition of a user function: name, parameters, result and source text.

use std::fmt;

use serde_json::{Map, Value, json};

use crate::limits::{FUNCTION_NAME_BYTES_MAX, FUNCTION_PARAMETERS_MAX, FUNCTION_SOURCE_BYTES_MAX};

/// The current version of the JSON form. A reader refuses a later one and never guesses.
const FORMAT: u64 = 1;
/// The only language so far.
const LANGUAGE: &str = "js";

/// Why a definition was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {reason}")]
pub struct FunctionError {
    /// The part of the definition that is wrong.
    pub field: String,
    /// What is wrong with it, and what is expected.
    pub reason: String,
}

/// A user function as a person defined it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionDefinition {
    /// The name for calls: `[a-z_][a-z0-9_]*`, at most [`FUNCTION_NAME_BYTES_MAX`] bytes.
    pub name: String,
    /// Whether it computes a value of each row, or one of each group.
    pub kind: FunctionKind,
    /// Names and types of the arguments, at most [`FUNCTION_PARAMETERS_MAX`].
    pub parameters: Vec<FunctionParameter>,
    /// The type of the result.
    pub returns: FunctionType,
    /// Whether it is also called with null arguments; otherwise the result is null without a call.
    pub called_on_null: bool,
    /// The body in JavaScript, at most [`FUNCTION_SOURCE_BYTES_MAX`] bytes.
    pub source: String,
}

/// One argument of a user function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionParameter {
    /// The name that the source uses: an identifier of JavaScript in ASCII.
    pub name: String,
    /// The type.
    pub value_type: FunctionType,
}

/// What a user function is applied to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FunctionKind {
    /// The values of one row.
    Scalar,
    /// The rows of one group.
    Aggregate,
}

/// The type of an argument or a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FunctionType {
    /// A double.
    Number,
    /// A string.
    String,
    /// A truth value.
    Bool,
}

impl FunctionType {
    /// All types.
    pub const ALL: [Self; 3] = [Self::Number, Self::String, Self::Bool];

    /// The type's name in definitions.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Number => "number",
            Self::String => "string",
            Self::Bool => "bool",
        }
    }

    /// The type of this name, in any case; SQL's usual names of the types are accepted too.
    ///
    /// # Errors
    /// [`FunctionError`] for other names.
    pub fn named(name: &str) -> Result<Self, FunctionError> {
        match name.to_ascii_lowercase().as_str() {
            "number" | "double" | "double precision" | "float" | "float8" | "numeric" => {
                Ok(Self::Number)
            }
            "string" | "text" | "varchar" => Ok(Self::String),
            "bool" | "boolean" => Ok(Self::Bool),
            _ => {
                let reason = format!("{name} is none of the types number, string and bool");
                Err(FunctionError::new("type", reason))
            }
        }
    }
}

impl FunctionError {
    /// An error of this field.
    #[must_use]
    pub fn new(field: &str, reason: impl Into<String>) -> Self {
        Self { field: field.to_owned(), reason: reason.into() }
    }
}

impl FunctionDefinition {
    /// Checks names and limits.
    ///
    /// # Errors
    /// [`FunctionError`] with the first field that is wrong.
    pub fn check(&self) -> Result<(), FunctionError> {
        check_name(&self.name)?;
        if self.parameters.len() > FUNCTION_PARAMETERS_MAX {
            let reason =
                format!("{}; at most {FUNCTION_PARAMETERS_MAX} are allowed", self.parameters.len());
            return Err(FunctionError::new("parameters", reason));
        }
        for (index, parameter) in self.parameters.iter().enumerate() {
            check_parameter(&parameter.name)?;
            if self.parameters[..index].iter().any(|other| other.name == parameter.name) {
                let reason = format!("{} twice; each name is for one argument", parameter.name);
                return Err(FunctionError::new("parameters", reason));
            }
        }
        if self.source.len() > FUNCTION_SOURCE_BYTES_MAX {
            let reason = format!(
                "{} bytes; at most {FUNCTION_SOURCE_BYTES_MAX} are allowed",
                self.source.len()
            );
            return Err(FunctionError::new("source", reason));
        }
        Ok(())
    }

    /// Whether a function may have this name.
    #[must_use]
    pub fn is_name(name: &str) -> bool {
        check_name(name).is_ok()
    }

    /// The definition as one line of JSON. Equal definitions give equal bytes.
    #[must_use]
    pub fn to_json(&self) -> String {
        let mut object = self.to_object();
        object.insert("format".to_owned(), FORMAT.into());
        Value::Object(object).to_string()
    }

    /// The definition as a JSON object, without the format.
    #[must_use]
    pub fn to_object(&self) -> Map<String, Value> {
        let parameters: Vec<Value> = self
            .parameters
            .iter()
            .map(|one| json!({ "name": one.name, "type": one.value_type.name() }))
            .collect();
        let fields = [
            ("called_on_null", self.called_on_null.into()),
            ("kind", self.kind.to_string().into()),
            ("language", LANGUAGE.into()),
            ("name", self.name.as_str().into()),
            ("parameters", parameters.into()),
            ("returns", self.returns.name().into()),
            ("source", self.source.as_str().into()),
        ];
        fields.into_iter().map(|(name, value): (&str, Value)| (name.to_owned(), value)).collect()
    }

    /// Reads the JSON that [`Self::to_json`] or a person wrote.
    ///
    /// # Errors
    /// [`FunctionError`] with the field.
    pub fn from_json(text: &str) -> Result<Self, FunctionError> {
        let value: Value = serde_json::from_str(text)
            .map_err(|error| FunctionError::new("function", format!("this is no JSON: {error}")))?;
        Self::from_value(&value)
    }

    /// Reads an object. `name`, `returns` and `source` must be there; `kind` is `scalar` unless
    /// given, `parameters` a list of objects with `name` and `type`.
    ///
    /// # Errors
    /// [`FunctionError`] with the field, also for an unknown field.
    pub fn from_value(value: &Value) -> Result<Self, FunctionError> {
        let Value::Object(object) = value else {
            return Err(FunctionError::new("function", format!("{value} is no object")));
        };
        let mut kind = FunctionKind::Scalar;
        let mut called_on_null = false;
        let (mut name, mut returns, mut source) = (None, None, None);
        let mut parameters = Vec::new();
        for (field, value) in object {
            match field.as_str() {
                "name" => name = Some(text(field, value)?.to_owned()),
                "kind" => kind = kind_named(text(field, value)?)?,
                "language" => check_language(text(field, value)?)?,
                "format" => check_format(value)?,
                "returns" => returns = Some(FunctionType::named(text(field, value)?)?),
                "source" => source = Some(text(field, value)?.to_owned()),
                "called_on_null" => {
                    let given = value.as_bool();
                    called_on_null =
                        given.ok_or_else(|| FunctionError::new(field, "expected true or false"))?;
                }
                "parameters" => parameters = read_parameters(value)?,
                other => {
                    let fields =
                        "name, kind, language, parameters, returns, called_on_null, source";
                    return Err(FunctionError::new(other, format!("unknown; fields are {fields}")));
                }
            }
        }
        let missing = |field: &str| FunctionError::new(field, "missing");
        let definition = Self {
            name: name.ok_or_else(|| missing("name"))?,
            kind,
            parameters,
            returns: returns.ok_or_else(|| missing("returns"))?,
            called_on_null,
            source: source.ok_or_else(|| missing("source"))?,
        };
        definition.check()?;
        Ok(definition)
    }
}

impl fmt::Display for FunctionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Scalar => "scalar",
            Self::Aggregate => "aggregate",
        })
    }
}

fn kind_named(name: &str) -> Result<FunctionKind, FunctionError> {
    match name {
        "scalar" => Ok(FunctionKind::Scalar),
        "aggregate" => Ok(FunctionKind::Aggregate),
        _ => Err(FunctionError::new("kind", format!("{name} is neither scalar nor aggregate"))),
    }
}

fn check_language(name: &str) -> Result<(), FunctionError> {
    match name.to_ascii_lowercase().as_str() {
        "js" | "javascript" => Ok(()),
        _ => Err(FunctionError::new("language", format!("{name}; the only language is js"))),
    }
}

fn check_format(value: &Value) -> Result<(), FunctionError> {
    match value.as_u64() {
        Some(FORMAT) => Ok(()),
        _ => Err(FunctionError::new("format", format!("{value}; this program reads {FORMAT}"))),
    }
}

fn text<'v>(field: &str, value: &'v Value) -> Result<&'v str, FunctionError> {
    value.as_str().ok_or_else(|| FunctionError::new(field, format!("{value} is no text")))
}

fn read_parameters(value: &Value) -> Result<Vec<FunctionParameter>, FunctionError> {
    let wrong = || FunctionError::new("parameters", "expected a list of {\"name\", \"type\"}");
    let list = value.as_array().ok_or_else(wrong)?;
    list.iter()
        .map(|one| {
            let object = one.as_object().filter(|object| object.len() == 2).ok_or_else(wrong)?;
            let name = object.get("name").and_then(Value::as_str).ok_or_else(wrong)?;
            let value_type = object.get("type").and_then(Value::as_str).ok_or_else(wrong)?;
            let value_type = FunctionType::named(value_type)?;
            Ok(FunctionParameter { name: name.to_owned(), value_type })
        })
        .collect()
}

fn check_name(name: &str) -> Result<(), FunctionError> {
    let is_first = |c: char| c.is_ascii_lowercase() || c == '_';
    let fits = |c: char| is_first(c) || c.is_ascii_digit();
    if name.len() > FUNCTION_NAME_BYTES_MAX
        || !name.starts_with(is_first)
        || !name.chars().all(fits)
    {
        let reason = format!(
            "{name:?}; expected a-z, 0-9 and _, first no digit, at most {FUNCTION_NAME_BYTES_MAX}"
        );
        return Err(FunctionError::new("name", reason));
    }
    Ok(())
}

fn check_parameter(name: &str) -> Result<(), FunctionError> {
    let is_first = |c: char| c.is_ascii_alphabetic() || "_$".contains(c);
    let fits = |c: char| is_first(c) || c.is_ascii_digit();
    if name.len() > FUNCTION_NAME_BYTES_MAX
        || !name.starts_with(is_first)
        || !name.chars().all(fits)
    {
        let reason = format!(
            "{name:?}; expected a name of letters, digits, _ and $, first no digit, at most \
             {FUNCTION_NAME_BYTES_MAX}"
        );
        return Err(FunctionError::new("parameters", reason));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn definition() -> FunctionDefinition {
        FunctionDefinition {
            name: "f".to_owned(),
            kind: FunctionKind::Scalar,
            parameters: vec![FunctionParameter {
                name: "a".to_owned(),
                value_type: FunctionType::Number,
            }],
            returns: FunctionType::String,
            called_on_null: true,
            source: "return `${a}`".to_owned(),
        }
    }

    #[test]
    fn a_definition_reads_what_it_wrote() {
        let text = definition().to_json();
        assert_eq!(FunctionDefinition::from_json(&text), Ok(definition()));
    }

    #[test]
    fn wrong_parts_are_named() {
        for (change, field) in [
            (r#"{"name":"F","returns":"number","source":""}"#, "name"),
            (r#"{"name":"1f","returns":"number","source":""}"#, "name"),
            (r#"{"name":"f","source":""}"#, "returns"),
            (r#"{"name":"f","returns":"int","source":""}"#, "type"),
            (r#"{"name":"f","returns":"number"}"#, "source"),
            (r#"{"name":"f","returns":"number","source":"","language":"lua"}"#, "language"),
            (r#"{"name":"f","returns":"number","source":"","format":2}"#, "format"),
            (r#"{"name":"f","returns":"number","source":"","colour":2}"#, "colour"),
            (r#"{"name":"f","returns":"number","source":"","parameters":[1]}"#, "parameters"),
            (
                r#"{"name":"f","returns":"number","source":"",
                    "parameters":[{"name":"a b","type":"number"}]}"#,
                "parameters",
            ),
            ("[]", "function"),
            ("{", "function"),
        ] {
            let error = FunctionDefinition::from_json(change).expect_err(change);
            assert_eq!(error.field, field, "{error}");
        }
    }

    #[test]
    fn limits_are_those_of_their_constants() {
        let named = |bytes| FunctionDefinition { name: "f".repeat(bytes), ..definition() };
        assert_eq!(named(FUNCTION_NAME_BYTES_MAX).check(), Ok(()));
        assert!(named(FUNCTION_NAME_BYTES_MAX + 1).check().is_err());
        let long = |bytes| FunctionDefinition { source: " ".repeat(bytes), ..definition() };
        assert_eq!(long(FUNCTION_SOURCE_BYTES_MAX).check(), Ok(()));
        assert!(long(FUNCTION_SOURCE_BYTES_MAX + 1).check().is_err());
        let wide = |count: usize| {
            let parameter = |index| FunctionParameter {
                name: format!("a{index}"),
                value_type: FunctionType::Bool,
            };
            FunctionDefinition { parameters: (0..count).map(parameter).collect(), ..definition() }
        };
        assert_eq!(wide(FUNCTION_PARAMETERS_MAX).check(), Ok(()));
        assert!(wide(FUNCTION_PARAMETERS_MAX + 1).check().is_err());
    }
}

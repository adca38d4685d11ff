//! Functions of regular expressions. Patterns are constants, and each is compiled once here, so
//! that an invalid one is reported with its position.

use hadal_query::{Function, Pattern, PatternSyntax, Type};
use hadal_types::{Value, limits};
use sqlparser::ast::Expr;
use sqlparser::tokenizer::Location;

use crate::bind::Binder;
use crate::bind::bound_expr::TypedExpr;
use crate::bind::call::Call;
use crate::bind::pattern::too_many;
use crate::error::{LocatedError, NOWHERE, Read};
use crate::syntax::source_position::place;

/// The names of these functions.
pub(crate) const NAMES: [&str; 4] =
    ["regexp_extract", "regexp_like", "regexp_matches", "regexp_replace"];

/// The flags of a call.
#[derive(Clone, Copy, Debug, Default)]
struct Flags {
    all: bool,
    ignore_case: bool,
}

/// Binds a call of one of [`NAMES`].
pub(crate) fn bind(
    binder: &mut Binder<'_>,
    call: &Call<'_>,
    bound: Vec<TypedExpr>,
) -> Read<TypedExpr> {
    match call.name {
        "regexp_extract" => extract(binder, call, bound),
        "regexp_replace" => replace(binder, call, bound),
        _ => matches(binder, call, bound),
    }
}

fn extract(binder: &mut Binder<'_>, call: &Call<'_>, bound: Vec<TypedExpr>) -> Read<TypedExpr> {
    let ([text, pattern], group) = call.and_one_more(bound)?;
    let group = match group {
        None => 0,
        Some(group) => {
            group.as_number().and_then(hadal_types::Number::to_i64).ok_or_else(|| {
                LocatedError::new("the group is a constant number", call.place(2))
                    .hint("0 is the whole match, 1 the first pair of parentheses")
            })?
        }
    };
    let compiled = compile(binder, call.constant(&pattern, 1)?, call.place(1))?;
    if !usize::try_from(group).is_ok_and(|group| group <= compiled.groups()) {
        let groups = compiled.groups();
        let message = format!("the pattern has no group {group}");
        let hint =
            format!("it has {groups}: 0 is the whole match, 1 the first pair of parentheses");
        return Err(LocatedError::new(message, call.place(2)).hint(hint));
    }
    let text = call.string(text, 0)?;
    let group = TypedExpr::whole(group);
    Ok(TypedExpr::call(Function::RegexpExtract, [text, pattern, group], Type::String))
}

fn matches(binder: &mut Binder<'_>, call: &Call<'_>, bound: Vec<TypedExpr>) -> Read<TypedExpr> {
    let ([text, pattern], flags) = call.and_one_more(bound)?;
    let flags = flags_of(call, flags.as_ref(), 2)?;
    let syntax = if flags.ignore_case { PatternSyntax::IRegex } else { PatternSyntax::Regex };
    compile(binder, call.constant(&pattern, 1)?, call.place(1))?;
    let text = call.string(text, 0)?;
    Ok(TypedExpr::call(Function::Matches(syntax), [text, pattern], Type::Bool))
}

fn replace(binder: &mut Binder<'_>, call: &Call<'_>, bound: Vec<TypedExpr>) -> Read<TypedExpr> {
    let ([text, pattern, replacement], flags) = call.and_one_more(bound)?;
    let flags = flags_of(call, flags.as_ref(), 3)?;
    let function = match flags.all {
        true => Function::RegexpReplaceAll,
        false => Function::RegexpReplace,
    };
    let source = call.constant(&pattern, 1)?;
    let source = if flags.ignore_case { format!("(?i){source}") } else { source.to_owned() };
    compile(binder, &source, call.place(1))?;
    call.constant(&replacement, 2)?;
    let (text, pattern) = (call.string(text, 0)?, TypedExpr::literal(Value::string(&source)));
    Ok(TypedExpr::call(function, [text, pattern, replacement], Type::String))
}

/// Binds `substring(text FROM 'pattern')`: the first group, or the whole match if there is none.
pub(crate) fn substring(binder: &mut Binder<'_>, text: &Expr, pattern: &Expr) -> Read<TypedExpr> {
    let bound = vec![binder.bind(text)?, binder.bind(pattern)?];
    let places = vec![place(text), place(pattern)];
    let call = Call { name: "substring", at: NOWHERE, places };
    let [text, pattern] = call.exactly(bound)?;
    let compiled = compile(binder, call.constant(&pattern, 1)?, call.place(1))?;
    let group = TypedExpr::whole(i64::from(compiled.groups() > 0));
    let text = call.string(text, 0)?;
    Ok(TypedExpr::call(Function::RegexpExtract, [text, pattern, group], Type::String))
}

fn compile(binder: &mut Binder<'_>, source: &str, at: Location) -> Read<Pattern> {
    binder.patterns += 1;
    if binder.patterns > limits::PATTERNS_MAX {
        return Err(too_many(at));
    }
    Pattern::new(source, PatternSyntax::Regex)
        .map_err(|error| LocatedError::new(error.to_string(), at))
}

fn flags_of(call: &Call<'_>, flags: Option<&TypedExpr>, index: usize) -> Read<Flags> {
    let mut read = Flags::default();
    let Some(flags) = flags else { return Ok(read) };
    for flag in call.constant(flags, index)?.chars() {
        match flag {
            'g' if call.name == "regexp_replace" => read.all = true,
            'i' => read.ignore_case = true,
            'c' => read.ignore_case = false,
            _ => {
                let message = format!("{} has no flag {flag:?}", call.name);
                return Err(LocatedError::new(message, call.place(index)).hint(
                    "flags are i (ignores case), c, and g (replaces all matches); others begin \
                     the pattern, as in '(?s)a.b'",
                ));
            }
        }
    }
    Ok(read)
}

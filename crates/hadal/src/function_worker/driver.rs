//! The JavaScript around a function: the loop over the rows of a batch, and what an aggregate does
//! with its states.

use std::fmt::Write;

use hadal_types::{FunctionDefinition, FunctionKind, FunctionType};

/// The name of the source in the engine's stacks.
pub(super) const FILE: &str = "hadal_function";

/// The function itself, or a function that returns those of an aggregate. Its first line is the
/// first line of the source.
pub(super) fn function(definition: &FunctionDefinition) -> String {
    let source = &definition.source;
    match definition.kind {
        FunctionKind::Scalar => {
            let names: Vec<&str> =
                definition.parameters.iter().map(|one| one.name.as_str()).collect();
            format!("(function ({}) {{{source}\n}})", names.join(", "))
        }
        FunctionKind::Aggregate => {
            format!("(function () {{{source}\nreturn [init, update, merge, finish];\n}})")
        }
    }
}

/// A function of the function, `JSON.parse` and `JSON.stringify`, which returns the methods that
/// the worker calls. They use no names that the function can change.
pub(super) fn methods(definition: &FunctionDefinition) -> String {
    match definition.kind {
        FunctionKind::Scalar => scalar(definition),
        FunctionKind::Aggregate => aggregate(definition),
    }
}

/// `rows`: of the arguments' values and nulls, the rows that are null without a call, and the
/// number of rows; it returns a list of the results.
fn scalar(definition: &FunctionDefinition) -> String {
    let (columns, values) = arguments(definition);
    format!(
        "(function (call) {{ return {{\n\
         rows(args, nulls, skip, rows) {{\n\
         {columns}const out = [];\n\
         for (let i = 0; i < rows; i++) {{\n\
         if (skip !== null && skip[i] !== 0) out[i] = null;\n\
         else out[i] = call({});\n\
         }}\n\
         return out;\n\
         }} }} }})",
        values.join(", ")
    )
}

/// `update`: as `rows`, with the weights of the rows and the state's text or null; it returns the
/// new text. `merge`: of texts. `finish`: of a text; it returns a list of the result.
fn aggregate(definition: &FunctionDefinition) -> String {
    let (columns, mut values) = arguments(definition);
    values.insert(0, "state".to_owned());
    values.push("weights[i]".to_owned());
    format!(
        "(function (make, parse, stringify) {{\n\
         const [init, update, merge, finish] = make();\n\
         return {{\n\
         update(args, nulls, skip, rows, weights, text) {{\n\
         {columns}let state = text === undefined || text === null ? init() : parse(text);\n\
         for (let i = 0; i < rows; i++) {{\n\
         if (skip !== null && skip[i] !== 0) continue;\n\
         const next = update({});\n\
         if (next !== undefined) state = next;\n\
         }}\n\
         return stringify(state);\n\
         }},\n\
         merge(texts, count) {{\n\
         let state = parse(texts[0]);\n\
         for (let i = 1; i < count; i++) {{\n\
         const next = merge(state, parse(texts[i]));\n\
         if (next !== undefined) state = next;\n\
         }}\n\
         return stringify(state);\n\
         }},\n\
         finish(text) {{ const out = []; out[0] = finish(parse(text)); return out; }}\n\
         }} }})",
        values.join(", ")
    )
}

/// The declarations of the arguments' columns, and the value of each in row `i`.
fn arguments(definition: &FunctionDefinition) -> (String, Vec<String>) {
    let mut columns = String::new();
    let mut values = Vec::new();
    for (index, parameter) in definition.parameters.iter().enumerate() {
        // Writing to a string cannot fail.
        let _ = writeln!(columns, "const a{index} = args[{index}], n{index} = nulls[{index}];");
        let value = match parameter.value_type {
            FunctionType::Bool => format!("a{index}[i] !== 0"),
            FunctionType::Number | FunctionType::String => format!("a{index}[i]"),
        };
        values.push(match definition.called_on_null {
            true => format!("(n{index} !== null && n{index}[i] !== 0 ? null : {value})"),
            false => value,
        });
    }
    (columns, values)
}

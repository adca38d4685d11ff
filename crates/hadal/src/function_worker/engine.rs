//! One function in a QuickJS runtime of its own.

use std::cell::Cell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use hadal_query::{UdfColumn, UdfValues};
use hadal_types::limits::{
    COMPUTED_STRING_BYTES_MAX, FUNCTION_CALL_MILLIS_MAX, FUNCTION_MEMORY_BYTES_MAX,
    FUNCTION_MESSAGE_BYTES_MAX, FUNCTION_STACK_BYTES_MAX, FUNCTION_STATE_BYTES_MAX,
};
use hadal_types::{FunctionDefinition, FunctionType, Number, Value};
use rquickjs::context::{EvalOptions, intrinsic};
use rquickjs::{Array, Context, Ctx, Exception, Function, Object, Persistent, Runtime, TypedArray};

use super::driver::{self, FILE};

/// The base objects, and these. Without promises, modules, timers and weak references: a call ends
/// when it returns.
type Intrinsics = (
    intrinsic::Date,
    intrinsic::Eval,
    intrinsic::RegExpCompiler,
    intrinsic::RegExp,
    intrinsic::Json,
    intrinsic::MapSet,
    intrinsic::TypedArrays,
);

/// Bytes of a reason that are kept.
const REASON_BYTES_MAX: usize = 500;

/// Why a function has no result.
#[derive(Debug)]
pub(super) struct Failure {
    /// The line of the source; 0 if it is not known.
    pub(super) line: u32,
    /// The reason.
    pub(super) message: String,
}

impl Failure {
    pub(super) fn new(line: u32, message: impl Into<String>) -> Self {
        Self { line, message: message.into() }
    }
}

/// When the engine must stop, and whether it did.
#[derive(Debug, Default)]
struct Limit {
    at: Cell<Option<Instant>>,
    is_over: Cell<bool>,
}

impl Limit {
    fn start(&self, time: Duration) {
        self.at.set(Some(Instant::now() + time));
        self.is_over.set(false);
    }

    /// Whether the time is over: asked by the engine every few thousand steps.
    fn check(&self) -> bool {
        let is_over = self.at.get().is_some_and(|at| at <= Instant::now());
        self.is_over.set(self.is_over.get() || is_over);
        is_over
    }
}

/// A compiled function. The fields are dropped in this order: what belongs to a runtime first.
pub(super) struct Engine {
    methods: Persistent<Object<'static>>,
    context: Context,
    _runtime: Runtime,
    limit: Rc<Limit>,
    definition: FunctionDefinition,
}

impl Engine {
    /// Compiles a function in a new runtime.
    pub(super) fn load(definition: FunctionDefinition) -> Result<Self, Failure> {
        let broken = |error: rquickjs::Error| Failure::new(0, error.to_string());
        let runtime = Runtime::new().map_err(broken)?;
        runtime.set_memory_limit(FUNCTION_MEMORY_BYTES_MAX);
        runtime.set_max_stack_size(FUNCTION_STACK_BYTES_MAX);
        let limit = Rc::new(Limit::default());
        let handler = Rc::clone(&limit);
        runtime.set_interrupt_handler(Some(Box::new(move || handler.check())));
        let context = Context::custom::<Intrinsics>(&runtime).map_err(broken)?;
        limit.start(Duration::from_millis(FUNCTION_CALL_MILLIS_MAX));
        let methods = context.with(|ctx| {
            compile(&ctx, &definition)
                .map_err(|error| failure(&ctx, &error, &limit, FUNCTION_CALL_MILLIS_MAX))
        })?;
        Ok(Self { methods, context, _runtime: runtime, limit, definition })
    }

    /// Calls the function for each row.
    pub(super) fn call(
        &mut self,
        millis: u32,
        rows: usize,
        arguments: Vec<UdfColumn>,
    ) -> Result<UdfColumn, Failure> {
        self.check(&arguments)?;
        let returns = self.definition.returns;
        self.within(millis, |ctx, methods| {
            let skip = self.skipped(ctx, rows, &arguments)?;
            let (args, nulls) = columns(ctx, arguments)?;
            let method: Function<'_> = methods.get("rows")?;
            let results: Array<'_> = method.call((args, nulls, skip, count(rows)))?;
            Ok(read(&results, rows, returns))
        })?
    }

    /// Adds rows to an aggregate's state; returns the new state.
    pub(super) fn update(
        &mut self,
        millis: u32,
        state: Option<String>,
        (rows, weights): (usize, Vec<f64>),
        arguments: Vec<UdfColumn>,
    ) -> Result<String, Failure> {
        self.check(&arguments)?;
        self.within(millis, |ctx, methods| {
            let skip = self.skipped(ctx, rows, &arguments)?;
            let (args, nulls) = columns(ctx, arguments)?;
            let weights = TypedArray::new(ctx.clone(), weights)?;
            let method: Function<'_> = methods.get("update")?;
            let text: rquickjs::Value<'_> =
                method.call((args, nulls, skip, count(rows), weights, state))?;
            Ok(text_of(&text))
        })?
    }

    /// Merges states of an aggregate.
    pub(super) fn merge(&mut self, millis: u32, states: Vec<String>) -> Result<String, Failure> {
        self.within(millis, |_, methods| {
            let method: Function<'_> = methods.get("merge")?;
            let states_count = count(states.len());
            let text: rquickjs::Value<'_> = method.call((states, states_count))?;
            Ok(text_of(&text))
        })?
    }

    /// The result of an aggregate: a column of one row.
    pub(super) fn finish(&mut self, millis: u32, state: String) -> Result<UdfColumn, Failure> {
        let returns = self.definition.returns;
        self.within(millis, |_, methods| {
            let method: Function<'_> = methods.get("finish")?;
            let results: Array<'_> = method.call((state,))?;
            Ok(read(&results, 1, returns))
        })?
    }

    fn check(&self, arguments: &[UdfColumn]) -> Result<(), Failure> {
        let types = self.definition.parameters.iter().map(|one| one.value_type);
        match arguments.iter().map(UdfColumn::value_type).eq(types) {
            true => Ok(()),
            false => Err(Failure::new(0, "the arguments do not fit the parameters")),
        }
    }

    /// Calls JavaScript within a time limit.
    fn within<T>(
        &self,
        millis: u32,
        call: impl for<'js> FnOnce(&Ctx<'js>, &Object<'js>) -> rquickjs::Result<T>,
    ) -> Result<T, Failure> {
        self.limit.start(Duration::from_millis(millis.into()));
        self.context.with(|ctx| {
            let methods = self.methods.clone().restore(&ctx);
            let called = methods.and_then(|methods| call(&ctx, &methods));
            called.map_err(|error| failure(&ctx, &error, &self.limit, u64::from(millis)))
        })
    }

    /// The rows that need no call; null if each needs one.
    fn skipped<'js>(
        &self,
        ctx: &Ctx<'js>,
        rows: usize,
        arguments: &[UdfColumn],
    ) -> rquickjs::Result<rquickjs::Value<'js>> {
        let has_nulls = arguments.iter().any(|column| !column.nulls.is_empty());
        if self.definition.called_on_null || !has_nulls {
            return Ok(rquickjs::Value::new_null(ctx.clone()));
        }
        let is_null = |row| arguments.iter().any(|column| column.is_null(row));
        let skip: Vec<u8> = (0..rows).map(|row| u8::from(is_null(row))).collect();
        Ok(TypedArray::new(ctx.clone(), skip)?.into_value())
    }
}

/// Compiles the function and what calls it.
fn compile(
    ctx: &Ctx<'_>,
    definition: &FunctionDefinition,
) -> rquickjs::Result<Persistent<Object<'static>>> {
    let eval = |source: String| -> rquickjs::Result<Function<'_>> {
        let mut options = EvalOptions::default();
        options.filename = Some(FILE.to_owned());
        ctx.eval_with_options(source, options)
    };
    // Taken before the function runs, which may change them.
    let json: Object<'_> = ctx.globals().get("JSON")?;
    let (parse, stringify): (Function<'_>, Function<'_>) =
        (json.get("parse")?, json.get("stringify")?);
    let mut options = EvalOptions::default();
    options.filename = Some("hadal_driver".to_owned());
    let driver: Function<'_> = ctx.eval_with_options(driver::methods(definition), options)?;
    let function = eval(driver::function(definition))?;
    let methods: Object<'_> = driver.call((function, parse, stringify))?;
    Ok(Persistent::save(ctx, methods))
}

/// The arguments' values and nulls: a list of columns each.
fn columns<'js>(
    ctx: &Ctx<'js>,
    arguments: Vec<UdfColumn>,
) -> rquickjs::Result<(Array<'js>, Array<'js>)> {
    let (args, nulls) = (Array::new(ctx.clone())?, Array::new(ctx.clone())?);
    for (index, column) in arguments.into_iter().enumerate() {
        match column.values {
            UdfValues::Numbers(numbers) => {
                args.set(index, TypedArray::new(ctx.clone(), numbers)?)?;
            }
            UdfValues::Bools(bools) => args.set(index, bytes(ctx, &bools)?)?,
            UdfValues::Strings(strings) => {
                let list = Array::new(ctx.clone())?;
                for (row, string) in strings.iter().enumerate() {
                    list.set(row, string)?;
                }
                args.set(index, list)?;
            }
        }
        match column.nulls.is_empty() {
            true => nulls.set(index, rquickjs::Null)?,
            false => nulls.set(index, bytes(ctx, &column.nulls)?)?,
        }
    }
    Ok((args, nulls))
}

/// A number of rows or states: a few thousand.
fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// The text of a state.
fn text_of(state: &rquickjs::Value<'_>) -> Result<String, Failure> {
    let text = state.as_string().map(rquickjs::String::to_string);
    match text {
        Some(Ok(text)) if text.len() <= FUNCTION_STATE_BYTES_MAX => Ok(text),
        Some(Ok(text)) => {
            let message = format!(
                "its state has {} bytes of JSON; at most {FUNCTION_STATE_BYTES_MAX} are allowed",
                text.len()
            );
            Err(Failure::new(1, message))
        }
        _ => Err(Failure::new(1, "its state is no JSON")),
    }
}

fn bytes<'js>(ctx: &Ctx<'js>, bools: &[bool]) -> rquickjs::Result<TypedArray<'js, u8>> {
    TypedArray::new(ctx.clone(), bools.iter().map(|&one| u8::from(one)).collect::<Vec<u8>>())
}

/// The results as a column of the declared type.
fn read(results: &Array<'_>, rows: usize, returns: FunctionType) -> Result<UdfColumn, Failure> {
    let mut column = UdfColumn::with_capacity(returns, rows);
    let mut bytes = 0;
    for row in 0..rows {
        let unreadable = |error: rquickjs::Error| Failure::new(1, error.to_string());
        let result: rquickjs::Value<'_> = results.get(row).map_err(unreadable)?;
        let value = match returns {
            _ if result.is_null() || result.is_undefined() => Some(Value::Null),
            FunctionType::Number => result.as_number().map(number),
            FunctionType::Bool => result.as_bool().map(Value::Bool),
            FunctionType::String => match result.as_string().map(rquickjs::String::to_string) {
                None => None,
                Some(Ok(text)) if text.len() <= COMPUTED_STRING_BYTES_MAX => {
                    bytes += text.len();
                    Some(Value::string(&text))
                }
                Some(Ok(text)) => return Err(too_long(text.len())),
                Some(Err(_)) => return Err(Failure::new(1, "returns a string that is no Unicode")),
            },
        };
        let Some(value) = value else {
            let message = format!(
                "returns {} {}, but the declared result is a {}",
                match result.type_name() {
                    name if name.starts_with(['a', 'e', 'i', 'o', 'u']) => "an",
                    _ => "a",
                },
                result.type_name(),
                returns.name()
            );
            return Err(Failure::new(1, message));
        };
        column.push(&value);
        // Half of a message is left for everything but the texts.
        if bytes > FUNCTION_MESSAGE_BYTES_MAX / 2 {
            return Err(too_long(bytes));
        }
    }
    Ok(column)
}

/// A finite number; NaN and infinity are null.
fn number(double: f64) -> Value {
    Number::from_f64(double).map_or(Value::Null, Value::Number)
}

fn too_long(bytes: usize) -> Failure {
    let each = COMPUTED_STRING_BYTES_MAX;
    let all = FUNCTION_MESSAGE_BYTES_MAX / 2;
    let message = format!(
        "returns strings of {bytes} bytes; at most {each} are allowed for one row and {all} for \
         one batch of rows"
    );
    Failure::new(1, message)
}

/// The reason of an error of the engine. Reading it may run code of the function once more, which
/// has its limits.
fn failure(ctx: &Ctx<'_>, error: &rquickjs::Error, limit: &Limit, millis: u64) -> Failure {
    if !error.is_exception() {
        return Failure::new(0, cut(&error.to_string()));
    }
    let thrown = ctx.catch();
    let exception = thrown.clone().into_object().and_then(Exception::from_object);
    let line = exception.as_ref().and_then(Exception::stack).map_or(0, |stack| line_of(&stack));
    if limit.is_over.get() {
        let message = format!("runs longer than {millis} ms for one batch of rows");
        return Failure::new(line, message);
    }
    let needs = || format!("needs more than {FUNCTION_MEMORY_BYTES_MAX} bytes of memory");
    let Some(exception) = exception else {
        if thrown.is_null() || thrown.is_undefined() {
            // The engine throws null if it has no memory for an error.
            return Failure::new(line, needs());
        }
        let text = thrown.as_string().and_then(|text| text.to_string().ok());
        let text = text.unwrap_or_else(|| thrown.type_name().to_owned());
        return Failure::new(line, cut(&format!("throws {text}")));
    };
    let message = exception.message().unwrap_or_default();
    if message.contains("out of memory") {
        return Failure::new(line, needs());
    }
    let name: Option<String> = exception.get("name").ok();
    let name = name.unwrap_or_else(|| "Error".to_owned());
    Failure::new(line, cut(&format!("{name}: {message}")))
}

/// The line of the innermost place in the function's source; 0 if there is none.
fn line_of(stack: &str) -> u32 {
    let place = stack.split(FILE).nth(1).and_then(|rest| rest.strip_prefix(':'));
    let digits = place.and_then(|rest| rest.split(|c: char| !c.is_ascii_digit()).next());
    digits.and_then(|digits| digits.parse().ok()).unwrap_or(0)
}

fn cut(text: &str) -> String {
    text[..text.floor_char_boundary(REASON_BYTES_MAX)].to_owned()
}

#[cfg(test)]
mod tests;

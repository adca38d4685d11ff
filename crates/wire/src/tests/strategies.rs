//! Random values, expressions, queries and partials. The strategies cover every field of every
//! variant, so that the tests notice anything that the codec omits.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use hadal_aggregate::{
    Coverage, CutParts, Groups, LeafCoverage, LeafOutcome, Partial, PartialBody, QueryError,
    QueryErrorCode, ScanStats, WarningCode,
};
use hadal_block::BlockBuilder;
use hadal_peer::{
    Batch, ExpiryForecast, ForeignBatch, LeafLoss, LeafStatus, MemberState, PeerStatus, SinkError,
    StatusScope, TableChange, TableReport, TableStatus,
};
use hadal_query::{
    AggregateFunction, ColumnRef, Expr, Function, GroupInput, LeafTotal, Measure, OrderKey, Output,
    Query, QueryKind, RowExpr, RowInput, SentGroups, SeriesLimit, StateKind, Total, Type,
    Weighting,
};
use hadal_types::limits::{
    SAMPLE_COLUMNS_MAX, SAMPLE_ONE_IN_MAX, TABLE_AGE_SECONDS_MAX, TABLE_AGE_SECONDS_MIN,
    TABLE_BYTES_SET_MAX, TABLE_BYTES_SET_MIN, TOP_BOUND_MAX,
};
use hadal_types::value::HistogramBucket;
use hadal_types::{
    AgeLimit, BatchId, ColumnName, ColumnPart, ColumnSchema, ColumnUnit, Decimal, Kind, LeafName,
    LeafState, Logical, Micros, Number, NumberRepr, SampleFactor, TableName, TableSchema,
    TableSettings, TableStorage, TimeRange, Value, Weight,
};
use proptest::prelude::*;
use proptest::{collection, option};

use crate::codes::Code;

/// All values that have a code.
pub(crate) fn coded<C: Code + std::fmt::Debug>() -> impl Strategy<Value = C> {
    let count = (1..).take_while(|&code| C::of_code(code).is_ok()).count();
    let last = i32::try_from(count).expect("few codes");
    (1..=last).prop_map(|code| C::of_code(code).expect("a code"))
}

pub(crate) fn number() -> impl Strategy<Value = Number> {
    let mantissa = prop_oneof![
        any::<i64>().prop_map(i128::from),
        (-100i128..100),
        any::<i128>(),
        Just(i128::MAX),
        Just(i128::MIN),
    ];
    let decimal = (mantissa, 0u8..=36).prop_filter_map("a decimal", |(mantissa, scale)| {
        Decimal::new(mantissa, scale).map(Number::from)
    });
    let double = any::<u64>().prop_filter_map("finite", |bits| {
        Number::from_f64(f64::from_bits(bits))
            .filter(|number| matches!(number.form(), NumberRepr::Double(_)))
    });
    prop_oneof![3 => decimal, 1 => double]
}

/// Possible values of a cell or a key.
pub(crate) fn cell() -> impl Strategy<Value = Value> {
    let words = || collection::vec("[a-c\u{e9}]{0,3}", 0..4);
    prop_oneof![
        1 => Just(Value::Null),
        1 => any::<bool>().prop_map(Value::Bool),
        3 => number().prop_map(Value::Number),
        1 => any::<i64>().prop_map(|micros| Value::Time(Micros(micros))),
        2 => "\\PC{0,8}".prop_map(|text| Value::string(&text)),
        1 => words().prop_map(Value::set),
        1 => words().prop_map(Value::vector),
    ]
}

/// Possible values of one column whose values are alike: they have compact columns.
fn alike(column: usize) -> BoxedStrategy<Value> {
    let values = match column % 3 {
        0 => (-9i64..9).prop_map(Value::integer).boxed(),
        1 => (-9i64..9).prop_map(|micros| Value::Time(Micros(micros))).boxed(),
        _ => "[a-c\u{e9}]{0,3}".prop_map(|text| Value::string(&text)).boxed(),
    };
    prop_oneof![1 => Just(Value::Null), 9 => values].boxed()
}

pub(crate) fn value() -> impl Strategy<Value = Value> {
    let bucket = (number(), number(), number()).prop_map(|(from, to, count)| HistogramBucket {
        from,
        to,
        count,
    });
    let histogram = collection::vec(bucket, 0..4);
    prop_oneof![9 => cell(), 1 => histogram.prop_map(|buckets| Value::Histogram(buckets.into()))]
}

fn column_name() -> impl Strategy<Value = ColumnName> {
    "[a-z\u{e9} ]{1,5}".prop_map(|name| ColumnName::new(&name).expect("a name"))
}

pub(crate) fn table_name() -> impl Strategy<Value = TableName> {
    "[A-Za-z0-9_:-][A-Za-z0-9_.:-]{0,8}".prop_map(|name| TableName::new(&name).expect("a name"))
}

fn expr<L: Clone + std::fmt::Debug + 'static>(
    leaf: impl Strategy<Value = L> + 'static,
) -> impl Strategy<Value = Expr<L>> {
    let end = prop_oneof![value().prop_map(Expr::Literal), leaf.prop_map(Expr::Leaf)];
    end.prop_recursive(5, 12, 4, |inner| {
        (coded::<Function>(), collection::vec(inner, 0..4))
            .prop_map(|(function, arguments)| Expr::Call { function, arguments })
    })
}

pub(crate) fn row_expr() -> impl Strategy<Value = RowExpr> {
    let column = (column_name(), coded::<Kind>(), coded::<Logical>())
        .prop_map(|(name, kind, logical)| RowInput::Column(ColumnRef { name, kind, logical }));
    let (text, random) = ("\\PC{0,5}", any::<i64>());
    let others = prop_oneof![text.prop_map(RowInput::AnyText), random.prop_map(RowInput::Random)];
    expr(prop_oneof![Just(RowInput::Time), column, others])
}

fn finish(kind: StateKind) -> BoxedStrategy<AggregateFunction> {
    match kind {
        StateKind::Moments => {
            let finishes = vec![
                AggregateFunction::Count,
                AggregateFunction::RawCount,
                AggregateFunction::Sum,
                AggregateFunction::Avg,
            ];
            proptest::sample::select(finishes).boxed()
        }
        StateKind::MinMax => {
            proptest::sample::select(vec![AggregateFunction::Min, AggregateFunction::Max]).boxed()
        }
        StateKind::Quantiles => prop_oneof![
            any::<u32>().prop_map(AggregateFunction::Quantile),
            any::<u32>().prop_map(AggregateFunction::QuantileCont),
        ]
        .boxed(),
        StateKind::Distinct => Just(AggregateFunction::Distinct).boxed(),
        StateKind::Histogram(buckets) => Just(AggregateFunction::Histogram(buckets)).boxed(),
        StateKind::Variance => {
            let finishes = vec![
                AggregateFunction::VarPop,
                AggregateFunction::VarSamp,
                AggregateFunction::StddevPop,
                AggregateFunction::StddevSamp,
            ];
            proptest::sample::select(finishes).boxed()
        }
        StateKind::Covariance => {
            let finishes = vec![
                AggregateFunction::CovarPop,
                AggregateFunction::CovarSamp,
                AggregateFunction::Corr,
                AggregateFunction::RegrSlope,
                AggregateFunction::RegrIntercept,
            ];
            proptest::sample::select(finishes).boxed()
        }
        StateKind::ArgMinMax => {
            proptest::sample::select(vec![AggregateFunction::ArgMin, AggregateFunction::ArgMax])
                .boxed()
        }
        StateKind::TopValues => (0u16..=1_000).prop_map(AggregateFunction::TopValues).boxed(),
        StateKind::LogHistogram(base) => Just(AggregateFunction::LogHistogram(base)).boxed(),
        StateKind::EdgeHistogram => Just(AggregateFunction::EdgeHistogram).boxed(),
        StateKind::User(id) => Just(AggregateFunction::User(id)).boxed(),
        StateKind::RandomGroups => unreachable!("no aggregate is finished from it"),
    }
}

/// Any slot of a query of this kind.
fn slot(kind: &QueryKind) -> BoxedStrategy<GroupInput> {
    let plain = vec![GroupInput::RawCount, GroupInput::Count, GroupInput::Seconds];
    let mut slots = proptest::sample::select(plain).boxed();
    let (keys, measures) = match kind {
        QueryKind::Rows { values } => (values.len(), &[][..]),
        QueryKind::Groups { keys, measures } => (keys.len(), &measures[..]),
    };
    if keys > 0 {
        slots = prop_oneof![slots, (0..keys).prop_map(GroupInput::Key)].boxed();
    }
    let is_finished = |(_, of): &(usize, &Measure)| of.kind != StateKind::RandomGroups;
    for (index, measure) in measures.iter().enumerate().filter(is_finished) {
        let measured =
            finish(measure.kind).prop_map(move |finish| GroupInput::Measure(index, finish));
        slots = prop_oneof![slots, measured].boxed();
    }
    slots
}

fn state_kind() -> impl Strategy<Value = StateKind> {
    prop_oneof![
        Just(StateKind::Moments),
        Just(StateKind::MinMax),
        Just(StateKind::Quantiles),
        Just(StateKind::Distinct),
        (1u16..=1_000).prop_map(StateKind::Histogram),
        Just(StateKind::Variance),
        Just(StateKind::Covariance),
        Just(StateKind::ArgMinMax),
        Just(StateKind::TopValues),
        (2u16..=1_000).prop_map(StateKind::LogHistogram),
        Just(StateKind::EdgeHistogram),
        Just(StateKind::RandomGroups),
    ]
}

fn leaf_total() -> impl Strategy<Value = LeafTotal> {
    prop_oneof![
        Just(LeafTotal::TableRows),
        Just(LeafTotal::Of(Total::Rows)),
        (0usize..9).prop_map(|measure| LeafTotal::Of(Total::Count(measure))),
        (0usize..9).prop_map(|measure| LeafTotal::Of(Total::Sum(measure))),
    ]
}

pub(crate) fn query_kind() -> impl Strategy<Value = QueryKind> {
    let expressions = (row_expr(), row_expr());
    let weighting = (0u8..3, leaf_total(), leaf_total());
    let measure = (state_kind(), expressions, weighting).prop_map(|(kind, of, weighting)| {
        let (argument, second) = (of.0, kind.is_of_pairs().then_some(of.1));
        let weighting = match weighting {
            (1, ..) if kind.takes_sampling_variances() => Weighting::SamplingVariance,
            (2, one, other) if kind == StateKind::Covariance => Weighting::Leaves([one, other]),
            _ => Weighting::Events,
        };
        Measure { kind, argument, second, weighting }
    });
    prop_oneof![
        1 => collection::vec(row_expr(), 0..4).prop_map(|values| QueryKind::Rows { values }),
        3 => (collection::vec(row_expr(), 0..4), collection::vec(measure, 0..5))
            .prop_map(|(keys, measures)| QueryKind::Groups { keys, measures }),
    ]
}

pub(crate) fn query() -> impl Strategy<Value = Query> {
    query_kind().prop_flat_map(query_of_kind)
}

fn query_of_kind(kind: QueryKind) -> impl Strategy<Value = Query> {
    let over = || expr(slot(&kind)).boxed();
    let output = ("\\PC{0,5}", coded::<Type>(), over())
        .prop_map(|(name, value_type, expr)| Output { name, value_type, expr });
    let order = (over(), any::<bool>(), any::<bool>())
        .prop_map(|(expr, descending, nulls_first)| OrderKey { expr, descending, nulls_first });
    let series = (any::<usize>(), over()).prop_map(|(count, rank)| SeriesLimit { count, rank });
    let time = || option::of(any::<i64>().prop_map(Micros));
    let range = || (time(), time()).prop_map(|(from, to)| TimeRange { from, to });
    let what = (
        table_name(),
        (range(), collection::vec(range(), 0..3)),
        option::of(row_expr()),
        collection::vec(output, 0..4),
        option::of(over()),
        collection::vec(order, 0..3),
        option::of(series),
    );
    let how = (10u64..1_000, 0u64..1_000, any::<i64>(), any::<Duration>(), any::<bool>());
    let sent = sent_groups(&kind);
    (Just(kind), what, how, sent).prop_map(
        |(kind, (table, (range, intervals), filter, outputs, having, order, series), how, sent)| {
            let (limit, offset, now, deadline, require_complete) = how;
            Query {
                table,
                range,
                intervals,
                filter,
                kind,
                outputs,
                having,
                order,
                series,
                totals: false,
                limit,
                offset,
                now: Micros(now),
                deadline,
                require_complete,
                functions: Arc::default(),
                confidence: None,
                sent,
            }
        },
    )
}

fn sent_groups(kind: &QueryKind) -> BoxedStrategy<SentGroups> {
    let QueryKind::Groups { keys, .. } = kind else { return Just(SentGroups::All).boxed() };
    let keys = collection::btree_set(collection::vec(cell(), keys.len()), 1..4);
    let keys = keys.prop_map(|keys| keys.into_iter().map(Vec::into_boxed_slice).collect());
    prop_oneof![Just(SentGroups::All), Just(SentGroups::Largest), keys.prop_map(SentGroups::Keys),]
        .boxed()
}

/// What was left out of groups; of some, the slack needs more than 64 bits.
fn cut_of(groups: &Groups) -> impl Strategy<Value = Option<CutParts>> + use<> {
    let len = groups.len();
    let threshold = prop_oneof![Just(1), 1..=TOP_BOUND_MAX, Just(TOP_BOUND_MAX)];
    let cut = (threshold, any::<u64>(), any::<u64>(), 0..100usize).prop_map(
        move |(threshold, groups, rows, first)| {
            let slacks = (first..first + len).map(|shift| threshold >> shift).collect();
            CutParts { threshold, groups, rows, slacks }
        },
    );
    option::of(cut)
}

pub(crate) fn weight() -> impl Strategy<Value = Weight> {
    prop_oneof![
        Just(Weight::ONE),
        (1..=Weight::MILLIONTHS_MAX)
            .prop_map(|millionths| { Weight::from_millionths(millionths).expect("in range") })
    ]
}

/// A raw row: its keys, its measures' arguments, and its weight.
type Row = (Vec<Value>, Vec<Value>, Weight);

fn add_row(partial: &mut Partial, (keys, arguments, weight): &Row) {
    match &mut partial.body {
        // The partial of raw rows whose order cannot be evaluated has an error and nothing else.
        PartialBody::Groups(_) if !partial.errors.is_empty() => {}
        PartialBody::Groups(groups) => {
            groups.add_row(keys, arguments, *weight);
        }
        PartialBody::Rows(rows) => rows.add(keys.clone().into()).expect("short strings"),
    }
}

/// Partials of some rows. The first group may also get a run of whole numbers, for the forms that
/// states take with many values.
fn answering(query: &Query) -> impl Strategy<Value = Partial> + use<> {
    let keys = match &query.kind {
        QueryKind::Rows { values } => values.len(),
        QueryKind::Groups { keys, .. } => keys.len(),
    };
    let measures = query.measures().len();
    let row = (collection::vec(cell(), keys), collection::vec(cell(), measures), weight()).boxed();
    let columns = |count: usize| (0..count).map(alike).collect::<Vec<_>>();
    let row_alike = (columns(keys), columns(measures), weight()).boxed();
    let run = prop_oneof![4 => Just(0i64), 1 => Just(300), 1 => Just(1_100)];
    let query = query.clone();
    let rows = prop_oneof![collection::vec(row, 0..6), collection::vec(row_alike, 0..6)];
    (rows, run).prop_map(move |(rows, run)| {
        let mut partial = Partial::empty(&query);
        rows.iter().for_each(|row| add_row(&mut partial, row));
        if let Some((keys, ..)) = rows.first() {
            for number in 0..run {
                let arguments = vec![Value::integer(number); measures];
                add_row(&mut partial, &(keys.clone(), arguments, Weight::ONE));
            }
        }
        partial
    })
}

fn coverage() -> impl Strategy<Value = Coverage> {
    let counts = (0..1_000_000u64, 0..1_000_000u64, any::<u64>());
    let leaf = ("\\PC{1,5}", coded::<LeafOutcome>(), counts, any::<bool>());
    collection::vec(leaf, 0..5).prop_map(|leaves| {
        let mut coverage = Coverage::default();
        for (name, outcome, (rows_expected, rows_scanned, micros), has_table) in leaves {
            let name = LeafName(name.into());
            let as_of = (micros, rows_scanned);
            let leaf = LeafCoverage { name, outcome, rows_expected, rows_scanned, micros, as_of };
            coverage.merge(Coverage::of_leaf(leaf, has_table));
            coverage.unknown_losses += u64::from(has_table);
        }
        coverage
    })
}

pub(crate) fn partial_of(query: &Query) -> impl Strategy<Value = Partial> + use<> {
    let stats = any::<[u64; 6]>().prop_map(|counts| {
        let [rows_read, rows_matched, blocks, blocks_skipped, bytes_read, scan_micros] = counts;
        ScanStats { rows_read, rows_matched, blocks, blocks_skipped, bytes_read, scan_micros }
    });
    let until = option::of(any::<i64>().prop_map(Micros));
    let warning = (coded::<WarningCode>(), "\\PC{0,5}", any::<u64>(), until);
    let warnings = collection::vec(warning, 0..4);
    let faults = collection::vec((coded::<QueryErrorCode>(), "\\PC{0,5}"), 0..3);
    let query = query.clone();
    let answering = answering(&query).prop_flat_map(|partial| {
        let groups = match &partial.body {
            PartialBody::Groups(groups) => groups.clone(),
            PartialBody::Rows(_) => Groups::new(&Query::new(
                TableName::new("t").expect("a name"),
                QueryKind::Groups { keys: Vec::new(), measures: Vec::new() },
            )),
        };
        (Just(partial), cut_of(&groups))
    });
    (answering, coverage(), stats, warnings, faults, 0u64..9).prop_map(
        move |((mut partial, cut), coverage, stats, warnings, faults, dropped)| {
            for (code, subject, count, until) in warnings {
                partial.warnings.add_until(code, &subject, count, until);
            }
            for (code, message) in faults {
                partial.errors.add(QueryError::new(code, &message));
            }
            if let PartialBody::Groups(groups) = &mut partial.body {
                // Dropped rows of keys that are larger than all of these.
                let (kept, _) = groups.clone().into_sorted();
                *groups = Groups::from_parts(&query, kept, dropped).expect("groups of the query");
                if let Some(cut) = cut {
                    *groups = groups.clone().with_cut(cut).expect("in range");
                }
            }
            Partial { coverage, stats, ..partial }
        },
    )
}

pub(crate) fn query_and_partial() -> impl Strategy<Value = (Query, Partial)> {
    query().prop_flat_map(|query| {
        let partial = partial_of(&query);
        (Just(query), partial)
    })
}

fn schema(name: TableName) -> impl Strategy<Value = TableSchema> {
    let parts = collection::btree_map(coded::<Kind>(), (coded::<Logical>(), any::<u64>()), 1..4);
    let columns = collection::btree_map(column_name(), parts, 0..4);
    let times = option::of((any::<i64>(), any::<i64>()));
    (column_name(), columns, any::<u64>(), times).prop_map(
        move |(time_column, columns, rows, times)| {
            let column = |(name, parts): (ColumnName, BTreeMap<Kind, (Logical, u64)>)| {
                let parts = parts.into_iter();
                let parts = parts.map(|(kind, (logical, rows))| ColumnPart { kind, logical, rows });
                ColumnSchema { name, parts: parts.collect() }
            };
            let time_range =
                times.map(|(left, right)| (Micros(left.min(right)), Micros(left.max(right))));
            let columns = columns.into_iter().map(column).collect();
            TableSchema { name: name.clone(), time_column, columns, rows, time_range }
        },
    )
}

pub(crate) fn status() -> impl Strategy<Value = PeerStatus> {
    let table = table_name().prop_flat_map(schema);
    let until = || option::of(any::<i64>().prop_map(Micros));
    let rules = (option::of(settings()), option::of(expiry()), option::of("\\PC{0,9}"));
    let table = (table, any::<[u64; 8]>(), (until(), until()), rules, coded::<LeafState>());
    let table = table.prop_map(|(schema, counts, (dropped_until, expired_until), rules, state)| {
        let (settings, expiry, archive_error) = rules;
        let [blocks, block_bytes, raw_bytes, rest @ ..] = counts;
        let [dropped_rows, dropped_bytes, expired_rows, lost_rows, waiting_rows] = rest;
        let name = schema.name.clone();
        let schema = Arc::new(schema);
        let status = TableStatus {
            schema,
            blocks,
            block_bytes,
            raw_bytes,
            dropped_rows,
            dropped_bytes,
            dropped_until,
            expired_rows,
            expired_until,
            lost_rows,
            waiting_rows,
            state,
            settings,
            expiry,
            archive_error,
        };
        (name, Arc::new(status))
    });
    let tables = collection::vec(table, 0..3);
    let loss = (any::<i64>(), "\\PC{1,5}");
    let loss = loss.prop_map(|(found, what)| LeafLoss { found: Micros(found), what });
    let state = option::of(coded::<LeafState>());
    let state = state.prop_map(|state| state.map_or(MemberState::Silent, MemberState::Announced));
    let leaf = (state, any::<u64>(), tables, collection::vec(loss, 0..3));
    collection::btree_map("\\PC{1,5}", leaf, 0..4).prop_map(|leaves| {
        let leaf = |(name, (state, block_bytes, tables, losses)): (String, (_, _, Vec<_>, _))| {
            let tables = Arc::new(tables.into_iter().collect());
            LeafStatus { name: LeafName(name.into()), state, block_bytes, tables, losses }
        };
        PeerStatus { leaves: leaves.into_iter().map(leaf).collect() }
    })
}

pub(crate) fn settings() -> impl Strategy<Value = TableSettings> {
    let age = || {
        let limited = TABLE_AGE_SECONDS_MIN..=TABLE_AGE_SECONDS_MAX;
        option::of(prop_oneof![Just(AgeLimit::Unlimited), limited.prop_map(AgeLimit::Seconds)])
    };
    let bytes = TABLE_BYTES_SET_MIN..=TABLE_BYTES_SET_MAX;
    let keep = 2..=SAMPLE_ONE_IN_MAX;
    let unit = proptest::sample::select(ColumnUnit::ALL.to_vec());
    let columns = collection::vec(column_name(), 1..=SAMPLE_COLUMNS_MAX);
    let sampling = (
        age(),
        option::of(
            columns.prop_filter_map("fit", |columns| TableSettings::check_sample_by(columns).ok()),
        ),
        option::of(keep.prop_filter_map("in range", SampleFactor::new)),
        option::of(column_name()),
        option::of(1..=65_536u32),
    );
    (
        age(),
        option::of(any::<bool>()),
        option::of(bytes),
        age(),
        sampling,
        option::of(prop_oneof![Just(TableStorage::Memory), Just(TableStorage::Mmap)]),
        option::of(column_name()),
        option::of(collection::btree_map(column_name(), unit, 1..5)),
    )
        .prop_map(
            |(age, archive, bytes, cold_after, sampling, storage, time_column, units)| {
                let (sample_after, sample_by, sample_keep, sample_key, sample_least) = sampling;
                TableSettings {
                    age,
                    archive,
                    bytes,
                    cold_after,
                    sample_after,
                    sample_by,
                    sample_keep,
                    sample_key,
                    sample_least,
                    storage,
                    time_column,
                    units,
                }
            },
        )
}

fn expiry() -> impl Strategy<Value = ExpiryForecast> {
    any::<(i64, i64, u64, u64)>().prop_map(|(at, until, rows, bytes)| ExpiryForecast {
        at: Micros(at),
        until: Micros(until),
        rows,
        bytes,
    })
}

pub(crate) fn batch_id() -> impl Strategy<Value = BatchId> {
    "[!-~]{1,20}".prop_map(|id| BatchId::new(&id).expect("an id"))
}

/// A batch with arbitrary bytes as its block.
pub(crate) fn foreign_batch() -> impl Strategy<Value = ForeignBatch> {
    let block = collection::vec(any::<u8>(), 0..200);
    ((table_name(), any::<bool>()), batch_id(), any::<u64>(), 0usize..=65_536, block).prop_map(
        |((table, first_try), id, content_hash, rows, block)| ForeignBatch {
            table,
            id,
            content_hash,
            first_try,
            rows,
            block,
        },
    )
}

/// A batch with an encoded block.
pub(crate) fn batch() -> impl Strategy<Value = Batch> {
    (table_name(), batch_id(), any::<u64>(), 1i64..50).prop_map(|(table, id, hash, rows)| {
        let mut builder = BlockBuilder::new(ColumnName::new("time").expect("a name"));
        (0..rows).for_each(|row| builder.end_row(Micros(row)));
        let rows = builder.rows();
        let block = builder.finish(Micros(0), Some((&id, hash))).expect("fits");
        Batch::encoded(table, id, hash, rows, block)
    })
}

pub(crate) fn sink_error() -> impl Strategy<Value = SinkError> {
    let words = || "\\PC{0,9}";
    prop_oneof![
        batch_id().prop_map(|id| SinkError::Conflict { id }),
        (batch_id(), table_name(), words()).prop_map(|(id, table, reason)| SinkError::Corrupt {
            id,
            table,
            reason
        }),
        words().prop_map(SinkError::Busy),
        words().prop_map(SinkError::Limit),
        words().prop_map(SinkError::Full),
        words().prop_map(SinkError::Store),
        words().prop_map(SinkError::Unavailable),
        words().prop_map(SinkError::OutcomeUnknown),
    ]
}

pub(crate) fn table_change() -> impl Strategy<Value = TableChange> {
    (table_name(), batch_id(), settings(), 0..6).prop_map(|(table, batch, settings, kind)| {
        match kind {
            0 => TableChange::Drop { table },
            1 => TableChange::Configure { table, settings },
            2 => TableChange::CheckRevoke { table, batch },
            3 => TableChange::Revoke { table, batch },
            4 => TableChange::AcknowledgeLosses { table: Some(table) },
            _ => TableChange::AcknowledgeLosses { table: None },
        }
    })
}

pub(crate) fn status_scope() -> impl Strategy<Value = StatusScope> {
    let tables = collection::vec(batch().prop_map(|batch| batch.table), 0..3);
    prop_oneof![
        Just(StatusScope::All),
        Just(StatusScope::Leaves),
        tables.prop_map(StatusScope::Tables),
    ]
}

pub(crate) fn table_report() -> impl Strategy<Value = TableReport> {
    (status(), batch(), any::<[u64; 4]>()).prop_map(|(status, batch, numbers)| {
        let [started, version, recovered_rows, accepted_rows] = numbers;
        let leaf = status.leaves.first().map(|leaf| leaf.name.clone());
        let leaf = leaf.unwrap_or_else(|| LeafName("leaf".into()));
        let share = status.leaves.iter().flat_map(|leaf| leaf.tables.values()).next().cloned();
        let table = share.as_ref().map_or(batch.table, |share| share.schema.name.clone());
        let status = share;
        TableReport { leaf, table, started, version, recovered_rows, accepted_rows, status }
    })
}

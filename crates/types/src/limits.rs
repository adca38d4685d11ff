//! Every limit of the system, with its name and default, in one place.
//!
//! Reaching a limit is an ordinary, tested outcome with an error or a warning that names it.

mod documents;
mod functions;
mod postgresql;
mod settings;
mod watching;

pub use documents::*;
pub use functions::*;
pub use postgresql::*;
pub use settings::*;
pub use watching::*;

/// Rows in one row block (and in one batch) at most.
pub const BLOCK_ROWS_MAX: usize = 65_536;
/// Bytes of one encoded row block at most.
pub const BLOCK_BYTES_MAX: usize = 256 << 20;
/// Row block columns in one row block.
pub const BLOCK_COLUMNS_MAX: usize = 1 << 17;
/// Elements of all lists in one row block column; each counts as four raw bytes.
pub const BLOCK_LIST_ELEMENTS_MAX: usize = BLOCK_BYTES_MAX / 4;
/// Numbers of all strings of one row block column that is stored as templates and numbers.
pub const TEMPLATE_NUMBERS_MAX: usize = 1 << 22;
/// Values in one vector: the unit of bit packing and of zones (FastLanes, VLDB 2023).
pub const VECTOR_VALUES: usize = 1_024;
/// A batch is cut when its raw input reaches this many bytes.
pub const BATCH_BYTES_MAX: usize = 16 << 20;
/// Bytes of one JSON line at most.
pub const LINE_BYTES_MAX: usize = 1 << 20;
/// Bytes of the body of a strict request, before decompression. It is held whole, so it is limited.
pub const BODY_BYTES_MAX: usize = 16 << 20;
/// Bytes of the body of a strict request after decompression.
pub const BODY_INFLATED_BYTES_MAX: usize = 64 << 20;
/// Decompressed bytes may exceed compressed bytes by this factor, beyond the first MiB.
pub const INFLATE_RATIO_MAX: usize = 100;
/// Columns in one row at most.
pub const ROW_FIELDS_MAX: usize = 1_000;
/// Live columns in one table; further ones go to `_overflow` as JSON text.
pub const TABLE_COLUMNS_MAX: usize = 4_096;
/// Tables in one process, over all of its leaves.
pub const TABLES_MAX: usize = 10_000;
/// Bytes of a table or column name.
pub const NAME_BYTES_MAX: usize = 128;
/// Bytes of one string value; longer ones are cut at a character boundary, with a warning.
pub const STRING_BYTES_MAX: usize = 64 << 10;
/// Elements of one set or vector; further ones are cut, with a warning.
pub const LIST_ELEMENTS_MAX: usize = 4_096;
/// Nesting depth of a JSON row.
pub const JSON_DEPTH_MAX: usize = 64;
/// Digits after the point that a stored decimal can have.
pub const DECIMAL_SCALE_MAX: u8 = 18;
/// Bytes of a table beyond which its oldest blocks are dropped, if no setting says otherwise and
/// half of the memory ceiling is not larger. Each leaf of a process has an even share of them.
/// Placement keeps the leaves of every table even, to within a batch or two.
pub const TABLE_BYTES_MAX: u64 = 1 << 30;
/// Batches whose ids a leaf remembers per table.
pub const BATCH_IDS_MAX: usize = 1_000_000;
/// How long a leaf remembers a batch id, in seconds of running time, not of the wall clock.
pub const BATCH_ID_SECONDS: i64 = 3_600;
/// How long a leaf is silent, in seconds, before batches that it may hold are placed elsewhere. It
/// decides how long such batches wait, not whether they count once.
pub const LEAF_AWAY_SECONDS: u64 = 10;
/// How long one request to place a batch may take, in seconds: longer than [`LEAF_AWAY_SECONDS`],
/// so that a batch whose leaf dies is placed without another request.
pub const PLACEMENT_SECONDS: u64 = 15;
/// How long a leaf that joined gets no batches that may be retries, in seconds, so that all senders
/// know it by then.
pub const LEAF_NEW_SECONDS: u64 = 10;
/// A sender that has heard nothing of any leaf for this many seconds was frozen. It sends no batch
/// that may be a retry until it hears of the leaves.
pub const MEMBERS_STALE_SECONDS: u64 = 3;
/// How often a leaf reads which of its batches were revoked, in seconds.
pub const REVOCATIONS_SECONDS: u64 = 2;
/// How long a leaf may take to say whether it has a batch, in milliseconds.
pub const LOOK_UP_MILLIS: u64 = 1_000;
/// How long a leaf may take to accept a batch, in seconds. After that it is unknown whether it did.
pub const ACCEPT_SECONDS: u64 = 5;
/// Bytes of one process's batches that are in memory and not in a segment yet. Beyond it a batch is
/// refused as busy. From half of it on, batches are moved to segments as they are.
pub const FRESH_BYTES_MAX: u64 = 256 << 20;
/// Raw bytes of the blocks that one merge takes; a larger block is merged alone. A leaf makes one
/// merge at a time. A merge may need a few times as much memory, for the decoded and encoded data.
pub const MERGE_BYTES_MAX: u64 = 64 << 20;
/// Age from which a batch is settled, in seconds. A younger one can be revoked, so its rows keep
/// arrival order.
pub const BATCH_SETTLED_SECONDS: i64 = 120;
/// Age of the record of a batch that moved, in seconds, from which its new leaf may have settled
/// it, with [`CLOCK_SKEW_SECONDS`] between the clocks of both.
pub const BATCH_MOVED_SECONDS: i64 = BATCH_SETTLED_SECONDS - CLOCK_SKEW_SECONDS;
/// Age from which a batch cannot be revoked any more, in seconds. It is below
/// [`BATCH_SETTLED_SECONDS`]: if all leaves with parts of a batch agree to revoke it, each can.
pub const BATCH_REVOKED_SECONDS: i64 = 90;
/// Rows further in the future than this are refused, in seconds.
pub const FUTURE_SECONDS_MAX: i64 = 86_400;
/// Default age limit of a table, in days.
pub const TABLE_AGE_DAYS: i64 = 30;
/// Seconds within which a start that trusted the bytes in memory verifies all of them.
pub const SCRUB_SECONDS_MAX: u64 = 60;
/// Later, all row blocks are verified again and again. One round takes at least this many seconds.
pub const SCRUB_ROUND_SECONDS_MIN: u64 = 60;
/// Bytes of row blocks that a process then verifies per second.
pub const SCRUB_BYTES_PER_SECOND: u64 = 16 << 20;
/// Bytes of disk that the leaves of a process reserve together, so that accepted batches can be
/// moved to segments when the disk is full. It equals the most that batches in memory may take.
pub const DISK_RESERVE_BYTES: u64 = FRESH_BYTES_MAX;
/// The reserve is at most 1/n of the disk, for this n.
pub const DISK_RESERVE_PART: u64 = 16;
/// Bytes of a tmpfs below which row blocks are read from disk instead.
pub const TMPFS_BYTES_MIN: u64 = 256 << 20;
/// The smallest memory limit that a process can be given, in bytes.
pub const MEMORY_BYTES_MIN: u64 = 256 << 20;
/// The shortest age limit that a table can be given, in seconds.
pub const TABLE_AGE_SECONDS_MIN: i64 = 60;
/// The longest age limit that a table can be given, in seconds: 100 years of 365 days.
pub const TABLE_AGE_SECONDS_MAX: i64 = 36_500 * 86_400;
/// The fewest bytes that a table can be limited to.
pub const TABLE_BYTES_SET_MIN: u64 = 1 << 20;
/// The most bytes that a table can be limited to.
pub const TABLE_BYTES_SET_MAX: u64 = 1 << 50;
/// How often too old rows are searched, in seconds. Changing a limit starts a search, too.
pub const EXPIRY_SECONDS: i64 = 900;
/// Rows may exceed their age limit by this many seconds while most of their block is younger.
pub const EXPIRY_SLACK_SECONDS: i64 = 86_400;
/// Row blocks that are subsampled or made cold before the leaf's other work has its turn. The next
/// ones follow a second later, so this takes a tenth to half of a core.
pub const REWRITE_BLOCKS_MAX: usize = 16;
/// Raw bytes of these blocks; a larger block is rewritten alone.
pub const REWRITE_BYTES_MAX: u64 = 256 << 20;
/// Row blocks whose rows a leaf archives at once, before it drops them.
pub const ARCHIVE_BLOCKS_MAX: usize = 1_024;
/// Files that a leaf writes to the archive at once, one per day of rows.
pub const ARCHIVE_FILES_MAX: usize = 400;
/// Seconds after which a failed archive is tried again.
pub const ARCHIVE_RETRY_SECONDS: u64 = 60;
/// Percent of its limit of bytes to which archiving reduces a table that exceeds the limit.
pub const ARCHIVE_TO_PERCENT: u64 = 90;
/// Subsampling keeps at least one row in this many: the largest factor of a weight.
pub const SAMPLE_ONE_IN_MAX: u16 = 10_000;
/// Percent of the memory for row blocks. Above it, too old rows are dropped sooner and old row
/// blocks become cold.
pub const PRESSED_PERCENT: usize = 90;
/// Bytes of row blocks that a leaf evicts from memory per second when more is used than allowed.
pub const LEAVING_BYTES_MAX: usize = 128 << 20;
/// Percent of the memory for row blocks. Below it, row blocks of the disk move to memory.
pub const ROOMY_PERCENT: usize = 75;
/// How often too old rows are searched while memory is nearly full, in seconds.
pub const PRESSED_EXPIRY_SECONDS: u64 = 60;
/// Percent of rows that one pass drops for their age without a line in the log: of a leaf's rows,
/// or for sampling of a table's rows.
pub const EXPIRY_QUIET_PERCENT: u64 = 5;
/// A leaf's clock has jumped when it gains or loses more seconds than this against the time that
/// passed. Nothing is dropped for its age until the clock has been right again for a while.
pub const CLOCK_JUMP_SECONDS: i64 = 86_400;
/// Seconds after a start, and after a clock jump, in which a leaf drops nothing for its age.
pub const CLOCK_PROVING_SECONDS: u64 = 900;
/// Bytes of one segment file; a larger block gets a segment of its own size.
pub const SEGMENT_BYTES: u64 = 64 << 20;
/// Bytes of a log file from which it is not appended to any more.
pub const LOG_FILE_BYTES: u64 = 64 << 20;
/// Log files beside the one that is written to. Tables that still have fresh rows in older files
/// get them moved to segments. A start reads all log files before it answers.
pub const LOG_FILES_MAX: usize = 2;
/// Bytes of batches that wait for the log's disk. Beyond it an append is refused as busy.
pub const LOG_QUEUE_BYTES_MAX: usize = 64 << 20;
/// Losses that a leaf's status lists one by one. Answers count all of them.
pub const LEAF_LOSSES_MAX: usize = 1_000;
/// Lost row blocks of a leaf for which the time of the discovery is stored. A table's age limit
/// never clears the loss of others.
pub const LOST_BLOCKS_NOTED_MAX: usize = 65_536;
/// Bytes of a table's settings as the manifest keeps them.
pub const TABLE_SETTINGS_BYTES_MAX: usize = 64 << 10;
/// Bytes of a log file or manifest that a start reads. No process writes larger ones.
pub const FOLDER_FILE_BYTES_MAX: u64 = 4 << 30;
/// Bytes of the mark of a clean shutdown that a start reads: a larger file is not a mark. Each row
/// block that is not in memory takes eight bytes.
pub const STOP_MARK_BYTES_MAX: u64 = 64 << 20;
/// Bytes below which a manifest is never compacted.
pub const MANIFEST_BYTES_MIN: u64 = 1 << 20;

/// Bytes of one SQL text.
pub const SQL_BYTES_MAX: usize = 64 << 10;
/// Bytes of a string that an expression computes; a longer one fails its query.
pub const COMPUTED_STRING_BYTES_MAX: usize = 1 << 20;
/// Depth of an expression tree.
pub const EXPR_DEPTH_MAX: usize = 64;
/// Operators between two commas of a SQL text, such as a chain of AND, OR or +.
pub const EXPR_OPERATORS_MAX: usize = 4_096;
/// Nodes that output names and repeated operands may add to the expressions of one query.
pub const EXPR_COPIES_MAX: usize = 10_000;
/// Patterns (LIKE and regular expressions) of one query.
pub const PATTERNS_MAX: usize = 100;
/// Buckets of one histogram.
pub const HISTOGRAM_BUCKETS_MAX: u16 = 1_000;
/// The largest number whose powers are the edges of a histogram.
pub const HISTOGRAM_BASE_MAX: u16 = 1_000;
/// Values of one `top_k`.
pub const TOP_VALUES_MAX: u16 = 1_000;
/// Items of one IN list.
pub const IN_ITEMS_MAX: usize = 1_000;
/// Group-by keys of one query.
pub const GROUP_KEYS_MAX: usize = 20;
/// Columns in one answer.
pub const OUTPUTS_MAX: usize = 5_000;
/// Totals that one output with a confidence interval may depend on.
pub const CONFIDENCE_TOTALS_MAX: usize = 6;
/// Rows of equal weight that a confidence interval needs at least.
pub const CONFIDENCE_EFFECTIVE_ROWS_MIN: f64 = 100.0;
/// Leaves that have to answer for an interval around an estimate for all leaves.
pub const CONFIDENCE_LEAVES_MIN: usize = 5;
/// Random groups of keys that variances are computed from in tables with a `sample_key`.
pub const CONFIDENCE_KEY_GROUPS: usize = 128;
/// Columns that one contrast examines.
pub const CONTRAST_COLUMNS_MAX: usize = 200;
/// Values of a column that a contrast examines: the most frequent ones of the selection.
pub const CONTRAST_VALUES_MAX: u64 = 500;
/// Differences that one contrast returns.
pub const CONTRAST_FINDINGS_MAX: usize = 100;
/// Bytes of one regular expression.
pub const REGEX_BYTES_MAX: usize = 1_024;
/// Bytes of the compiled program of one regular expression, and of its lazy DFA.
pub const REGEX_PROGRAM_BYTES_MAX: usize = 1 << 20;
/// Nesting depth of one regular expression.
pub const REGEX_NEST_MAX: u32 = 50;
/// Buckets that one time bucketing may make.
pub const TIME_BUCKETS_MAX: usize = 10_080;
/// Groups that one leaf sends to another machine, or that stay once a query's memory is exhausted.
/// Further ones are dropped, with a warning.
pub const LEAF_GROUPS_MAX: usize = 1_000_000;
/// Groups that one query keeps in the memory of one process, while its memory suffices.
pub const GROUPS_MAX: usize = 16_000_000;
/// Groups of a top list that a process sends to another one, for each row of the list.
pub const TOP_GROUPS_PER_ROW: usize = 5;
/// Groups of a top list that a process sends to another one in any case.
pub const TOP_GROUPS_MIN: usize = 100;
/// Groups that the second round of a top list asks for by key. So levels of the tree leave groups
/// out only for lists of up to [`TOP_KEYS_MAX`] / [`TOP_GROUPS_PER_ROW`] rows, `OFFSET` included.
pub const TOP_KEYS_MAX: usize = 5_000;
/// Bytes of these keys. With more, all groups are asked for.
pub const TOP_KEYS_BYTES_MAX: usize = 1 << 20;
/// The largest bound of what a group of a top list may have in addition, in rows or millionths. It
/// stands for "any number".
pub const TOP_BOUND_MAX: i128 = 1 << 96;
/// Buffers of one block's numbers that a thread keeps for the next block: 4 MiB.
pub const BUFFERS_KEPT_MAX: usize = 16;
/// Decompressed bodies of cold columns whose memory a thread keeps for the next block: 8 MiB.
pub const THAWED_KEPT_MAX: usize = 16;
/// Bytes of the largest of these bodies; the memory of a larger one goes back to the allocator.
pub const THAWED_KEPT_BYTES_MAX: usize = 512 << 10;
/// Bytes of one column's strings that a leaf keeps to identify them by id. Beyond it, strings are
/// looked up in each block.
pub const INTERNED_BYTES_MAX: usize = 16 << 20;
/// Bytes that one query may hold on one leaf: the size of ten million groups of different texts.
pub const LEAF_QUERY_BYTES_MAX: usize = 1 << 30;
/// Bytes that all queries of one process may hold together: in leaves, during merges, and as
/// answers that are not sent yet.
pub const QUERIES_BYTES_MAX: usize = 2 << 30;
/// Bytes that each thread may use to scan a block without drawing them from the memory of queries.
/// They are set aside from it.
pub const SCAN_FREE_BYTES: usize = 1 << 20;
/// Bytes of values that expressions compute at a time on one thread. Rows with larger values are
/// computed in several pieces.
pub const PIECE_BYTES_MAX: usize = 16 << 20;
/// Bytes of partial answers that are merged at once. Merging more would delay other requests.
pub const MERGE_AT_ONCE_BYTES: usize = 1 << 20;
/// Bytes up to which a query is small, so that it may draw from the share that others leave free.
/// As many must be free before a query begins; it waits for them until its deadline.
pub const SMALL_QUERY_BYTES_MAX: usize = 2 << 20;
/// Bytes of the memory of queries that are reserved for small ones: enough for sixteen at once.
pub const SMALL_QUERIES_BYTES: usize = 32 << 20;
/// These bytes are at most 1/n of the memory of queries, for this n.
pub const SMALL_QUERIES_PART: usize = 4;
/// Rows of an answer when the query has no LIMIT, and the most that JSON answers hold.
pub const LIMIT_DEFAULT: u64 = 100_000;
/// The most rows of a streamed answer: one as Arrow, Parquet, CSV or JSON lines whose rows are in
/// the order of time.
pub const STREAMED_ROWS_MAX: u64 = 10_000_000;
/// Rows of a streamed answer that one query fetches, and rows of one record batch.
pub const STREAMED_PAGE_ROWS: u64 = 65_536;
/// Rows with the same microsecond in a streamed answer: they are fetched by one query.
pub const STREAMED_MOMENT_ROWS_MAX: u64 = 1 << 20;
/// Bytes of the rows of one record batch, as they are in memory. A longer row is a batch alone.
pub const RECORD_BATCH_BYTES_MAX: usize = 64 << 20;
/// Bytes of the header or the trailer that describes an answer. Warnings beyond it are counted.
pub const ANSWER_HEADER_BYTES_MAX: usize = 4 << 10;
/// Bytes of one JSON answer.
pub const ANSWER_BYTES_MAX: usize = 64 << 20;
/// Deadline of one query, in milliseconds.
pub const QUERY_DEADLINE_MS: u64 = 10_000;
/// Queries that run at the same time for each processor, without long ones; others wait for a turn.
pub const QUERIES_RUNNING_PER_CORE: usize = 4;
/// Milliseconds after which a running query counts as a long one, beside which others may run.
pub const QUERY_SHORT_MS: u64 = 100;
/// Long queries at the same time. While there are as many, further ones keep others waiting.
pub const LONG_QUERIES_MAX: usize = 256;
/// Queries that wait for a turn. Of more, the newest one of the client with the most is refused.
pub const QUERIES_WAITING_MAX: usize = 512;
/// The longest deadline that a query may request, in milliseconds.
pub const QUERY_DEADLINE_MS_MAX: u64 = 600_000;
/// Query errors that one partial answer carries.
pub const FAULTS_MAX: usize = 16;
/// Different warnings that one answer carries.
pub const WARNINGS_MAX: usize = 64;
/// Bytes of the text of one warning or query error.
pub const NOTE_BYTES_MAX: usize = 1_024;
/// Characters of one line of a plan.
pub const PLAN_LINE_CHARS_MAX: usize = 1_000;
/// Bytes of one query on its way to a peer.
pub const QUERY_BYTES_MAX: usize = 4 << 20;
/// Bytes of any message between peers: a row block or a partial answer, with its other fields.
pub const MESSAGE_BYTES_MAX: usize = BLOCK_BYTES_MAX + (1 << 20);
/// Bytes of a partial answer that are sent as one message; a larger one is sent in pieces.
pub const PARTIAL_PIECE_BYTES_MAX: usize = 1 << 20;
/// Memory that one decoded message between peers may take, without its delimited parts.
pub const MESSAGE_MEMORY_MAX: usize = 64 << 20;
/// Memory that all delimited parts of one message may take if they were decoded at once.
pub const FRAMES_MEMORY_MAX: usize = 1 << 30;
/// Leaves that one answer's coverage lists one by one.
pub const LEAVES_MAX: usize = 10_000;
/// Rows up to which percentiles are exact.
pub const QUANTILE_EXACT_ROWS: usize = 256;
/// Distinct values up to which `count(DISTINCT …)` is exact.
pub const DISTINCT_EXACT_VALUES: usize = 1_024;
/// Distinct values up to which `top_k` counts each of them.
pub const TOP_VALUES_EXACT: usize = 8_192;
/// Distinct values that `top_k` still counts after there were too many.
pub const TOP_VALUES_KEPT: usize = 4_096;
/// Rejected rows of one body that are kept in `_rejects`.
pub const REJECTS_KEPT_MAX: usize = 1_000;
/// How often a process asks the store of definitions for its version, in milliseconds. A process
/// may ask another one that asks the store, and a change is still known to all within two seconds.
pub const DEFINITIONS_POLL_MILLIS: u64 = 500;
/// Revoked batches that a leaf gets, or removes, at a time.
pub const REVOCATIONS_LISTED_MAX: usize = 10_000;
/// Kinds of reasons by which the rejected rows of a body are counted.
pub const REJECT_KINDS_MAX: usize = 20;
/// Rejected rows whose reasons are returned to the caller.
pub const REJECTS_SHOWN_MAX: usize = 100;
/// Fanout of the aggregation tree (Scuba, VLDB 2013, section 3.5).
pub const TREE_FANOUT: usize = 5;
/// Promises of a leaf not to accept a batch; of more, the oldest is forgotten. A retry makes at
/// most one on each leaf.
pub const REFUSED_BATCHES_MAX: usize = 100_000;
/// Bytes of the name of a machine: with the rest of a leaf's name it is at most 128.
pub const MACHINE_NAME_BYTES_MAX: usize = 100;
/// The largest fanout that can be set.
pub const TREE_FANOUT_MAX: usize = 1_000;
/// Leaves up to which an aggregator asks all leaves of a plan itself.
pub const TREE_DIRECT_LEAVES_MAX: usize = 8;
/// Values of a raw row from which processes are asked for the times of rows first, and for all
/// values only of those rows that the result has. Of fewer values, a second round costs more.
pub const TIMES_FIRST_VALUES_MIN: usize = 8;
/// The time between two rounds of gossip, in milliseconds.
pub const GOSSIP_MILLIS: u64 = 100;
/// How long a member's heartbeat may stand still before the member counts as silent, in
/// milliseconds. News travels for up to half a second in a large cluster, and together they stay
/// below two seconds.
pub const MEMBER_SILENT_MILLIS: u64 = 1_300;
/// Processes of one cluster that a member keeps track of, with those that were restarted lately.
pub const MEMBERS_MAX: usize = 4_096;
/// Bytes of one text of a member's announcement.
pub const ANNOUNCEMENT_BYTES_MAX: usize = 1_024;
/// Seconds by which the clocks of two members may differ without being reported.
pub const CLOCK_SKEW_SECONDS: i64 = 60;
/// How often a process asks another one for its expected rows while all leaves answer, in seconds.
pub const EXPECTED_ROWS_EXCHANGE_SECONDS: u64 = 5;
/// How long another process may take to report its expected rows, in milliseconds. Also the time
/// after which it is asked again if it failed.
pub const EXPECTED_ROWS_PULL_MILLIS: u64 = 1_000;
/// Seconds between two times that a process writes changed expected rows to its data folder.
pub const EXPECTED_ROWS_WRITE_SECONDS: u64 = 5;
/// Shares of tables by leaves whose expected rows a process remembers. Beyond that, answers without
/// a leaf say that their coverage is an upper bound.
pub const EXPECTED_SHARES_KEPT_MAX: usize = 131_072;
/// Shares of tables by leaves in one message of expected rows; further ones are in the next.
pub const EXPECTED_SHARES_MAX: usize = 4_096;
/// Runs of a leaf that expected rows keep apart; older ones are summed up.
pub const EXPECTED_RUNS_MAX: usize = 8;
/// Times at which the accepted rows of a leaf's share of a table are remembered.
pub const EXPECTED_SAMPLES_MAX: usize = 192;
/// Bytes of a batch id that a client sends; the ids of a body's parts are a little longer.
pub const BATCH_ID_BYTES_MAX: usize = 112;
/// Bytes of a body that are in no batch yet, from which it counts as a long one.
pub const BODY_SMALL_BYTES_MAX: usize = 1 << 20;
/// Long bodies whose rows are kept at the same time until they make a batch; others wait.
pub const BODIES_UNDER_WAY_MAX: usize = 16;
/// Bytes of batches of all bodies that wait for the sink at the same time.
pub const BATCHES_BYTES_MAX: usize = 256 << 20;
/// Batches of one body that wait for the sink at the same time.
pub const BATCHES_UNDER_WAY_MAX: usize = 4;
/// Bytes of the body of a query.
pub const QUERY_BODY_BYTES_MAX: usize = 1 << 20;
/// Columns that SUMMARIZE examines.
pub const SUMMARY_COLUMNS_MAX: usize = 200;
/// Columns with their statistics in one answer.
pub const COLUMNS_LISTED_MAX: usize = 1_000;
/// Frequent values of a column in one answer.
pub const VALUES_LISTED_MAX: usize = 1_000;
/// Row blocks of a table in one answer.
pub const BLOCKS_LISTED_MAX: usize = 10_000;
/// Tables in one answer about the cluster, in all and for each leaf.
pub const CLUSTER_TABLES_LISTED_MAX: usize = 100;
/// How long a leaf may take to stop in a rollover before it is killed, in seconds, unless the
/// request says otherwise (Fast Database Restarts at Facebook, section 4.3).
pub const ROLLOVER_STOP_SECONDS: u64 = 180;
/// The longest such time that a request may give, in seconds.
pub const ROLLOVER_STOP_SECONDS_MAX: u64 = 3_600;
/// How long after that a leaf's next process may take to be seen, in seconds, before the rollover
/// stops.
pub const ROLLOVER_START_SECONDS: i64 = 15;
/// How long a leaf must be back before a rollover restarts the next one, in milliseconds: until all
/// servers know of it. Otherwise answers of some would lack the rows of two leaves.
pub const ROLLOVER_NEWS_MILLIS: i64 = 1_000;
/// Moments of a rollover that are remembered; when they are too many, every second one is left out.
pub const ROLLOVER_MOMENTS_MAX: usize = 512;
/// Bytes of the body of a request for a rollover.
pub const ROLLOVER_BODY_BYTES_MAX: usize = 4_096;
/// Connections at the same time on one port.
pub const CONNECTIONS_MAX: usize = 1_024;
/// Files that connections leave to the rest of the process, beside those of leaves and segments.
pub const FILES_RESERVED: usize = 128;
/// Files that a leaf with a folder has open: its folders, log, manifest, and their copies.
pub const FILES_PER_LEAF: usize = 8;
/// Open files per segment: on disk and in memory.
pub const FILES_PER_SEGMENT: usize = 2;
/// Clients beyond the connection limit that get an error at once. Others are closed without one.
pub const REFUSALS_MAX: usize = 32;
/// Connections at the same time from one address of another machine (of IPv6, one /64).
pub const CONNECTIONS_PER_ADDRESS_MAX: usize = 64;
/// Bytes of the head of a request.
pub const HEADER_BYTES_MAX: usize = 64 << 10;
/// Bytes that a connection reads at a time at most: large bodies come in fewer pieces.
pub const READ_BYTES_MAX: usize = 256 << 10;
/// How long the head of a request may take, in seconds.
pub const HEADER_SECONDS: u64 = 10;
/// How long a connection may be silent between requests, in seconds.
pub const IDLE_SECONDS: u64 = 60;
/// How long a client may stop sending a body, or reading an answer, in seconds.
pub const STALL_SECONDS: u64 = 30;
/// Bytes of a body per second that a client must send, on average over [`STALL_SECONDS`] of
/// waiting: as Apache's `mod_reqtimeout` requires.
pub const BODY_BYTES_PER_SECOND_MIN: u64 = 500;
/// Longest duration of a stop, in seconds: after it, the server ends whatever still runs.
pub const SERVER_STOP_SECONDS_MAX: u64 = 180;
/// How long a stopping server waits for running work, in seconds.
pub const SHUTDOWN_SECONDS: u64 = 30;
/// How long queries and bodies may continue during a stop, in seconds: longer than a query with the
/// default deadline. After it, a client gets the error that the server stops.
pub const STOPPING_SECONDS: u64 = 15;
/// How often Hadal's records about itself are written to its own tables, in seconds.
pub const JOURNAL_SECONDS: u64 = 1;
/// Rows per own table that wait to be written; further ones are lost, and counted.
pub const JOURNAL_ROWS_MAX: usize = 4_096;
/// Bytes of a query's SQL that are recorded.
pub const JOURNAL_SQL_BYTES: usize = 4 << 10;
/// Bytes of a client's name for itself that are recorded.
pub const JOURNAL_CLIENT_BYTES: usize = 128;
/// How often the state of the leaves is recorded, in seconds.
pub const LEAVES_SECONDS: u64 = 60;
/// Bytes that each of Hadal's own tables may have over all leaves, if nobody set another size.
pub const OWN_TABLE_BYTES: u64 = 256 << 20;
/// Segment files that a process maps at the same time: of 64 MiB each, a terabyte.
pub const SEGMENTS_MAPPED_MAX: usize = 16_384;
/// How long a batch that was accepted without waiting for the disk may stay unsynced, in
/// milliseconds.
pub const LOG_SYNC_MILLIS: u64 = 1_000;
/// How long a process may take to open a connection to another one, in milliseconds.
pub const RPC_CONNECT_MILLIS: u64 = 500;
/// After how much silence a connection between processes is tested by a ping, and how long the
/// answer may take, in milliseconds.
pub const RPC_PING_MILLIS: u64 = 5_000;
/// How long after an incomplete answer a query that requires all rows is repeated, in milliseconds:
/// at first, and at most.
pub const COMPLETE_PAUSE_MILLIS_MIN: u64 = 50;
/// See [`COMPLETE_PAUSE_MILLIS_MIN`].
pub const COMPLETE_PAUSE_MILLIS_MAX: u64 = 1_000;
/// How long another process may take to answer anything but a query, a batch or a change, in
/// milliseconds.
pub const RPC_CALL_MILLIS: u64 = 1_000;
/// How much earlier a remote process must answer a query, in milliseconds at most, so that its
/// answer arrives by the deadline. It is 1/[`RPC_HOP_SHARE`] of the remaining time if that is less.
pub const RPC_HOP_MILLIS_MAX: u64 = 20;
/// See [`RPC_HOP_MILLIS_MAX`].
pub const RPC_HOP_SHARE: u32 = 20;
/// Calls of one connection between processes that run at the same time; further ones wait.
pub const RPC_STREAMS_MAX: u32 = 1_024;
/// Connections of other processes at the same time.
pub const RPC_CONNECTIONS_MAX: usize = 4_096;
/// Bytes of the metadata of one call.
pub const RPC_HEADER_BYTES_MAX: u32 = 16 << 10;
/// How long changed tables are collected before a leaf reports them, in milliseconds.
pub const REPORTS_MILLIS: u64 = 20;
/// Reports of tables that a leaf makes at once.
pub const REPORTS_AT_ONCE_MAX: usize = 256;
/// The fewest bytes of a cluster's token.
pub const CLUSTER_TOKEN_BYTES_MIN: usize = 16;
/// The most bytes of a cluster's token.
pub const CLUSTER_TOKEN_BYTES_MAX: usize = 256;

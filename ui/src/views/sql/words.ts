// The words of the dialect, as spec/sql.md has them, for completion and colours.

const words = (text: string): readonly string[] => text.trim().split(/\s+/);

export const KEYWORDS = words(`
  SELECT FROM WHERE GROUP BY HAVING ORDER LIMIT OFFSET SERIES AS AND OR NOT IN LIKE ILIKE BETWEEN IS
  NULL TRUE FALSE CASE WHEN THEN ELSE END DISTINCT ASC DESC NULLS FIRST LAST INTERVAL FILTER WITHIN
  OVER ALL CAST EXTRACT AT TIME ZONE ARRAY SHOW TABLES DESCRIBE SUMMARIZE EXPLAIN ANALYZE
`);

export const AGGREGATES = words(`
  count raw_count sum avg min max median p50 p90 p95 p99 p999 percentile quantile approx_count_distinct
  first last arg_min arg_max any_value top_k stddev stddev_pop stddev_samp variance var_pop var_samp
  covar_pop covar_samp corr regr_slope regr_intercept histogram histogram_log per_second per_minute
  per_hour
`);

export const SCALARS = words(`
  lower upper concat length cardinality abs floor ceil round mod power sqrt exp ln log log10 sign trunc
  bucket width_bucket coalesce ifnull nullif greatest least to_number to_timestamp now version random
  substr left right trim btrim ltrim rtrim replace reverse repeat lpad rpad split_part strpos
  starts_with ends_with contains regexp_extract regexp_replace regexp_matches url_host url_path
  url_parameter time_bucket date_trunc date_part epoch to_char strftime includes_any includes_all
  includes_none includes_start includes_end includes_within is_empty unnest prefixes search
`);

//! The tables as Parquet, compressed with zstd. Columns of words are written from dictionaries and
//! read as plain strings.

use std::fs::File;
use std::sync::Arc;

use arrow_array::builder::{ListBuilder, StringBuilder};
use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, DictionaryArray, Float64Array, Int32Array, Int64Array, RecordBatch, StringArray,
};
use arrow_schema::SchemaRef;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;

use crate::chunks::{Output, in_order};
use crate::error::Error;
use crate::json::write_message;
use crate::readings::{Reading, Readings};
use crate::requests::{Request, Requests, Side};
use crate::vocabulary as words;

/// Writes `requests`, with the weights in a column of the given name.
pub(crate) fn write_requests(
    requests: &Requests,
    weight_column: &str,
    output: &Output<'_>,
) -> Result<(), Error> {
    let columns = RequestColumns::new(requests, weight_column);
    write(output, requests.chunks(), |chunk| columns.batch(&requests.chunk(chunk)))
}

/// Writes `readings`.
pub(crate) fn write_readings(readings: &Readings, output: &Output<'_>) -> Result<(), Error> {
    write(output, readings.chunks(), |chunk| readings_batch(&readings.chunk(chunk)))
}

pub(crate) fn readings_batch(rows: &[Reading]) -> Result<RecordBatch, Error> {
    let sensors = rows.iter().map(|row| i32::from(row.sensor_id));
    let temperatures = rows.iter().map(|row| i32::from(row.temperature));
    let columns: [(&str, ArrayRef); 3] = [
        ("time", Arc::new(Int64Array::from_iter_values(rows.iter().map(|row| row.time)))),
        ("sensor_id", Arc::new(Int32Array::from_iter_values(sensors))),
        ("temperature", Arc::new(Int32Array::from_iter_values(temperatures))),
    ];
    Ok(RecordBatch::try_from_iter(columns)?)
}

/// Writes a file. The first chunk defines its columns.
pub(crate) fn write(
    output: &Output<'_>,
    chunks: u64,
    make: impl Fn(u64) -> Result<RecordBatch, Error> + Sync,
) -> Result<(), Error> {
    let mut file = Some(File::create(output.path).map_err(Error::io("create", output.path))?);
    let mut writer = None;
    in_order(chunks.max(1), output.threads, make, |batch| {
        let batch = batch?;
        if let Some(file) = file.take() {
            writer = Some(begin(file, batch.schema())?);
        }
        match &mut writer {
            Some(writer) => Ok(writer.write(&batch)?),
            None => Ok::<_, Error>(()),
        }
    })?;
    if let Some(writer) = writer {
        writer.close()?;
    }
    Ok(())
}

fn begin(file: File, schema: SchemaRef) -> Result<ArrowWriter<File>, Error> {
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .build();
    // Without Arrow's own schema, readers do not restore the dictionaries as such.
    let options =
        ArrowWriterOptions::new().with_properties(properties).with_skip_arrow_metadata(true);
    Ok(ArrowWriter::try_new_with_options(file, schema, options)?)
}

/// Converts rows to columns. All words are formatted once.
pub(crate) struct RequestColumns<'a> {
    weight_column: &'a str,
    is_full: bool,
    kinds: ArrayRef,
    endpoints: ArrayRef,
    countries: ArrayRef,
    services: ArrayRef,
    hosts: ArrayRef,
    datacenters: ArrayRef,
    apps: ArrayRef,
    devices: ArrayRef,
    builds: ArrayRef,
    tags: Vec<String>,
    frames: Vec<String>,
}

impl<'a> RequestColumns<'a> {
    pub(crate) fn new(requests: &Requests, weight_column: &'a str) -> Self {
        let of =
            |length, word| -> ArrayRef { Arc::new(StringArray::from(words::words(length, word))) };
        let list = |list: &[&str]| -> ArrayRef { Arc::new(StringArray::from(list.to_vec())) };
        Self {
            weight_column,
            is_full: requests.is_full,
            kinds: list(&words::KINDS),
            endpoints: of(words::ENDPOINTS, words::endpoint),
            countries: of(words::COUNTRIES, words::country),
            services: of(words::SERVICES, words::service),
            hosts: of(words::HOSTS, words::host),
            datacenters: list(&words::DATACENTERS),
            apps: list(&words::APPS),
            devices: of(words::DEVICES, words::device),
            builds: of(words::BUILDS, words::build),
            tags: words::words(words::TAGS, words::tag),
            frames: words::words(words::FRAMES, words::frame),
        }
    }

    pub(crate) fn batch(&self, rows: &[Request]) -> Result<RecordBatch, Error> {
        let mut columns = self.columns_all_have(rows)?;
        columns.extend(self.columns_of_servers(rows)?);
        columns.extend(self.columns_of_clients(rows)?);
        if self.is_full {
            columns.push(("tags", lists(rows.iter().map(|row| &row.tags), &self.tags)));
            columns.push(("stack", lists(rows.iter().map(|row| &row.stack), &self.frames)));
        }
        // Columns that no row of this chunk lacks are nullable in others.
        let columns = columns.into_iter().map(|(name, column)| (name, column, true));
        Ok(RecordBatch::try_from_iter_with_nullable(columns)?)
    }

    fn columns_all_have(&self, rows: &[Request]) -> Result<Vec<(&str, ArrayRef)>, Error> {
        let kind = |row: &Request| Some(u32::from(matches!(row.side, Side::Client { .. })));
        Ok(vec![
            ("time", numbers(rows, |row| Some(row.time))),
            ("kind", dictionary(rows, &self.kinds, kind)?),
            ("endpoint", dictionary(rows, &self.endpoints, |row| Some(row.endpoint))?),
            ("country", dictionary(rows, &self.countries, |row| Some(row.country))?),
            ("latency_us", numbers(rows, |row| Some(i64::from(row.latency_us)))),
            ("user_id", numbers(rows, |row| i64::try_from(row.user_id).ok())),
            ("build", dictionary(rows, &self.builds, |row| Some(row.build))?),
            (self.weight_column, numbers(rows, |row| Some(i64::from(row.weight)))),
        ])
    }

    fn columns_of_servers(&self, rows: &[Request]) -> Result<Vec<(&str, ArrayRef)>, Error> {
        let host = |row: &Request| match row.side {
            Side::Server { host, .. } => Some(host),
            Side::Client { .. } => None,
        };
        let service = |row: &Request| match row.side {
            Side::Server { service, .. } => Some(service),
            Side::Client { .. } => None,
        };
        let status = |row: &Request| match row.side {
            Side::Server { status, .. } => Some(i64::from(status)),
            Side::Client { .. } => None,
        };
        let bytes = |row: &Request| match row.side {
            Side::Server { bytes, .. } => Some(i64::from(bytes)),
            Side::Client { .. } => None,
        };
        let datacenter = |row: &Request| host(row).map(words::datacenter_of);
        Ok(vec![
            ("service", dictionary(rows, &self.services, service)?),
            ("host", dictionary(rows, &self.hosts, host)?),
            ("datacenter", dictionary(rows, &self.datacenters, datacenter)?),
            ("status", numbers(rows, status)),
            ("bytes", numbers(rows, bytes)),
            ("message", messages(rows)),
        ])
    }

    fn columns_of_clients(&self, rows: &[Request]) -> Result<Vec<(&str, ArrayRef)>, Error> {
        let app = |row: &Request| match row.side {
            Side::Client { app, .. } => Some(app),
            Side::Server { .. } => None,
        };
        let device = |row: &Request| match row.side {
            Side::Client { device, .. } => Some(device),
            Side::Server { .. } => None,
        };
        let battery = |row: &Request| match row.side {
            Side::Client { battery_pct, .. } => Some(i64::from(battery_pct)),
            Side::Server { .. } => None,
        };
        let fps = rows.iter().map(|row| match row.side {
            Side::Client { fps_tenths, .. } => Some(f64::from(fps_tenths) / 10.0),
            Side::Server { .. } => None,
        });
        Ok(vec![
            ("app", dictionary(rows, &self.apps, app)?),
            ("device", dictionary(rows, &self.devices, device)?),
            ("battery_pct", numbers(rows, battery)),
            ("fps", Arc::new(Float64Array::from_iter(fps))),
        ])
    }
}

fn numbers(rows: &[Request], of: impl Fn(&Request) -> Option<i64>) -> ArrayRef {
    Arc::new(Int64Array::from_iter(rows.iter().map(of)))
}

fn dictionary(
    rows: &[Request],
    words: &ArrayRef,
    code: impl Fn(&Request) -> Option<u32>,
) -> Result<ArrayRef, Error> {
    let codes = rows.iter().map(|row| code(row).and_then(|code| i32::try_from(code).ok()));
    let codes = Int32Array::from_iter(codes);
    Ok(Arc::new(DictionaryArray::<Int32Type>::try_new(codes, Arc::clone(words))?))
}

fn messages(rows: &[Request]) -> ArrayRef {
    let endpoints = words::words(words::ENDPOINTS, words::endpoint);
    let mut builder = StringBuilder::with_capacity(rows.len(), 64 * rows.len());
    let mut text = Vec::new();
    for row in rows {
        match row.side {
            Side::Server { phrase, number, .. } => {
                text.clear();
                write_message(phrase, &endpoints[row.endpoint as usize], number, &mut text);
                builder.append_option(str::from_utf8(&text).ok());
            }
            Side::Client { .. } => builder.append_null(),
        }
    }
    Arc::new(builder.finish())
}

fn lists<'a>(rows: impl Iterator<Item = &'a Vec<u32>>, words: &[String]) -> ArrayRef {
    let mut builder = ListBuilder::new(StringBuilder::new());
    for codes in rows {
        builder.append_value(codes.iter().map(|code| Some(&words[*code as usize])));
    }
    Arc::new(builder.finish())
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;

    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

    use super::*;

    #[test]
    fn a_file_has_all_rows_and_columns() {
        let path = std::env::temp_dir().join(format!("hadal-bench-{}.parquet", std::process::id()));
        let output = Output { path: &path, threads: NonZeroUsize::MIN };
        write_requests(&Requests::new(1, 70_000, true), "rate", &output).unwrap();
        let file = File::open(&path).unwrap();
        let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap();
        let batches: Vec<RecordBatch> = reader.map(Result::unwrap).collect();
        std::fs::remove_file(&path).unwrap();
        let present = |name: &str| -> usize {
            let columns = batches.iter().map(|batch| batch.column_by_name(name).unwrap());
            columns.map(|column| column.len() - column.null_count()).sum()
        };
        assert_eq!(batches[0].num_columns(), 20);
        assert_eq!(present("rate"), 70_000);
        assert_eq!(present("message") + present("fps"), 70_000);
        assert_eq!(present("stack"), 70_000);
    }
}

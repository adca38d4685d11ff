//! The tables as JSON lines: one object per row, absent columns left out.

use std::fs::File;
use std::io::Write;

use crate::chunks::{Output, in_order};
use crate::error::Error;
use crate::readings::{Reading, Readings};
use crate::requests::{Request, Requests, Side};
use crate::vocabulary as words;

/// Writes `requests`, with the weights in a column of the given name.
pub(crate) fn write_requests(
    requests: &Requests,
    weight_column: &str,
    output: &Output<'_>,
) -> Result<(), Error> {
    let lines = RequestLines::new(requests, weight_column);
    write(output, requests.chunks(), |chunk| {
        let mut text = Vec::new();
        for row in requests.chunk(chunk) {
            lines.write(&row, &mut text);
        }
        text
    })
}

/// Writes `readings`.
pub(crate) fn write_readings(readings: &Readings, output: &Output<'_>) -> Result<(), Error> {
    write(output, readings.chunks(), |chunk| {
        let mut text = Vec::new();
        for Reading { time, sensor_id, temperature } in readings.chunk(chunk) {
            put(&mut text, format_args!(r#"{{"time":{time},"sensor_id":{sensor_id},"#));
            put(&mut text, format_args!("\"temperature\":{temperature}}}\n"));
        }
        text
    })
}

fn write(
    output: &Output<'_>,
    chunks: u64,
    make: impl Fn(u64) -> Vec<u8> + Sync,
) -> Result<(), Error> {
    let mut file = File::create(output.path).map_err(Error::io("create", output.path))?;
    in_order(chunks, output.threads, make, |text| {
        file.write_all(&text).map_err(Error::io("write", output.path))
    })
}

/// Appends formatted text, which cannot fail.
fn put(text: &mut Vec<u8>, arguments: std::fmt::Arguments<'_>) {
    let _ = text.write_fmt(arguments);
}

/// Writes rows as lines. All words are formatted once.
struct RequestLines<'a> {
    weight_column: &'a str,
    is_full: bool,
    endpoints: Vec<String>,
    countries: Vec<String>,
    services: Vec<String>,
    hosts: Vec<String>,
    devices: Vec<String>,
    builds: Vec<String>,
    tags: Vec<String>,
    frames: Vec<String>,
}

impl<'a> RequestLines<'a> {
    fn new(requests: &Requests, weight_column: &'a str) -> Self {
        Self {
            weight_column,
            is_full: requests.is_full,
            endpoints: words::words(words::ENDPOINTS, words::endpoint),
            countries: words::words(words::COUNTRIES, words::country),
            services: words::words(words::SERVICES, words::service),
            hosts: words::words(words::HOSTS, words::host),
            devices: words::words(words::DEVICES, words::device),
            builds: words::words(words::BUILDS, words::build),
            tags: words::words(words::TAGS, words::tag),
            frames: words::words(words::FRAMES, words::frame),
        }
    }

    fn write(&self, row: &Request, text: &mut Vec<u8>) {
        let kind = words::KINDS[usize::from(matches!(row.side, Side::Client { .. }))];
        put(text, format_args!(r#"{{"time":{},"kind":"{kind}","#, row.time));
        self.write_all_have(row, text);
        match &row.side {
            server @ Side::Server { .. } => self.write_server(row.endpoint, server, text),
            client @ Side::Client { .. } => self.write_client(client, text),
        }
        if self.is_full {
            write_list("tags", &row.tags, &self.tags, text);
            write_list("stack", &row.stack, &self.frames, text);
        }
        text.extend_from_slice(b"}\n");
    }

    fn write_all_have(&self, row: &Request, text: &mut Vec<u8>) {
        let endpoint = &self.endpoints[row.endpoint as usize];
        let country = &self.countries[row.country as usize];
        let build = &self.builds[row.build as usize];
        put(text, format_args!(r#""endpoint":"{endpoint}","country":"{country}","#));
        put(text, format_args!(r#""latency_us":{},"user_id":{},"#, row.latency_us, row.user_id));
        put(text, format_args!(r#""build":"{build}","{}":{}"#, self.weight_column, row.weight));
    }

    fn write_server(&self, endpoint: u32, side: &Side, text: &mut Vec<u8>) {
        let &Side::Server { service, host, status, bytes, phrase, number } = side else { return };
        let datacenter = words::DATACENTERS[words::datacenter_of(host) as usize];
        let service = &self.services[service as usize];
        let host = &self.hosts[host as usize];
        put(text, format_args!(r#","service":"{service}","host":"{host}","#));
        put(text, format_args!(r#""datacenter":"{datacenter}","status":{status},"#));
        put(text, format_args!(r#""bytes":{bytes},"message":""#));
        write_message(phrase, &self.endpoints[endpoint as usize], number, text);
        text.push(b'"');
    }

    fn write_client(&self, side: &Side, text: &mut Vec<u8>) {
        let &Side::Client { app, device, battery_pct, fps_tenths } = side else { return };
        let app = words::APPS[app as usize];
        let device = &self.devices[device as usize];
        put(text, format_args!(r#","app":"{app}","device":"{device}","#));
        let (whole, tenths) = (fps_tenths / 10, fps_tenths % 10);
        put(text, format_args!(r#""battery_pct":{battery_pct},"fps":{whole}.{tenths}"#));
    }
}

/// Writes the message of a server's row: the action, the endpoint, and a number that makes it
/// unique.
pub(crate) fn write_message(phrase: u32, endpoint: &str, number: u32, text: &mut Vec<u8>) {
    put(text, format_args!("{} {endpoint} id={number}", words::PHRASES[phrase as usize]));
}

fn write_list(name: &str, codes: &[u32], words: &[String], text: &mut Vec<u8>) {
    put(text, format_args!(r#","{name}":["#));
    for (place, code) in codes.iter().enumerate() {
        let comma = if place > 0 { "," } else { "" };
        put(text, format_args!(r#"{comma}"{}""#, words[*code as usize]));
    }
    text.push(b']');
}

#[cfg(test)]
mod tests;

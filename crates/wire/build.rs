//! Turns `spec/proto` into Rust: the messages themselves, and the shape of each. With the shapes,
//! `src/size_guard.rs` checks bytes before they are decoded.

use std::error::Error;
use std::fmt::Write;
use std::path::Path;

const FOLDER: &str = "../../spec/proto";
const FILES: [&str; 5] =
    ["value.proto", "query.proto", "partial.proto", "peer.proto", "cluster.proto"];

fn main() -> Result<(), Box<dyn Error>> {
    rerun_when_changed();
    let descriptors = protox::compile(FILES, [FOLDER])?;
    let mut shapes = String::new();
    for message in descriptors.file.iter().flat_map(|file| &file.message_type) {
        let mut fields = String::new();
        for field in &message.field {
            let repeated = field.label().as_str_name() == "LABEL_REPEATED";
            let target = field.type_name().rsplit('.').next().unwrap_or_default();
            let kind = match (field.r#type().as_str_name(), repeated) {
                ("TYPE_MESSAGE", false) => format!("One(<{target} as Shaped>::SHAPE)"),
                ("TYPE_MESSAGE", true) => format!("Many(<{target} as Shaped>::SHAPE)"),
                ("TYPE_BYTES", false) => "Slice".to_owned(),
                ("TYPE_STRING", false) => "Text".to_owned(),
                ("TYPE_STRING", true) => "Texts".to_owned(),
                ("TYPE_BYTES" | "TYPE_GROUP", _) => {
                    return Err(format!("{}: no shape for it", field.name()).into());
                }
                (_, false) => "Scalar".to_owned(),
                (_, true) => "Scalars".to_owned(),
            };
            write!(fields, "({}, Field::{kind}), ", field.number())?;
        }
        writeln!(
            shapes,
            "impl Shaped for {name} {{ const SHAPE: &'static MessageShape = &MessageShape {{ name: \"{name}\", \
             bytes: size_of::<Self>(), fields: &[{fields}] }}; }}",
            name = message.name(),
        )?;
    }
    let services = descriptors.file.iter().flat_map(|file| &file.service);
    let services = services.map(|service| {
        let rpcs: Vec<&str> = service.method.iter().map(|method| method.name()).collect();
        (service.name(), rpcs)
    });
    let services: Vec<_> = services.collect();
    writeln!(
        shapes,
        "#[cfg(test)] pub(crate) const SERVICES: &[(&str, &[&str])] = &{};",
        format!("{services:?}").replace("\", [", "\", &["),
    )?;
    let out = std::env::var("OUT_DIR")?;
    std::fs::write(Path::new(&out).join("shapes.rs"), shapes)?;
    // Decoded bytes fields are slices of the received bytes, not copies.
    prost_build::Config::new().bytes(["."]).compile_fds(descriptors)?;
    Ok(())
}

fn rerun_when_changed() {
    for file in FILES {
        println!("cargo::rerun-if-changed={FOLDER}/{file}");
    }
    println!("cargo::rerun-if-changed=build.rs");
}

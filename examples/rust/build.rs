//! Makes the module `contract` out of the contract, at each build in which that has changed.

use std::error::Error;
use std::path::Path;

use prost::Message;

const PROTOS: &str = "../../proto";
const PACKAGE: &str = "odin_table/v1";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed={PROTOS}");
    let mut files = Vec::new();
    for entry in Path::new(PROTOS).join(PACKAGE).read_dir()? {
        let name = entry?.file_name();
        files.push(Path::new(PACKAGE).join(name));
    }
    files.sort();
    let contract = protox::compile(files, [PROTOS])?;
    let descriptors = contract.encode_to_vec();

    tonic_prost_build::configure()
        .build_server(false)
        .compile_well_known_types(true)
        .extern_path(".google.protobuf", "::pbjson_types")
        .compile_fds(contract)?;
    pbjson_build::Builder::new()
        .register_descriptors(&descriptors)?
        .build(&[".odin_table.v1"])?;
    Ok(())
}

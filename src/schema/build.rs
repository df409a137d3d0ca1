//! Packs the bundled definitions into one text with an index.
//!
//! `bundle.txt` is all files one after another; `bundle.rs` is `(path, start, end)`, sorted by path.

use std::{
    env,
    fmt::Write,
    fs, io,
    path::{Path, PathBuf},
};

fn main() -> io::Result<()> {
    let root =
        PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default()).join("../../config/interfaces");
    println!("cargo::rerun-if-changed={}", root.display());
    let mut files = Vec::new();
    for set in ["ros1", "ros2", "ros2_humble"] {
        collect(&root.join(set), set, &mut files)?;
    }
    files.sort();
    let mut text = String::new();
    let mut index = String::from("&[\n");
    for (path, file) in files {
        let start = text.len();
        text.push_str(&fs::read_to_string(&file)?.replace("\r\n", "\n"));
        writeln!(index, "({path:?}, {start}, {}),", text.len()).map_err(io::Error::other)?;
    }
    index.push_str("]\n");
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    fs::write(out.join("bundle.txt"), text)?;
    fs::write(out.join("bundle.rs"), index)
}

/// Adds every message, service and action below `folder`, named `prefix/...`.
fn collect(folder: &Path, prefix: &str, files: &mut Vec<(String, PathBuf)>) -> io::Result<()> {
    println!("cargo::rerun-if-changed={}", folder.display());
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let Some(name) = name.to_str() else { continue };
        let path = format!("{prefix}/{name}");
        if entry.file_type()?.is_dir() {
            collect(&entry.path(), &path, files)?;
        } else if [".msg", ".srv", ".action"].iter().any(|ext| name.ends_with(ext)) {
            files.push((path, entry.path()));
        }
    }
    Ok(())
}

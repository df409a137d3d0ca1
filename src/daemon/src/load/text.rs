//! Files to text.

use std::{
    fs::File,
    io::{ErrorKind, Read as _},
    path::Path,
};

use rostrans_core::diag::{Diagnostic, Origin};

/// Reads a text file; reports and gives `None` when it cannot be read.
///
/// Bytes that are not UTF-8 are replaced, with a warning: they are mostly comments in an older encoding.
pub(super) fn read(path: &Path, problems: &mut Vec<Diagnostic>) -> Option<String> {
    let mut error = |message: String, help: &str| {
        problems.push(Diagnostic::error(Origin::file(path, 0), message, help));
    };
    let mut bytes = Vec::new();
    match File::open(path).and_then(|file| file.take(MAX_BYTES as u64 + 1).read_to_end(&mut bytes)) {
        Ok(_) => {}
        Err(reason) => {
            let help = match reason.kind() {
                ErrorKind::NotFound => "check the path; relative paths start at the working directory",
                ErrorKind::PermissionDenied => "make it readable for the user that runs rostrans",
                ErrorKind::IsADirectory => "name a file in it",
                _ => "",
            };
            error(format!("cannot read the file: {reason}"), help);
            return None;
        }
    }
    if bytes.len() > MAX_BYTES {
        error(format!("the file is larger than {MAX_BYTES} bytes"), TOO_LARGE);
        return None;
    }
    if bytes.starts_with(&[0xFF, 0xFE]) || bytes.starts_with(&[0xFE, 0xFF]) || bytes.contains(&0) {
        error("the file is not plain text".to_owned(), "save it as UTF-8");
        return None;
    }
    Some(String::from_utf8(bytes).unwrap_or_else(|wrong| {
        let line =
            wrong.as_bytes().iter().take(wrong.utf8_error().valid_up_to()).filter(|b| **b == b'\n').count();
        let origin = Origin::file(path, u32::try_from(line + 1).unwrap_or(u32::MAX));
        problems.push(Diagnostic::warning(
            origin,
            "not valid UTF-8; odd letters are replaced",
            "save it as UTF-8",
        ));
        String::from_utf8_lossy(wrong.as_bytes()).into_owned()
    }))
}

/// Far above any configuration file that people write; what a program wrote can be split.
pub(in crate::load) const MAX_BYTES: usize = 4 << 20;

/// What to do about a larger one.
pub(in crate::load) const TOO_LARGE: &str =
    "check that it is the right file; rules can be split over several, each given with '--rules FILE'";

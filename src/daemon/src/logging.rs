//! Log output: level, format, optional file.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use rostrans_core::{
    diag::{Diagnostic, Origin},
    param::Settings,
    text::{excerpt, printable},
};
use tracing_subscriber::{
    EnvFilter, Layer as _, Registry,
    fmt::{self, MakeWriter},
    layer::SubscriberExt as _,
    util::SubscriberInitExt as _,
};

use crate::load::Env;

/// The level filter: `--log_level`, else `RUST_LOG`, else the file's `log_level`, else `info`.
///
/// **Errors**: a filter that cannot be read, with its origin.
pub(crate) fn filter(settings: &Settings, env: Env<'_>) -> Result<EnvFilter, Diagnostic> {
    let origin = settings.origin("log_level");
    let from_env = env("RUST_LOG").filter(|_| origin != Origin::CommandLine);
    let (what, text) = match &from_env {
        Some(text) => ("RUST_LOG", text.as_str()),
        None => ("log_level", settings.text("log_level")),
    };
    // A lone word that is no level would be taken as the name of a module, and silence everything.
    let lone_word = text.chars().all(|c| c.is_ascii_alphanumeric());
    let known =
        ["off", "error", "warn", "info", "debug", "trace"].iter().any(|l| l.eq_ignore_ascii_case(text));
    EnvFilter::try_new(text).ok().filter(|_| known || !lone_word).ok_or_else(|| {
        let message = format!("invalid {what} '{}'", excerpt(text));
        let help = "write off, error, warn, info, debug or trace, or a filter such as 'info,rostrans_transport=debug'";
        let origin = if from_env.is_some() { Origin::Environment } else { origin };
        Diagnostic::error(origin, message, help)
    })
}

/// Modules that are quiet unless asked. The second tells of a peer that comes back before it was missed, as an error with a
/// place in Zenoh's source.
const QUIET: [&str; 2] = ["zenoh=error", "zenoh_transport::unicast::universal::transport=off"];

/// Switches logging on for the rest of the program: to standard error, and to `log_dir` if it can be written.
///
/// Returns what a person should know about the file.
pub(crate) fn start(settings: &Settings, env: Env<'_>) -> Option<Diagnostic> {
    let Ok(mut filter) = filter(settings, env) else { return None };
    // Zenoh tells what it does in its own words, and the adapter what of it matters.
    if !filter.to_string().contains("zenoh") {
        for quiet in QUIET.iter().flat_map(|directive| directive.parse()) {
            filter = filter.add_directive(quiet);
        }
    }
    let json = settings.text("log_format") == "json";
    let mut warning = None;
    let dir = settings.text("log_dir");
    let file = (!dir.is_empty()).then(|| LogFile::open(Path::new(dir))).and_then(|opened| match opened {
        Ok(file) => Some(file),
        Err(error) => {
            let message = format!("cannot write a log file in '{}': {error}", printable(dir));
            let help = "the log goes to standard error only";
            warning = Some(Diagnostic::warning(settings.origin("log_dir"), message, help));
            None
        }
    });
    let ansi = io::IsTerminal::is_terminal(&io::stderr()) && env("NO_COLOR").is_none();
    let mut outputs = vec![layer(io::stderr, json, ansi)];
    outputs.extend(file.map(|file| layer(file, json, false)));
    // A second start in one process keeps the first.
    let _already_set = tracing_subscriber::registry().with(outputs).with(filter).try_init();
    warning
}

fn layer<W>(writer: W, json: bool, ansi: bool) -> Box<dyn tracing_subscriber::Layer<Registry> + Send + Sync>
where
    W: for<'w> MakeWriter<'w> + Send + Sync + 'static,
{
    // A terminal that is gone must not become a panic about the log line that says so.
    let layer = fmt::layer().with_writer(writer).with_ansi(ansi).log_internal_errors(false);
    if json { layer.json().flatten_event(true).boxed() } else { layer.with_target(false).boxed() }
}

/// `rostrans.log` in a folder; at 16 MiB it becomes `rostrans.log.1` and a new one begins.
#[derive(Clone)]
struct LogFile(Arc<Mutex<Rotating>>);

struct Rotating {
    path: PathBuf,
    file: File,
    size: u64,
}

impl LogFile {
    fn open(dir: &Path) -> io::Result<Self> {
        fs::create_dir_all(dir)?;
        let path = dir.join("rostrans.log");
        let file = OpenOptions::new().create(true).append(true).open(&path)?;
        let size = file.metadata()?.len();
        Ok(Self(Arc::new(Mutex::new(Rotating { path, file, size }))))
    }
}

const MAX_LOG_BYTES: u64 = 16 << 20;

impl Rotating {
    fn rotate(&mut self) -> io::Result<()> {
        fs::rename(&self.path, self.path.with_extension("log.1"))?;
        self.file = OpenOptions::new().create(true).append(true).open(&self.path)?;
        self.size = 0;
        Ok(())
    }
}

impl Write for LogFile {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let mut log = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // A folder that became read-only keeps the old file growing rather than losing lines.
        if log.size >= MAX_LOG_BYTES && log.rotate().is_err() {
            log.size = 0;
        }
        let written = log.file.write(line)?;
        log.size += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for LogFile {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        self.clone()
    }
}

#[cfg(test)]
mod tests {
    use rostrans_core::param::ParamSet;

    use super::*;
    use crate::params::CORE;

    fn level(given: Option<(&str, Origin)>, rust_log: Option<&str>) -> Result<String, String> {
        let mut params = ParamSet::default();
        if let Some((level, origin)) = given {
            params.set("log_level", level, origin);
        }
        let settings = params.resolve(CORE, &mut Vec::new());
        let env = |name: &str| rust_log.filter(|_| name == "RUST_LOG").map(str::to_owned);
        filter(&settings, &env).map(|f| f.to_string()).map_err(|d| d.to_string())
    }

    #[test]
    fn command_line_wins_over_environment_and_environment_over_file() {
        let file = Origin::file(Path::new("rostrans.param"), 3);
        assert_eq!(level(None, None).unwrap(), "info");
        assert_eq!(level(Some(("warn", file.clone())), None).unwrap(), "warn");
        assert_eq!(level(Some(("warn", file)), Some("debug")).unwrap(), "debug");
        assert_eq!(level(Some(("warn", Origin::CommandLine)), Some("debug")).unwrap(), "warn");
    }

    #[test]
    fn a_level_that_is_none_is_an_error() {
        let error = level(Some(("verbose", Origin::CommandLine)), None).unwrap_err();
        assert!(error.starts_with("command line: invalid log_level 'verbose'; write "), "{error}");
        assert!(level(None, Some("info,=,")).unwrap_err().contains("RUST_LOG"));
    }

    #[test]
    fn a_full_log_file_is_kept_once() {
        let dir = tempfile::tempdir().unwrap();
        let mut log = LogFile::open(&dir.path().join("a/b")).unwrap();
        log.write_all(b"old\n").unwrap();
        log.0.lock().unwrap().size = MAX_LOG_BYTES;
        log.write_all(b"new\n").unwrap();
        let read = |name: &str| fs::read_to_string(dir.path().join("a/b").join(name)).unwrap();
        assert_eq!((read("rostrans.log.1"), read("rostrans.log")), ("old\n".to_owned(), "new\n".to_owned()));
    }
}

//! Runs the real executable in a folder of its own.

use std::{
    fs,
    io::{BufRead as _, BufReader, Read},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::mpsc::{Receiver, RecvTimeoutError, channel},
    time::{Duration, Instant},
};

/// A working directory.
pub(crate) struct Folder(tempfile::TempDir);

/// What a finished run left behind.
pub(crate) struct Output {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// Far longer than anything takes; a test that reaches it has failed.
const PATIENCE: Duration = Duration::from_secs(30);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    /// Copies the sample files of the repository.
    pub(crate) fn samples(&self) {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        fs::create_dir(self.path("config")).unwrap();
        for name in
            ["rostrans.param", "rostrans.filter", "config/ros_trans_config.yaml", "config/plugins_config.ini"]
        {
            fs::copy(root.join(name), self.path(name)).unwrap();
        }
    }

    fn command(&self, words: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rostrans"));
        command.args(words.split_whitespace()).current_dir(self.0.path()).stdin(Stdio::null());
        for name in
            ["RUST_LOG", "ROS_VERSION", "RMW_IMPLEMENTATION", "ROS_LOCALHOST_ONLY", "ROS_STATIC_PEERS"]
        {
            command.env_remove(name);
        }
        // A domain of its own: other tests run beside this one.
        let domain = 10 + std::process::id() % 80;
        command.env("ROS_DOMAIN_ID", domain.to_string()).env("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST");
        command
    }

    /// Runs to the end.
    pub(crate) fn run(&self, words: &str) -> Output {
        self.start(words).finish()
    }

    pub(crate) fn start(&self, words: &str) -> Run {
        self.start_with(words, &[])
    }

    /// Starts with environment variables.
    pub(crate) fn start_with(&self, words: &str, env: &[(&str, &str)]) -> Run {
        let mut command = self.command(words);
        command.envs(env.iter().copied());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let out = Lines::of(child.stdout.take().unwrap());
        let err = Lines::of(child.stderr.take().unwrap());
        Run { child, out, err }
    }
}

/// A running program; killed when dropped.
pub(crate) struct Run {
    child: Child,
    out: Lines,
    err: Lines,
}

impl Run {
    /// Waits for a line on standard error.
    pub(crate) fn wait_err(&mut self, part: &str) -> String {
        self.err.wait(part)
    }

    /// Waits for a line on standard output.
    pub(crate) fn wait_out(&mut self, part: &str) -> String {
        self.out.wait(part)
    }

    /// Calls `again` at every `pause` until a line comes out on standard output.
    pub(crate) fn until_out(&mut self, part: &str, pause: Duration, mut again: impl FnMut()) -> String {
        let end = Instant::now() + PATIENCE;
        while Instant::now() < end {
            again();
            if let Some(line) = self.out.within(part, pause) {
                return line;
            }
        }
        panic!("'{part}' did not come; so far:\n{}", self.out.seen);
    }

    pub(crate) fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-s", name, &id]).status().unwrap().success());
    }

    /// Waits for the end.
    pub(crate) fn finish(&mut self) -> Output {
        let code = self.wait().unwrap_or(-1);
        Output { code, out: self.out.rest(), err: self.err.rest() }
    }

    /// The exit code.
    pub(crate) fn wait(&mut self) -> Option<i32> {
        // The pipes close when the program ends.
        self.err.drain();
        self.child.wait().unwrap().code()
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        let _ended = self.child.kill();
        let _reaped = self.child.wait();
    }
}

/// Lines read by a thread, so that waiting can have an end.
struct Lines {
    lines: Receiver<String>,
    seen: String,
}

impl Lines {
    fn of(pipe: impl Read + Send + 'static) -> Self {
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(pipe).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Self { lines, seen: String::new() }
    }

    fn wait(&mut self, part: &str) -> String {
        self.within(part, PATIENCE).unwrap_or_else(|| panic!("'{part}' did not come; so far:\n{}", self.seen))
    }

    fn within(&mut self, part: &str, limit: Duration) -> Option<String> {
        let end = Instant::now() + limit;
        loop {
            let line = self.lines.recv_timeout(end.saturating_duration_since(Instant::now())).ok()?;
            self.seen += &line;
            self.seen.push('\n');
            if line.contains(part) {
                return Some(line);
            }
        }
    }

    /// Reads to the end of the pipe.
    fn drain(&mut self) {
        let end = Instant::now() + PATIENCE;
        loop {
            match self.lines.recv_timeout(end.saturating_duration_since(Instant::now())) {
                Ok(line) => {
                    self.seen += &line;
                    self.seen.push('\n');
                }
                Err(RecvTimeoutError::Disconnected) => return,
                Err(RecvTimeoutError::Timeout) => panic!("did not end; so far:\n{}", self.seen),
            }
        }
    }

    fn rest(&mut self) -> String {
        self.drain();
        std::mem::take(&mut self.seen)
    }
}

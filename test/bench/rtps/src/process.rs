//! Child processes that answer line by line and never outlive the runner.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

pub(crate) struct Process {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
}

/// Named numbers of a `result` line.
pub(crate) struct Figures(HashMap<String, f64>);

impl Figures {
    pub(crate) fn get(&self, name: &str) -> f64 {
        self.0.get(name).copied().unwrap_or(0.0)
    }
}

impl Process {
    pub(crate) fn start(command: &mut Command) -> Result<Self, String> {
        let name = command.get_program().to_string_lossy().into_owned();
        let spawned = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut child = spawned.map_err(|error| format!("{name}: {error}"))?;
        let stdout = child.stdout.take().ok_or("no pipe")?;
        let (to, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if to.send(line).is_err() {
                    return;
                }
            }
        });
        Ok(Self { stdin: child.stdin.take(), child, lines })
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Ends the process as a crash would.
    pub(crate) fn kill(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }

    pub(crate) fn tell(&mut self, line: &str) {
        if let Some(stdin) = &mut self.stdin {
            // A child that is gone shows in the next answer.
            drop(writeln!(stdin, "{line}"));
        }
    }

    /// Waits for a line that begins with `word`; what else comes is skipped.
    pub(crate) fn wait(&self, word: &str, limit: Duration) -> Result<String, String> {
        let deadline = Instant::now() + limit;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.lines.recv_timeout(left) {
                Ok(line) if line.starts_with(word) => return Ok(line),
                Ok(_) => {}
                Err(_) => return Err(format!("no '{word}' within {} s", limit.as_secs_f32())),
            }
        }
    }

    pub(crate) fn result(&self, limit: Duration) -> Result<Figures, String> {
        let line = self.wait("result ", limit)?;
        let pairs = line.split_whitespace().filter_map(|word| word.split_once('='));
        Ok(Figures(pairs.filter_map(|(k, v)| Some((k.to_owned(), v.parse().ok()?))).collect()))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.stdin = None;
        let deadline = Instant::now() + Duration::from_millis(300);
        while Instant::now() < deadline {
            if matches!(self.child.try_wait(), Ok(Some(_))) {
                return;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

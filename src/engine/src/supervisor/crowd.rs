//! Many tasks with one trouble.

use std::{collections::HashMap, sync::Mutex};

use super::lock;

/// Lets a few of the tasks that meet the same problem at start write a log line, and counts the others.
///
/// A thousand ports and a limit on open files would otherwise bury the line that says what to do.
#[derive(Debug)]
pub(super) struct Crowd {
    /// Tasks by cause; `None` once the start is over: every line passes.
    tasks: Mutex<Option<HashMap<Box<str>, usize>>>,
}

impl Crowd {
    /// True when a line about `cause` should be written.
    pub(super) fn admits(&self, cause: &str) -> bool {
        let mut tasks = lock(&self.tasks);
        let Some(tasks) = tasks.as_mut() else { return true };
        let count = tasks.entry(cause.into()).or_default();
        *count += 1;
        *count <= LINES
    }

    /// Ends the counting; returns each cause that had more tasks than lines, with the number of those left out.
    pub(super) fn disperse(&self) -> Vec<(Box<str>, usize)> {
        let tasks = lock(&self.tasks).take().unwrap_or_default();
        let more = |(cause, count): (Box<str>, usize)| Some((cause, count.checked_sub(LINES)?));
        let mut left_out: Vec<_> = tasks.into_iter().filter_map(more).filter(|(_, more)| *more > 0).collect();
        left_out.sort();
        left_out
    }
}

impl Default for Crowd {
    fn default() -> Self {
        Self { tasks: Mutex::new(Some(HashMap::new())) }
    }
}

/// Lines for one cause.
const LINES: usize = 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_lines_pass_for_each_cause_until_the_start_is_over() {
        let crowd = Crowd::default();
        let passed = (0..LINES + 5).filter(|_| crowd.admits("too many")).count();
        assert_eq!(passed, LINES);
        assert!((0..LINES).all(|_| crowd.admits("another")));
        assert_eq!(crowd.disperse(), [("too many".into(), 5)]);
        assert!(crowd.admits("too many"));
        assert_eq!(crowd.disperse(), []);
    }
}

//! `--name value` arguments.

pub(crate) struct Options(Vec<String>);

impl Options {
    pub(crate) fn new(arguments: Vec<String>) -> Self {
        Self(arguments)
    }

    pub(crate) fn flag(&mut self, name: &str) -> bool {
        let at = self.0.iter().position(|a| a == name);
        at.map(|at| self.0.remove(at)).is_some()
    }

    pub(crate) fn value(&mut self, name: &str) -> Option<String> {
        let at = self.0.iter().position(|a| a == name)?;
        self.0.remove(at);
        (at < self.0.len()).then(|| self.0.remove(at))
    }

    pub(crate) fn number<T: std::str::FromStr>(&mut self, name: &str, default: T) -> Result<T, String> {
        let Some(text) = self.value(name) else { return Ok(default) };
        text.parse().map_err(|_| format!("{name}: '{text}' is not a number"))
    }

    pub(crate) fn list(&mut self, name: &str) -> Option<Vec<String>> {
        Some(self.value(name)?.split(',').map(str::to_owned).collect())
    }

    /// Everything must be used up by now.
    pub(crate) fn finish(self) -> Result<(), String> {
        if self.0.is_empty() { Ok(()) } else { Err(format!("unknown arguments: {}", self.0.join(" "))) }
    }
}

//! What was found, and how it is shown.

use rostrans_adapter_dds::Discovery;
use rostrans_core::text::printable;
use serde_json::json;

use crate::network::place;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    /// As it should be.
    Ok,
    /// May be trouble.
    Warning,
    /// Will be trouble.
    Problem,
}

impl Level {
    fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warning => "warning",
            Self::Problem => "problem",
        }
    }
}

/// One finding: what was looked at, what it is like, what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Finding {
    /// One word.
    pub(super) check: &'static str,
    pub(super) level: Level,
    pub(super) text: String,
    /// Empty when there is nothing to do.
    pub(super) remedy: String,
}

impl Finding {
    pub(super) fn ok(check: &'static str, text: impl Into<String>) -> Self {
        Self { check, level: Level::Ok, text: text.into(), remedy: String::new() }
    }

    pub(super) fn warning(check: &'static str, text: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { check, level: Level::Warning, text: text.into(), remedy: remedy.into() }
    }

    pub(super) fn problem(check: &'static str, text: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { check, level: Level::Problem, text: text.into(), remedy: remedy.into() }
    }
}

/// The findings for people: a line each, and one for what to do.
pub(super) fn text(findings: &[Finding], discovery: &Discovery) -> String {
    let mut text = format!("{}\n\n", place(discovery));
    let width = findings.iter().map(|finding| finding.check.len()).max().unwrap_or(0);
    for finding in findings {
        let (level, check) = (finding.level.name(), finding.check);
        text += &format!("{level:7}  {check:width$}  {}\n", printable(&finding.text));
        if !finding.remedy.is_empty() {
            text += &format!("{:7}  {:width$}  -> {}\n", "", "", printable(&finding.remedy));
        }
    }
    let [ok, warnings, problems] = counts(findings);
    let noun = |many: usize, one: &str| format!("{many} {one}{}", if many == 1 { "" } else { "s" });
    text + &format!("\n{}, {}, {ok} ok\n", noun(problems, "problem"), noun(warnings, "warning"))
}

/// The findings for programs.
pub(super) fn json(findings: &[Finding], discovery: &Discovery) -> String {
    let [ok, warnings, problems] = counts(findings);
    let list: Vec<_> = findings
        .iter()
        .map(|finding| {
            let remedy = Some(&finding.remedy).filter(|remedy| !remedy.is_empty());
            json!({
                "check": finding.check,
                "level": finding.level.name(),
                "text": finding.text,
                "remedy": remedy,
            })
        })
        .collect();
    let value = json!({
        "domain": discovery.domain,
        "range": discovery.range_name(),
        "findings": list,
        "problems": problems,
        "warnings": warnings,
        "ok": ok,
    });
    format!("{value:#}\n")
}

fn counts(findings: &[Finding]) -> [usize; 3] {
    [Level::Ok, Level::Warning, Level::Problem]
        .map(|level| findings.iter().filter(|finding| finding.level == level).count())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_are_lines_with_remedies_and_a_sum() {
        let findings = [
            Finding::ok("range", "fine"),
            Finding::warning("buffers", "small\u{1b}[2J", "make them larger"),
            Finding::problem("ports", "none free", "end some"),
        ];
        let discovery = Discovery { domain: 3, ..Discovery::default() };
        insta::assert_snapshot!(text(&findings, &discovery), @r"
        domain 3, range SUBNET

        ok       range    fine
        warning  buffers  small\u{1b}[2J
                          -> make them larger
        problem  ports    none free
                          -> end some

        1 problem, 1 warning, 1 ok
        ");
        let value: serde_json::Value = serde_json::from_str(&json(&findings, &discovery)).unwrap();
        assert_eq!(value["findings"][2]["level"], "problem");
        assert_eq!(
            (&value["problems"], &value["findings"][0]["remedy"]),
            (&1.into(), &serde_json::Value::Null)
        );
    }
}

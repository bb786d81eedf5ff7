//! What was expected, what came, and how it is printed.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::net::SocketAddr;

use serde::Serialize;

/// One answer of the gate about one thing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Answer {
    /// The fact, or what was done.
    pub(super) what: String,
    /// It is in the envelope, or took effect.
    pub(super) accepted: bool,
    /// Its value where accepted, and what there is to say of it.
    pub(super) value: String,
    /// Every reason, in gate order.
    pub(super) reasons: Vec<String>,
}

/// One check.
#[derive(Debug, Serialize)]
pub(super) struct Check {
    name: &'static str,
    passed: bool,
    answers: Vec<Answer>,
    decision_ids: Vec<String>,
    /// What did not come as expected.
    failures: Vec<String>,
}

impl Check {
    pub(super) const fn new(name: &'static str) -> Self {
        Self { name, passed: true, answers: Vec::new(), decision_ids: Vec::new(), failures: Vec::new() }
    }

    pub(super) fn decided(&mut self, decision_id: &str) {
        self.decision_ids.push(decision_id.to_owned());
    }

    pub(super) fn saw(&mut self, answer: Answer) {
        self.answers.push(answer);
    }

    /// Fails the check unless `holds`; `expectation` says what was expected.
    pub(super) fn expect(&mut self, holds: bool, expectation: impl Into<String>) {
        if !holds {
            self.passed = false;
            self.failures.push(expectation.into());
        }
    }

    /// Expects an accepted answer about `what` with that value.
    pub(super) fn expect_accepted(&mut self, what: &str, value: &str) {
        let holds = self.answers.iter().any(|answer| answer.what == what && answer.accepted && answer.value == value);
        self.expect(holds, format!("`{what}` is accepted as `{value}`"));
    }

    /// Expects a refused answer about `what`, for exactly these reasons.
    pub(super) fn expect_refused(&mut self, what: &str, reasons: &[&str]) {
        let holds =
            self.answers.iter().any(|answer| answer.what == what && !answer.accepted && answer.reasons == reasons);
        self.expect(holds, format!("`{what}` is refused for {}", reasons.join(", ")));
    }
}

/// All checks.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    address: String,
    passed: bool,
    passed_count: usize,
    failed_count: usize,
    checks: Vec<Check>,
}

impl Report {
    pub(super) fn new(address: SocketAddr) -> Self {
        Self { address: address.to_string(), passed: true, passed_count: 0, failed_count: 0, checks: Vec::new() }
    }

    pub(super) fn add(&mut self, check: Check) {
        if check.passed {
            self.passed_count += 1;
        } else {
            self.failed_count += 1;
            self.passed = false;
        }
        self.checks.push(check);
    }

    pub(super) const fn passed(&self) -> bool {
        self.passed
    }

    pub(super) fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        serde_json::to_writer_pretty(&mut *out, self)?;
        writeln!(out)
    }

    pub(super) fn table(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "Recall Gate, over gRPC at {}, on a temporary store.", self.address)?;
        let answers = || self.checks.iter().flat_map(|check| &check.answers);
        let what = answers().map(|answer| width(&answer.what)).max().unwrap_or(0);
        for check in &self.checks {
            writeln!(out)?;
            writeln!(out, "{}  {}", if check.passed { "PASS" } else { "FAIL" }, check.name)?;
            for answer in &check.answers {
                writeln!(out, "{}", line(answer, what))?;
            }
            for decision_id in &check.decision_ids {
                writeln!(out, "        decision  {decision_id}")?;
            }
            for failure in &check.failures {
                writeln!(out, "        expected  {failure}")?;
            }
        }
        writeln!(out)?;
        writeln!(out, "{} passed, {} failed", self.passed_count, self.failed_count)
    }
}

fn line(answer: &Answer, what: usize) -> String {
    let mut line = format!("        {}  ", if answer.accepted { "accepted" } else { "refused " });
    line.push_str(&answer.what);
    line.extend(std::iter::repeat_n(' ', what.saturating_sub(width(&answer.what)) + 2));
    let reasons = answer.reasons.join(", ");
    let _ = match (answer.value.is_empty(), reasons.is_empty()) {
        (false, false) => write!(line, "{} ({reasons})", answer.value),
        (false, true) => write!(line, "{}", answer.value),
        (true, _) => write!(line, "{reasons}"),
    };
    line.truncate(line.trim_end().len());
    line
}

fn width(text: &str) -> usize {
    text.chars().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(reasons: &[&str]) -> Answer {
        let reasons = reasons.iter().map(ToString::to_string).collect();
        Answer { what: "ui_theme".to_owned(), accepted: false, value: String::new(), reasons }
    }

    #[test]
    fn a_refusal_for_another_reason_fails_the_check() {
        let mut check = Check::new("deleted");
        check.saw(refused(&["DELETED"]));
        check.expect_refused("ui_theme", &["DELETED"]);
        assert!(check.passed);
        check.expect_refused("ui_theme", &["EXPIRED"]);
        assert!(!check.passed);
        assert_eq!(check.failures, ["`ui_theme` is refused for EXPIRED"]);
    }

    #[test]
    fn the_table_and_the_json_say_what_failed() {
        let mut report = Report::new(SocketAddr::from(([127, 0, 0, 1], 7)));
        let mut check = Check::new("deleted");
        check.saw(refused(&["DELETED", "EXPIRED"]));
        check.decided("d-1");
        check.expect_accepted("ui_theme", "dark");
        report.add(check);
        let (mut table, mut json) = (Vec::new(), Vec::new());
        report.table(&mut table).unwrap();
        report.json(&mut json).unwrap();
        let table = String::from_utf8(table).unwrap();
        assert!(
            table.contains("FAIL  deleted\n        refused   ui_theme  DELETED, EXPIRED\n        decision  d-1\n"),
            "{table}"
        );
        assert!(table.ends_with("0 passed, 1 failed\n"), "{table}");
        let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
        assert_eq!(json["passed"], false);
        assert_eq!(json["checks"][0]["failures"][0], "`ui_theme` is accepted as `dark`");
    }
}

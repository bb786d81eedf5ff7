//! What was expected, what came, and how it is printed.

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

/// One call, and what the gate answered.
#[derive(Debug, Serialize)]
struct Step {
    call: String,
    /// Absent where the call was refused with a status.
    decision_id: Option<String>,
    answers: Vec<Answer>,
}

/// One check.
#[derive(Debug, Serialize)]
pub(super) struct Check {
    name: &'static str,
    passed: bool,
    steps: Vec<Step>,
    /// What did not come as expected.
    failures: Vec<String>,
}

impl Check {
    pub(super) const fn new(name: &'static str) -> Self {
        Self { name, passed: true, steps: Vec::new(), failures: Vec::new() }
    }

    /// Notes one call and its answers.
    pub(super) fn saw(&mut self, call: impl Into<String>, decision_id: Option<&str>, answers: Vec<Answer>) {
        self.steps.push(Step { call: call.into(), decision_id: decision_id.map(str::to_owned), answers });
    }

    fn answers(&self) -> impl Iterator<Item = &Answer> {
        self.steps.iter().flat_map(|step| &step.answers)
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
        let holds = self.answers().any(|answer| answer.what == what && answer.accepted && answer.value == value);
        self.expect(holds, format!("`{what}` is accepted as `{value}`"));
    }

    /// Expects a refused answer about `what`, for exactly these reasons.
    pub(super) fn expect_refused(&mut self, what: &str, reasons: &[&str]) {
        let holds = self.answers().any(|answer| answer.what == what && !answer.accepted && answer.reasons == reasons);
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
        writeln!(out, "Recall Gate, asked over gRPC at {}, on a temporary store", self.address)?;
        let steps = || self.checks.iter().flat_map(|check| &check.steps);
        let call = steps().map(|step| width(&step.call)).max().unwrap_or(0);
        let what = steps().flat_map(|step| &step.answers).map(|answer| width(&answer.what)).max().unwrap_or(0);
        for check in &self.checks {
            writeln!(out)?;
            writeln!(out, "{}  {}", if check.passed { "PASS" } else { "FAIL" }, check.name)?;
            for step in &check.steps {
                let decision_id = step.decision_id.as_deref().map(|id| format!("decision {id}")).unwrap_or_default();
                writeln!(out, "{}", padded("  ", &step.call, call, &decision_id))?;
                for answer in &step.answers {
                    let lead = if answer.accepted { "      accepted  " } else { "      refused   " };
                    writeln!(out, "{}", padded(lead, &answer.what, what, &told(answer)))?;
                }
            }
            for failure in &check.failures {
                writeln!(out, "  expected that {failure}")?;
            }
        }
        writeln!(out)?;
        writeln!(out, "{} passed, {} failed", self.passed_count, self.failed_count)
    }
}

/// The value, and what there is to say of it.
fn told(answer: &Answer) -> String {
    let reasons = answer.reasons.join(", ");
    match (answer.value.is_empty(), reasons.is_empty()) {
        (false, false) => format!("{} ({reasons})", answer.value),
        (false, true) => answer.value.clone(),
        (true, _) => reasons,
    }
}

/// Two columns, the first as wide as the widest.
fn padded(lead: &str, first: &str, widest: usize, second: &str) -> String {
    let gap = widest.saturating_sub(width(first)) + 2;
    let line = format!("{lead}{first}{}{second}", " ".repeat(gap));
    line.trim_end().to_owned()
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
        check.saw("Recall", Some("d-1"), vec![refused(&["DELETED"])]);
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
        check.saw("Recall", Some("d-1"), vec![refused(&["DELETED", "EXPIRED"])]);
        check.expect_accepted("ui_theme", "dark");
        report.add(check);
        let (mut table, mut json) = (Vec::new(), Vec::new());
        report.table(&mut table).unwrap();
        report.json(&mut json).unwrap();
        let table = String::from_utf8(table).unwrap();
        let expected =
            "\nFAIL  deleted\n  Recall  decision d-1\n      refused   ui_theme  DELETED, EXPIRED\n  expected that ";
        assert!(table.contains(expected), "{table}");
        assert!(table.ends_with("0 passed, 1 failed\n"), "{table}");
        let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
        assert_eq!(json["passed"], false);
        assert_eq!(json["checks"][0]["failures"][0], "`ui_theme` is accepted as `dark`");
    }
}

//! How a command ends when it does not end well.

use std::error::Error;
use std::io::{self, Write};
use std::process::ExitCode;

use crate::config::Faults;

/// Why a command failed; each line is one reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// It was called or set wrongly.
    Usage(Vec<String>),
    /// It was called rightly and did not work.
    Failed(Vec<String>),
}

impl Failure {
    /// Something did not work.
    pub fn failed(reason: impl Into<String>) -> Self {
        Self::Failed(vec![reason.into()])
    }

    /// Something did not work because of that, and what lies behind that.
    pub fn because(what: &str, error: &(dyn Error + 'static)) -> Self {
        let mut reason = what.to_owned();
        let mut cause = Some(error);
        while let Some(error) = cause {
            let text = error.to_string();
            // Some errors repeat their cause in their own words.
            if !reason.ends_with(&text) {
                reason.push_str(": ");
                reason.push_str(&text);
            }
            cause = error.source();
        }
        Self::failed(reason)
    }

    /// The reasons, one a line.
    #[must_use]
    pub fn reasons(&self) -> &[String] {
        match self {
            Self::Usage(reasons) | Self::Failed(reasons) => reasons,
        }
    }

    /// Tells the reasons; the code to exit with.
    pub fn tell(&self, err: &mut impl Write) -> ExitCode {
        let (reasons, code) = match self {
            Self::Usage(reasons) => (reasons, 2),
            Self::Failed(reasons) => (reasons, 1),
        };
        for reason in reasons {
            // Where the reasons cannot be told, the code still says that there are some.
            let _ = writeln!(err, "error: {reason}");
        }
        ExitCode::from(code)
    }
}

impl From<Faults> for Failure {
    fn from(faults: Faults) -> Self {
        Self::Usage(faults.0)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::because("the answer could not be written", &error)
    }
}

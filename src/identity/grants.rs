//! What a caller may do.

use std::collections::BTreeSet;

use crate::memory::{Evidence, PurposeName, Sensitivity, SourceKindName, SubjectId};

/// What a method needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verb {
    /// Offer facts.
    Capture,
    /// See and decide candidates.
    Confirm,
    /// Replace values.
    Correct,
    /// Prepare and resolve reviews.
    Review,
    /// Have facts judged and returned.
    Recall,
    /// See old versions.
    History,
    /// Delete and restore.
    Delete,
    /// Erase for good.
    Forget,
    /// Revoke sources.
    Revoke,
    /// Feed derived stores.
    Propagate,
    /// Bind tasks to snapshots.
    Task,
    /// Approve actions.
    Approve,
    /// Read decisions.
    Audit,
    /// Run the service.
    Operate,
    /// Bring in facts with their original times.
    Import,
}

impl Verb {
    /// Every verb.
    pub const ALL: [Self; 15] = [
        Self::Capture,
        Self::Confirm,
        Self::Correct,
        Self::Review,
        Self::Recall,
        Self::History,
        Self::Delete,
        Self::Forget,
        Self::Revoke,
        Self::Propagate,
        Self::Task,
        Self::Approve,
        Self::Audit,
        Self::Operate,
        Self::Import,
    ];

    /// The name in a credential.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Capture => "capture",
            Self::Confirm => "confirm",
            Self::Correct => "correct",
            Self::Review => "review",
            Self::Recall => "recall",
            Self::History => "history",
            Self::Delete => "delete",
            Self::Forget => "forget",
            Self::Revoke => "revoke",
            Self::Propagate => "propagate",
            Self::Task => "task",
            Self::Approve => "approve",
            Self::Audit => "audit",
            Self::Operate => "operate",
            Self::Import => "import",
        }
    }
}

/// For whom a caller may act beside itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ActFor {
    /// These subjects.
    Listed(BTreeSet<SubjectId>),
    /// Any subject of the tenant.
    Any,
}

/// A set that may be everything: `purpose:*` and the like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Extent<T> {
    Listed(BTreeSet<T>),
    Any,
}

impl<T: Ord> Extent<T> {
    fn holds(&self, name: &T) -> bool {
        match self {
            Self::Listed(names) => names.contains(name),
            Self::Any => true,
        }
    }
}

/// Why a grant could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{grant}` is no grant")]
pub struct GrantFault {
    /// The grant, as it was written.
    pub grant: String,
}

/// What a caller may do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grants {
    verbs: BTreeSet<Verb>,
    purposes: Extent<PurposeName>,
    evidence: BTreeSet<Evidence>,
    sources: Extent<SourceKindName>,
    shared_write: bool,
    act_for: ActFor,
    max_sensitivity: Sensitivity,
}

impl Grants {
    /// Nothing; sees what is public or internal.
    #[must_use]
    pub const fn none() -> Self {
        Self {
            verbs: BTreeSet::new(),
            purposes: Extent::Listed(BTreeSet::new()),
            evidence: BTreeSet::new(),
            sources: Extent::Listed(BTreeSet::new()),
            shared_write: false,
            act_for: ActFor::Listed(BTreeSet::new()),
            max_sensitivity: Sensitivity::Internal,
        }
    }

    /// Everything.
    #[must_use]
    pub fn all() -> Self {
        Self {
            verbs: Verb::ALL.into(),
            purposes: Extent::Any,
            evidence: Evidence::ALL.into(),
            sources: Extent::Any,
            shared_write: true,
            act_for: ActFor::Any,
            max_sensitivity: Sensitivity::Restricted,
        }
    }

    /// Reads grants as a credential writes them: a verb; `purpose:<name>`, `source:<kind>`, `act_for:<subject>`, each
    /// also with `*`; `attest:<evidence>`; `shared:write`; `max_sensitivity:<sensitivity>`.
    ///
    /// # Errors
    /// The first that is none, or a second `max_sensitivity`. An unknown grant is refused, not skipped: it may be the
    /// limit somebody relies on.
    pub fn parse<S: AsRef<str>>(grants: impl IntoIterator<Item = S>) -> Result<Self, GrantFault> {
        let mut parsed = Self::none();
        let mut ceilings = 0;
        for grant in grants {
            let grant = grant.as_ref();
            let fault = || GrantFault { grant: grant.to_owned() };
            parsed.add(grant).ok_or_else(fault)?;
            ceilings += i32::from(grant.starts_with("max_sensitivity:"));
            if ceilings > 1 {
                return Err(fault());
            }
        }
        Ok(parsed)
    }

    fn add(&mut self, grant: &str) -> Option<()> {
        if let Some(verb) = Verb::ALL.into_iter().find(|verb| verb.name() == grant) {
            self.verbs.insert(verb);
            return Some(());
        }
        let (qualifier, value) = grant.split_once(':')?;
        match qualifier {
            "purpose" => add(&mut self.purposes, value, |name| PurposeName::new(name).ok()),
            "source" => add(&mut self.sources, value, |name| SourceKindName::new(name).ok()),
            "act_for" => {
                if value == "*" {
                    self.act_for = ActFor::Any;
                } else if let ActFor::Listed(subjects) = &mut self.act_for {
                    subjects.insert(SubjectId::new(value).ok()?);
                }
                Some(())
            }
            "attest" => {
                let evidence = Evidence::ALL.into_iter().find(|e| *e != Evidence::None && e.name() == value)?;
                self.evidence.insert(evidence);
                Some(())
            }
            "shared" if value == "write" => {
                self.shared_write = true;
                Some(())
            }
            "max_sensitivity" => {
                self.max_sensitivity = Sensitivity::ALL.into_iter().find(|s| s.name() == value)?;
                Some(())
            }
            _ => None,
        }
    }

    /// Whether a method that needs this may be called.
    #[must_use]
    pub fn holds(&self, verb: Verb) -> bool {
        self.verbs.contains(&verb)
    }

    /// Whether facts may be asked for, for this.
    #[must_use]
    pub fn holds_purpose(&self, purpose: &PurposeName) -> bool {
        self.purposes.holds(purpose)
    }

    /// Whether this evidence may be stated. None may be stated by anybody.
    #[must_use]
    pub fn may_attest(&self, evidence: Evidence) -> bool {
        evidence == Evidence::None || self.evidence.contains(&evidence)
    }

    /// Whether this source kind may be stated.
    #[must_use]
    pub fn may_state_source(&self, kind: &SourceKindName) -> bool {
        self.sources.holds(kind)
    }

    /// Whether shared memories may be written.
    #[must_use]
    pub const fn may_write_shared(&self) -> bool {
        self.shared_write
    }

    /// Whether the caller may act for this subject. Itself is not asked here.
    #[must_use]
    pub fn may_act_for(&self, subject: &SubjectId) -> bool {
        match &self.act_for {
            ActFor::Listed(subjects) => subjects.contains(subject),
            ActFor::Any => true,
        }
    }

    /// The highest sensitivity that may be seen. What lies above it is not visible at all.
    #[must_use]
    pub const fn max_sensitivity(&self) -> Sensitivity {
        self.max_sensitivity
    }

    /// The grants as a credential writes them, sorted.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.verbs.iter().map(|verb| verb.name().to_owned()).collect();
        match &self.purposes {
            Extent::Any => names.push("purpose:*".to_owned()),
            Extent::Listed(purposes) => names.extend(purposes.iter().map(|name| format!("purpose:{name}"))),
        }
        match &self.sources {
            Extent::Any => names.push("source:*".to_owned()),
            Extent::Listed(sources) => names.extend(sources.iter().map(|name| format!("source:{name}"))),
        }
        match &self.act_for {
            ActFor::Any => names.push("act_for:*".to_owned()),
            ActFor::Listed(subjects) => names.extend(subjects.iter().map(|id| format!("act_for:{id}"))),
        }
        let attested = self.evidence.iter().filter(|evidence| **evidence != Evidence::None);
        names.extend(attested.map(|evidence| format!("attest:{}", evidence.name())));
        if self.shared_write {
            names.push("shared:write".to_owned());
        }
        names.push(format!("max_sensitivity:{}", self.max_sensitivity.name()));
        names.sort_unstable();
        names
    }
}

fn add<T: Ord>(extent: &mut Extent<T>, value: &str, parse: impl Fn(&str) -> Option<T>) -> Option<()> {
    if value == "*" {
        *extent = Extent::Any;
    } else {
        let name = parse(value)?;
        if let Extent::Listed(names) = extent {
            names.insert(name);
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grants_read_back_as_they_were_written() {
        let written = [
            "act_for:bo",
            "attest:user_confirmed",
            "capture",
            "max_sensitivity:personal",
            "purpose:act",
            "recall",
            "shared:write",
            "source:user_message",
        ];
        assert_eq!(Grants::parse(written).unwrap().names(), written);
        assert_eq!(
            Grants::parse(Grants::all().names()).unwrap(),
            Grants {
                evidence: Grants::all().evidence.into_iter().filter(|e| *e != Evidence::None).collect(),
                ..Grants::all()
            }
        );
    }

    #[test]
    fn i08_an_unknown_grant_is_refused_and_not_skipped() {
        for grant in ["", "admin", "Capture", "attest:", "attest:none", "shared:read", "purpose:", "max_sensitivity:x"]
        {
            assert_eq!(Grants::parse([grant]), Err(GrantFault { grant: grant.to_owned() }), "{grant}");
        }
    }

    #[test]
    fn of_two_ceilings_neither_counts() {
        let twice = ["max_sensitivity:internal", "max_sensitivity:restricted"];
        assert_eq!(Grants::parse(twice), Err(GrantFault { grant: twice[1].to_owned() }));
    }

    #[test]
    fn a_later_narrower_grant_does_not_narrow_a_wider_one() {
        let grants = Grants::parse(["purpose:*", "purpose:act"]).unwrap();
        assert!(grants.holds_purpose(&PurposeName::new("draft").unwrap()));
    }
}

//! What is called, and how often of all calls.

use std::fmt;
use std::str::FromStr;

use super::dice::Dice;

/// What can be called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Method {
    Recall,
    Capture,
    Correct,
    Delete,
}

impl Method {
    pub(super) const ALL: [Self; 4] = [Self::Recall, Self::Capture, Self::Correct, Self::Delete];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Recall => "recall",
            Self::Capture => "capture",
            Self::Correct => "correct",
            Self::Delete => "delete",
        }
    }

    pub(super) const fn path(self) -> &'static str {
        match self {
            Self::Recall => "/recallgate.v1.RecallService/Recall",
            Self::Capture => "/recallgate.v1.CaptureService/Capture",
            Self::Correct => "/recallgate.v1.CorrectService/Correct",
            Self::Delete => "/recallgate.v1.DeleteService/Delete",
        }
    }
}

/// Shares of the calls; at least one is above 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mix(Vec<(Method, u32)>);

impl Mix {
    pub(super) fn pick(&self, dice: &mut Dice) -> Method {
        let mut left = dice.below(self.0.iter().map(|(_, share)| share).sum());
        for (method, share) in &self.0 {
            if left < *share {
                return *method;
            }
            left -= share;
        }
        Method::Recall
    }

    /// What is called at all.
    pub(super) fn methods(&self) -> impl Iterator<Item = Method> {
        self.0.iter().map(|(method, _)| *method)
    }

    /// Whether anything is called that changes memories.
    pub(super) fn writes(&self) -> bool {
        self.methods().any(|method| method != Method::Recall)
    }
}

impl fmt::Display for Mix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shares: Vec<String> = self.0.iter().map(|(method, share)| format!("{}={share}", method.name())).collect();
        f.write_str(&shares.join(","))
    }
}

impl FromStr for Mix {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut shares = Vec::new();
        for part in text.split(',') {
            let (name, share) = part.split_once('=').ok_or_else(|| format!("`{part}` must be METHOD=SHARE"))?;
            let method = Method::ALL.into_iter().find(|method| method.name() == name);
            let method = method.ok_or_else(|| format!("`{name}` must be recall, capture, correct or delete"))?;
            let share: u16 = share.parse().map_err(|_| format!("`{share}` must be 0 to 65535"))?;
            if shares.iter().any(|(other, _)| *other == method) {
                return Err(format!("`{name}` is there twice"));
            }
            shares.push((method, u32::from(share)));
        }
        shares.retain(|(_, share)| *share > 0);
        if shares.is_empty() { Err("nothing would be called".to_owned()) } else { Ok(Self(shares)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_made_in_their_shares_and_nothing_else_is_called() {
        let mix: Mix = "recall=90,capture=10,delete=0".parse().unwrap();
        let picked = |method| (0..10_000).filter(|number| mix.pick(&mut Dice::of(1, *number)) == method).count();
        assert!((8_800..9_200).contains(&picked(Method::Recall)), "{}", picked(Method::Recall));
        assert!((800..1_200).contains(&picked(Method::Capture)), "{}", picked(Method::Capture));
        assert_eq!((picked(Method::Correct), picked(Method::Delete)), (0, 0));
        assert!(mix.writes() && !"recall=1".parse::<Mix>().unwrap().writes());
    }

    #[test]
    fn a_mix_that_is_none_is_refused() {
        for text in ["", "recall", "recall=x", "recall=-1", "recall=0", "forget=1", "recall=1,recall=2", "recall=70000"]
        {
            assert!(text.parse::<Mix>().is_err(), "{text:?}");
        }
    }
}

use super::*;
use crate::memory::{Audience, Confidence, Key, KindName, PurposeName, Sensitivity, SourceKindName, Trust};
use crate::policy::{
    Access, Activates, Class, Inference, Keys, Kind, LevelName, NarrowerRejected, Purpose, Risk, SourceRule, ValueType,
};

/// A small document that is in order.
const SMALL: &str = r#"
[limits]
candidate_life_seconds = 60
unstated_source_max_confidence = 0.5

[purposes.converse]
risk = "low"
min_confidence = 0.5
min_trust = "unverified"
evidence = []
max_sensitivity = "personal"
nominated_version_required = false

[purposes.act]
risk = "high"
min_confidence = 0.9
min_trust = "attributed"
evidence = ["user_confirmed"]
max_sensitivity = "personal"
max_confirmation_age_seconds = 90
nominated_version_required = true

[purposes.index]
risk = "low"
min_confidence = 0
min_trust = "untrusted"
evidence = []
max_sensitivity = "internal"
nominated_version_required = false

[purposes.subject_access]

[sources.user_message]
trust = "attributed"
max_confidence = 1.0
activates = "as_kind_allows"
lineage_required = false

[confirming_sources]
user_confirmed = "user_message"

[kinds.theme]
class = "preference"
keys = ["theme"]
levels = ["general"]
audiences = ["personal"]
purposes = ["converse"]
consent_needed = false
evidence = ["user_confirmed"]
inference = "low_risk"
default_life_seconds = 10
longest_life_seconds = 20
sensitivity = "internal"
value_type = "text"
max_chars = 40

[kinds.note]
class = "experience"
key_pattern = "note-[a-z]+"
levels = ["project"]
audiences = ["personal"]
purposes = ["act"]
consent_needed = true
evidence = ["user_confirmed"]
sensitivity = "personal"

[screening]
secrets = [{ name = "secret", pattern = "xyzzy" }]
personal_data = [{ name = "card", pattern = "[0-9]{16}", action = "redact", checksum = "luhn" }]
instructions = []
"#;

fn faults(document: &str) -> Vec<(String, String)> {
    let faults = Policy::parse(document).expect_err("a fault").0;
    faults.into_iter().map(|fault| (fault.path, fault.message)).collect()
}

/// The faults of the small document with one text in it replaced.
fn faults_with(old: &str, new: &str) -> Vec<(String, String)> {
    assert!(SMALL.contains(old), "{old}");
    faults(&SMALL.replacen(old, new, 1))
}

fn assert_only(old: &str, new: &str, path: &str, message: &str) {
    let faults = faults_with(old, new);
    let fits = matches!(faults.as_slice(), [(at, what)] if at == path && what.contains(message));
    assert!(fits, "`{new}` for `{old}`: wanted {path}: {message}, found {faults:#?}");
}

fn default() -> Policy {
    Policy::compiled_in().unwrap_or_else(|faults| panic!("{faults}"))
}

fn kind<'p>(policy: &'p Policy, name: &str) -> &'p Kind {
    &policy.kinds[&KindName::new(name).unwrap()]
}

fn purpose<'p>(policy: &'p Policy, name: &str) -> &'p Purpose {
    &policy.purposes[&PurposeName::new(name).unwrap()]
}

fn source<'p>(policy: &'p Policy, name: &str) -> &'p SourceRule {
    &policy.sources[&SourceKindName::new(name).unwrap()]
}

#[test]
fn the_default_policy_is_in_order_and_its_version_is_its_hash() {
    let policy = default();
    assert_eq!(policy.document, DEFAULT_DOCUMENT);
    assert_eq!(policy.version, version(DEFAULT_DOCUMENT));
    assert_eq!(version("abc").to_string(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    assert_ne!(Policy::parse(&format!("{DEFAULT_DOCUMENT}\n")).unwrap().version, policy.version);
}

#[test]
fn the_default_limits_and_purposes_read_back_as_written() {
    let policy = default();
    assert_eq!(policy.candidate_life, Span::from_seconds(30 * 86_400));
    assert_eq!(policy.unstated_source_max_confidence.millionths(), 500_000);
    let every_evidence = [Evidence::UserConfirmed, Evidence::TaskVerified, Evidence::OperatorVerified];
    let quarter = Some(Span::from_seconds(90 * 86_400));
    for (name, risk, confidence, trust, evidence, sensitivity, age, version_required) in [
        ("converse", Risk::Low, 500_000, Trust::Unverified, &[][..], Sensitivity::Personal, None, false),
        ("draft", Risk::Medium, 800_000, Trust::Attributed, &every_evidence, Sensitivity::Personal, None, false),
        ("act", Risk::High, 900_000, Trust::Attributed, &every_evidence, Sensitivity::Personal, quarter, true),
        ("index", Risk::Low, 0, Trust::Untrusted, &[], Sensitivity::Personal, None, false),
        ("subject_access", Risk::Low, 0, Trust::Untrusted, &[], Sensitivity::Restricted, None, false),
    ] {
        let read = purpose(&policy, name);
        let access = if name == "subject_access" { Access::Subject } else { Access::Judged };
        assert_eq!((read.access, read.risk, read.min_confidence.millionths()), (access, risk, confidence), "{name}");
        assert_eq!((read.min_trust, read.evidence.as_slice()), (trust, evidence), "{name}");
        assert_eq!((read.max_sensitivity, read.max_confirmation_age), (sensitivity, age), "{name}");
        assert_eq!(read.nominated_version_required, version_required, "{name}");
    }
    assert_eq!(policy.purposes.len(), 5);
}

#[test]
fn the_default_sources_read_back_as_written() {
    let policy = default();
    for (name, trust, cap, activates, lineage_required) in [
        ("user_message", Trust::Attributed, 1_000_000, Activates::AsKindAllows, false),
        ("user_confirmation", Trust::Attributed, 1_000_000, Activates::AsKindAllows, false),
        ("task_check", Trust::Verified, 1_000_000, Activates::AsKindAllows, false),
        ("operator_entry", Trust::Verified, 1_000_000, Activates::AsKindAllows, false),
        ("tool_result", Trust::Unverified, 900_000, Activates::AsKindAllows, false),
        ("model_inference", Trust::Unverified, 700_000, Activates::AsKindAllows, true),
        ("summary", Trust::Unverified, 600_000, Activates::Nothing, true),
        ("retrieved_document", Trust::Untrusted, 500_000, Activates::Nothing, false),
    ] {
        let read = source(&policy, name);
        assert_eq!((read.trust, read.max_confidence.millionths()), (trust, cap), "{name}");
        assert_eq!((read.activates, read.lineage_required), (activates, lineage_required), "{name}");
    }
    assert_eq!(policy.sources.len(), 8);
    let confirming: Vec<_> = policy.confirming_sources.iter().map(|(e, source)| (e.name(), source.as_str())).collect();
    assert_eq!(
        confirming,
        [
            ("user_confirmed", "user_confirmation"),
            ("task_verified", "task_check"),
            ("operator_verified", "operator_entry")
        ]
    );
}

#[test]
fn the_default_kinds_read_back_as_written() {
    const DAY: i64 = 86_400;
    let policy = default();
    for (name, class, key, default_days, longest_days, max_chars) in [
        ("display_name", Class::Profile, "display_name", None, None, 100),
        ("response_style", Class::Preference, "response_style", None, None, 300),
        ("response_language", Class::Preference, "response_language", None, None, 100),
        ("ui_theme", Class::Preference, "ui_theme", Some(180), Some(365), 64),
        ("status", Class::TaskFact, "status", Some(1), Some(7), 300),
        ("database_engine", Class::EnvironmentFact, "database_engine", Some(180), Some(365), 100),
        ("service_target", Class::EnvironmentFact, "service_target", Some(30), Some(90), 300),
        ("duty_team", Class::EnvironmentFact, "duty_team", Some(7), Some(30), 100),
        ("inferred_role", Class::Profile, "platform_role", Some(30), Some(90), 100),
        ("experience", Class::Experience, "0190b5f2-7c1e-7a3b-9d4e-0123456789ab", Some(365), Some(730), 1000),
    ] {
        let read = kind(&policy, name);
        let days = |days: Option<i64>| days.map(|days| Span::from_seconds(days * DAY));
        assert!(read.keys.allow(&Key::new(key).unwrap()), "{name}");
        assert!(!read.keys.allow(&Key::new("other").unwrap()), "{name}");
        assert_eq!(
            (read.class, read.default_life, read.longest_life),
            (class, days(default_days), days(longest_days)),
            "{name}"
        );
        assert_eq!((read.value.value_type, read.value.max_chars), (ValueType::Text, max_chars), "{name}");
        let may_be_inferred = ["ui_theme", "inferred_role"].contains(&name);
        assert_eq!(read.inference == Inference::LowRisk, may_be_inferred, "{name}");
        assert_eq!(read.many, name == "experience", "{name}");
        assert_eq!(read.consent_needed, name == "experience", "{name}");
        let withheld = ["service_target", "duty_team"].contains(&name);
        assert_eq!(read.narrower_rejected == NarrowerRejected::Withhold, withheld, "{name}");
    }
    assert_eq!(policy.kinds.len(), 10);
    let status = kind(&policy, "status");
    assert_eq!(status.levels, [LevelName::Task].into());
    assert_eq!(status.audiences, [Audience::Personal, Audience::Shared].into());
    assert_eq!(status.evidence, [Evidence::TaskVerified]);
    let duty_team = kind(&policy, "duty_team");
    assert_eq!(duty_team.strength(Evidence::OperatorVerified, Audience::Shared), Some(0));
    assert_eq!(duty_team.strength(Evidence::UserConfirmed, Audience::Shared), None);
}

#[test]
fn the_default_policy_lets_confirmed_preferences_act_and_guesses_only_talk() {
    let policy = default();
    let (converse, draft, act) = (purpose(&policy, "converse"), purpose(&policy, "draft"), purpose(&policy, "act"));
    let message = source(&policy, "user_message");
    for name in ["display_name", "response_style", "response_language"] {
        for wanted in [draft, act] {
            assert!(kind(&policy, name).purposes.contains(&wanted.name), "{name}");
            assert!(message.trust >= wanted.min_trust && message.max_confidence >= wanted.min_confidence);
            assert!(wanted.evidence.contains(&kind(&policy, name).evidence[0]), "{name}");
        }
    }
    let guess = Confidence::value(0.62).unwrap();
    let model = source(&policy, "model_inference");
    assert!(guess <= model.max_confidence && guess >= converse.min_confidence && model.trust >= converse.min_trust);
    assert!(guess < draft.min_confidence && model.trust < draft.min_trust);
    let role = kind(&policy, "inferred_role");
    assert!(role.purposes.contains(&converse.name) && !role.purposes.contains(&act.name));
    assert_eq!(role.evidence, [Evidence::OperatorVerified]);
    assert!(source(&policy, "retrieved_document").trust < converse.min_trust);
}

#[test]
fn the_small_document_reads_back_as_written() {
    let policy = Policy::parse(SMALL).unwrap_or_else(|faults| panic!("{faults}"));
    let theme = kind(&policy, "theme");
    assert!(matches!(&theme.keys, Keys::Listed(keys) if keys.len() == 1));
    assert_eq!((theme.default_life, theme.longest_life), (Some(Span::from_seconds(10)), Some(Span::from_seconds(20))));
    let note = kind(&policy, "note");
    assert_eq!((note.default_life, note.longest_life, note.value.max_chars), (None, None, 300));
    for (key, allowed) in [("note-a", true), ("xnote-a", false), ("note-a-1", false), ("note-a\u{200b}", false)] {
        assert_eq!(note.keys.allow(&Key::new(key).unwrap()), allowed, "{key}");
    }
}

#[test]
fn a_document_that_is_no_toml_is_told_by_line_and_column() {
    assert_eq!(Policy::parse("").expect_err("fields are missing").0.len(), 6);
    let found = faults("[limits]\ncandidate_life_seconds = = 3\n[purposes\n");
    assert!(found.len() > 1, "{found:?}");
    assert!(found[0].1.starts_with("line 2, column 26: "), "{found:?}");
    assert!(found[2].1.starts_with("line 3, column 10: "), "{found:?}");
    let twice = faults_with("class = \"preference\"", "class = \"preference\"\nclass = \"profile\"");
    assert!(twice[0].1.contains("duplicate key"), "{twice:?}");
}

#[test]
fn b14_a_confidence_that_is_no_number_from_0_to_1_is_refused_by_name() {
    for (old, path) in [
        ("min_confidence = 0.9", "purposes.act.min_confidence"),
        ("max_confidence = 1.0", "sources.user_message.max_confidence"),
        ("unstated_source_max_confidence = 0.5", "limits.unstated_source_max_confidence"),
    ] {
        let key = old.split(' ').next().unwrap();
        for value in [
            "nan",
            "+nan",
            "-nan",
            "inf",
            "-inf",
            "\"high\"",
            "\"\"",
            "\"0.9\"",
            "-0.1",
            "1.1",
            "2",
            "1.0000000000000002",
            "-5e-324",
            "true",
            "[0.9]",
            "{}",
            "1979-05-27",
        ] {
            assert_only(old, &format!("{key} = {value}"), path, "must be a number from 0 to 1, and is ");
        }
        let nothing = faults_with(old, &format!("{key} ="));
        assert_eq!(nothing[0].0, key, "{nothing:?}");
    }
}

#[test]
fn floors_round_up_and_caps_round_down() {
    let policy = Policy::parse(&SMALL.replacen("min_confidence = 0.9", "min_confidence = 0.8999991", 1).replacen(
        "max_confidence = 1.0",
        "max_confidence = 0.8999999",
        1,
    ))
    .unwrap();
    assert_eq!(purpose(&policy, "act").min_confidence.millionths(), 900_000);
    assert_eq!(source(&policy, "user_message").max_confidence.millionths(), 899_999);
    for (number, millionths) in [("0", 0), ("1", 1_000_000), ("-0.0", 0), ("0.000_001", 1)] {
        let policy = Policy::parse(&SMALL.replacen("min_confidence = 0.9", &format!("min_confidence = {number}"), 1));
        assert_eq!(purpose(&policy.unwrap(), "act").min_confidence.millionths(), millionths, "{number}");
    }
}

#[test]
fn every_fault_is_told_with_its_place_and_in_order() {
    let document = SMALL
        .replacen("class = \"preference\"", "clas = \"preference\"\ncolour = 1", 1)
        .replacen("levels = [\"project\"]", "levels = [\"project\", \"team\", 3]", 1)
        .replacen("consent_needed = true", "consent_needed = \"yes\"", 1)
        .replacen("risk = \"high\"", "risk = \"extreme\"", 1)
        .replacen("\ntrust = \"attributed\"", "\ntrust = 3", 1)
        .replacen("[confirming_sources]", "[confirming_sources]\nnone = \"user_message\"", 1)
        .replacen("name = \"secret\"", "name = \"Secret\", hue = 1", 1)
        .replacen("[limits]", "[extra]\n[limits]\nmax = 1", 1);
    let found = faults(&document);
    let paths: Vec<&str> = found.iter().map(|(path, _)| path.as_str()).collect();
    assert_eq!(
        paths,
        [
            "extra",
            "limits.max",
            "purposes.act.risk",
            "sources.user_message.trust",
            "confirming_sources.none",
            "kinds.theme.class",
            "kinds.theme.clas",
            "kinds.theme.colour",
            "kinds.note.levels[1]",
            "kinds.note.levels[2]",
            "kinds.note.consent_needed",
            "screening.secrets[0].name",
            "screening.secrets[0].hue",
        ]
    );
    assert!(
        found[2].1.contains("line 17, column 8: must be one of `low`, `medium`, `high`, and is `extreme`"),
        "{found:#?}"
    );
    assert!(found[6].1.contains("unknown field; the fields here are `class`, `keys`"), "{found:#?}");
    let shown = Policy::parse(&document).unwrap_err().to_string();
    assert!(shown.starts_with("13 faults in the policy: `extra`: line 2, column 2: unknown field"), "{shown}");
}

#[test]
fn a_missing_field_is_told_for_each_required_one() {
    for (field, path) in [
        ("candidate_life_seconds = 60", "limits.candidate_life_seconds"),
        ("risk = \"high\"", "purposes.act.risk"),
        ("min_confidence = 0.9", "purposes.act.min_confidence"),
        ("min_trust = \"attributed\"", "purposes.act.min_trust"),
        ("evidence = [\"user_confirmed\"]", "purposes.act.evidence"),
        ("max_sensitivity = \"internal\"", "purposes.index.max_sensitivity"),
        ("nominated_version_required = true", "purposes.act.nominated_version_required"),
        ("[purposes.subject_access]", "purposes.subject_access"),
        ("trust = \"attributed\"\n", "sources.user_message.trust"),
        ("activates = \"as_kind_allows\"", "sources.user_message.activates"),
        ("lineage_required = false", "sources.user_message.lineage_required"),
        ("user_confirmed = \"user_message\"", "confirming_sources.user_confirmed"),
        ("class = \"preference\"", "kinds.theme.class"),
        ("audiences = [\"personal\"]", "kinds.theme.audiences"),
        ("consent_needed = true", "kinds.note.consent_needed"),
        ("sensitivity = \"personal\"\n\n[screening]", "kinds.note.sensitivity"),
        ("instructions = []", "screening.instructions"),
        (", action = \"redact\"", "screening.personal_data[0].action"),
    ] {
        let with = if field.ends_with("[screening]") { "[screening]" } else { "" };
        let (field, with) = if field.starts_with("trust") { ("\ntrust = \"attributed\"", "") } else { (field, with) };
        assert!(SMALL.contains(field), "{field}");
        let found = faults(&SMALL.replacen(field, with, 1));
        assert!(
            found.iter().any(|(at, what)| at == path && (what.contains("missing") || what.contains("must name"))),
            "{field}: {found:?}"
        );
    }
    for table in ["limits", "purposes", "sources", "confirming_sources", "kinds", "screening"] {
        let found = faults("");
        assert!(found.contains(&(table.to_owned(), "line 1, column 1: is missing".to_owned())), "{table}: {found:?}");
    }
}

#[test]
fn names_that_nothing_defines_are_refused() {
    assert_only(
        "purposes = [\"converse\"]",
        "purposes = [\"converse\", \"chat\"]",
        "kinds.theme.purposes[1]",
        "must be one of `act`, `converse`",
    );
    assert_only(
        "evidence = [\"user_confirmed\"]\ninference",
        "evidence = [\"user_confirmed\", \"none\"]\ninference",
        "kinds.theme.evidence[1]",
        "must be one of",
    );
    assert_only("levels = [\"general\"]", "levels = [\"General\"]", "kinds.theme.levels[0]", "is `General`");
    assert_only("audiences = [\"personal\"]", "audiences = [\"public\"]", "kinds.theme.audiences[0]", "must be one of");
    assert_only("class = \"preference\"", "class = \"permission\"", "kinds.theme.class", "must be one of");
    assert_only(
        "= \"user_message\"",
        "= \"nobody\"",
        "confirming_sources.user_confirmed",
        "must be one of `user_message`",
    );
    assert_only("purposes = [\"act\"]", "purposes = [\"act\", \"act\"]", "kinds.note.purposes[1]", "twice");
}

#[test]
fn names_that_grants_could_not_hold_are_refused() {
    for name in ["\"a b\"", "\"a:b\"", "A", "\"\"", "\"x\\ny\"", "_a", "9", "\"日本\""] {
        let found = faults_with("[kinds.note]", &format!("[kinds.{name}]"));
        assert!(found.iter().any(|(_, what)| what.contains("must be a name")), "{name}: {found:?}");
    }
    let long = "a".repeat(65);
    assert!(Policy::parse(&SMALL.replacen("[kinds.note]", &format!("[kinds.{}]", &long[1..]), 1)).is_ok());
    assert_only("[kinds.note]", &format!("[kinds.{long}]"), &format!("kinds.{long}"), "must be a name");
}

#[test]
fn kinds_whose_keys_overlap_are_refused() {
    let both = "must have no key in common";
    assert_only("key_pattern = \"note-[a-z]+\"", "keys = [\"note\", \"theme\"]", "kinds.note", both);
    assert_only("key_pattern = \"note-[a-z]+\"", "key_pattern = \"(?i)THEME|note\"", "kinds.note", both);
    let patterns = |first: &str, second: &str| {
        SMALL.replacen("keys = [\"theme\"]", &format!("key_pattern = \"{first}\""), 1).replacen(
            "note-[a-z]+",
            second,
            1,
        )
    };
    assert!(Policy::parse(&patterns("theme-[a-z]+", "note-[a-z]+")).is_ok());
    let found = faults(&patterns("[a-z]+-x", "note-[a-z]+"));
    assert_eq!(
        found,
        [("kinds.note".to_owned(), "must have no key in common with `theme`, and both have `note-x`".to_owned())]
    );
}

#[test]
fn keys_that_cannot_be_keys_are_refused() {
    let pattern = "key_pattern = \"note-[a-z]+\"";
    for (new, path, message) in [
        ("", "kinds.note", "must have `keys`"),
        ("keys = []", "kinds.note", "at least one key"),
        ("keys = [\"\"]", "kinds.note.keys[0]", "must not be empty"),
        ("keys = [\"a\\u0000b\"]", "kinds.note.keys[0]", "control"),
        ("keys = [\"e\\u0301\"]", "kinds.note.keys[0]", "normal form"),
        ("keys = [\"a\", \"a\"]", "kinds.note.keys[1]", "twice"),
        ("keys = \"note\"", "kinds.note.keys", "must be a list"),
        ("keys = [\"a\"]\nkey_pattern = \"b\"", "kinds.note.key_pattern", "left out"),
        ("keys = [\"a\"]\nmany = true", "kinds.note.keys", "left out"),
        ("key_pattern = \"[a\"", "kinds.note.key_pattern", "compiles"),
        ("key_pattern = \"a)|(?:b\"", "kinds.note.key_pattern", "compiles"),
        ("key_pattern = \"\"", "kinds.note.key_pattern", "no key at all"),
        ("key_pattern = \"a\\\\bb\"", "kinds.note.key_pattern", "compared"),
        ("key_pattern = \"\\\\w{1000}{1000}\"", "kinds.note.key_pattern", "size"),
        ("many = true\nkey_pattern = \"note-[a-z]+\"", "kinds.note.key_pattern", "every memory id"),
        ("many = \"yes\"\nkey_pattern = \"note-[a-z]+\"", "kinds.note.many", "must be `true` or `false`"),
    ] {
        assert_only(pattern, new, path, message);
    }
    for new in ["many = true", "many = true\nkey_pattern = \"note-[a-z]+|[0-9a-f-]{36}\""] {
        let policy = Policy::parse(&SMALL.replacen(pattern, new, 1)).unwrap();
        let keys = &kind(&policy, "note").keys;
        assert!(keys.allow(&Key::new("0190b5f2-7c1e-7a3b-9d4e-0123456789ab").unwrap()));
        assert!(!keys.allow(&Key::new("0190b5f2-7c1e-7a3b-9d4e-0123456789ab0").unwrap()));
    }
    let two = SMALL.replacen(pattern, "many = true", 1).replacen("keys = [\"theme\"]", "many = true", 1);
    assert_eq!(faults(&two).len(), 1);
    assert!(faults(&two)[0].1.contains("one kind alone"));
}

#[test]
fn spans_and_sizes_out_of_range_are_refused() {
    for (old, path, range) in [
        ("candidate_life_seconds = 60", "limits.candidate_life_seconds", "1 to 31536000"),
        ("max_confirmation_age_seconds = 90", "purposes.act.max_confirmation_age_seconds", "1 to 3153600000"),
        ("longest_life_seconds = 20", "kinds.theme.longest_life_seconds", "1 to 3153600000"),
        ("max_chars = 40", "kinds.theme.max_chars", "1 to 65536"),
    ] {
        let key = old.split(' ').next().unwrap();
        for value in ["0", "-1", "1.5", "\"60\"", "\"\"", "nan", "9223372036854775807", "9223372036854775808"] {
            assert_only(old, &format!("{key} = {value}"), path, &format!("must be a whole number from {range}"));
        }
    }
    for (max_chars, fits) in [("1", true), ("65536", true), ("0x10", true), ("65537", false)] {
        let parsed = Policy::parse(&SMALL.replacen("max_chars = 40", &format!("max_chars = {max_chars}"), 1));
        assert_eq!(parsed.is_ok(), fits, "{max_chars}");
    }
    assert_only(
        "default_life_seconds = 10",
        "default_life_seconds = 21",
        "kinds.theme.default_life_seconds",
        "must not be longer",
    );
    assert!(Policy::parse(&SMALL.replacen("default_life_seconds = 10", "default_life_seconds = 20", 1)).is_ok());
}

#[test]
fn values_are_listed_for_enums_and_for_nothing_else() {
    let old = "value_type = \"text\"\nmax_chars = 40";
    for (new, path, message) in [
        ("value_type = \"enum\"", "kinds.theme", "must have `values`"),
        ("value_type = \"enum\"\nvalues = []", "kinds.theme", "at least one value"),
        ("value_type = \"enum\"\nvalues = [\"\"]", "kinds.theme.values[0]", "1 to 300"),
        ("value_type = \"enum\"\nvalues = [1]", "kinds.theme.values[0]", "text in quotes"),
        ("value_type = \"enum\"\nvalues = [\"a\", \"a\"]", "kinds.theme.values[1]", "twice"),
        ("value_type = \"enum\"\nvalues = [\"a\"]\nmax_chars = 3", "kinds.theme.max_chars", "left out"),
        ("value_type = \"bool\"\nmax_chars = 3", "kinds.theme.max_chars", "left out"),
        ("value_type = \"number\"\nvalues = [\"1\"]", "kinds.theme.values", "left out"),
        ("value_type = \"date\"", "kinds.theme.value_type", "must be one of"),
    ] {
        assert_only(old, new, path, message);
    }
    let policy =
        Policy::parse(&SMALL.replacen(old, "value_type = \"enum\"\nvalues = [\"dark\", \"light\"]", 1)).unwrap();
    assert_eq!(kind(&policy, "theme").value.values, ["dark".to_owned(), "light".to_owned()].into());
}

#[test]
fn what_could_never_be_used_is_refused() {
    for (old, new, path, message) in [
        ("purposes = [\"converse\"]", "purposes = [\"act\"]", "kinds.theme.inference", "low risk"),
        ("purposes = [\"converse\"]", "purposes = []", "kinds.theme", "`purposes` must name at least one"),
        ("levels = [\"general\"]", "levels = []", "kinds.theme", "`levels` must name at least one"),
        ("audiences = [\"personal\"]", "audiences = []", "kinds.theme", "`audiences` must name at least one"),
        ("inference = \"low_risk\"", "inference = \"never\"\nevidence_ = 1", "kinds.theme.evidence_", "unknown"),
        (
            "audiences = [\"personal\"]\npurposes = [\"act\"]",
            "audiences = [\"shared\"]\npurposes = [\"act\"]",
            "kinds.note",
            "does not count for shared",
        ),
        (
            "purposes = [\"converse\"]",
            "purposes = [\"converse\", \"subject_access\"]",
            "kinds.theme.purposes[1]",
            "left out",
        ),
        (
            "[purposes.subject_access]",
            "[purposes.subject_access]\nrisk = \"low\"",
            "purposes.subject_access.risk",
            "unknown field",
        ),
        ("min_trust = \"attributed\"", "min_trust = \"untrusted\"", "purposes.act.min_trust", "at least `unverified`"),
    ] {
        assert_only(old, new, path, message);
    }
    let no_evidence = SMALL.replacen("evidence = [\"user_confirmed\"]\nsensitivity", "evidence = []\nsensitivity", 1);
    let found = faults(&no_evidence);
    assert!(found.iter().any(|(_, what)| what.contains("else nothing is ever in force")), "{found:?}");
    assert!(found.iter().any(|(at, what)| at == "kinds.note.purposes" && what.contains("accepts none")), "{found:?}");
    let untrusted =
        faults_with("[sources.user_message]\ntrust = \"attributed\"", "[sources.user_message]\ntrust = \"untrusted\"");
    let paths: Vec<&str> = untrusted.iter().map(|(path, _)| path.as_str()).collect();
    assert_eq!(paths, ["sources.user_message.activates", "confirming_sources.user_confirmed"]);
    let no_kinds = SMALL.split("[kinds.theme]").next().unwrap().to_owned()
        + "[kinds]\n[screening]"
        + SMALL.split("[screening]").nth(1).unwrap();
    assert_eq!(faults(&no_kinds), [("kinds".to_owned(), "must name at least one kind".to_owned())]);
}

#[test]
fn screening_rules_that_cannot_work_are_refused() {
    for (old, new, path, message) in [
        ("pattern = \"xyzzy\"", "pattern = \"[x\"", "screening.secrets[0].pattern", "unclosed"),
        ("pattern = \"xyzzy\"", "pattern = \"\\\\w{1000}{1000}\"", "screening.secrets[0].pattern", "size"),
        ("pattern = \"xyzzy\"", "pattern = \"x*\"", "screening.secrets[0].pattern", "empty text"),
        ("name = \"secret\"", "name = \"[secret]\"", "screening.secrets[0].name", "must be a name"),
        (
            "action = \"redact\"",
            "action = \"drop\"",
            "screening.personal_data[0].action",
            "must be one of `mark`, `redact`",
        ),
        ("checksum = \"luhn\"", "checksum = \"crc\"", "screening.personal_data[0].checksum", "must be one of"),
        ("instructions = []", "instructions = [1]", "screening.instructions[0]", "must be a table"),
        ("instructions = []", "instructions = {}", "screening.instructions", "must be a list"),
        (
            "instructions = []",
            "instructions = [{ name = \"a\", pattern = \"b\" }, { name = \"a\", pattern = \"c\" }]",
            "screening.instructions[1].name",
            "before this one",
        ),
    ] {
        assert_only(old, new, path, message);
    }
}

#[test]
fn a_hostile_document_is_refused_and_nothing_breaks() {
    let deep = format!("x = {}1{}", "[".repeat(100_000), "]".repeat(100_000));
    let padded = |bytes: usize| format!("{SMALL}{}", "#".repeat(bytes - SMALL.len()));
    assert!(Policy::parse(&padded(MAX_DOCUMENT_BYTES)).is_ok());
    assert!(faults(&padded(MAX_DOCUMENT_BYTES + 1))[0].1.contains("at most 1048576 bytes"));
    for document in ["\0", "\u{feff}", "[[kinds]]", "kinds = 1", "=", "a.b.c = 1\na.b = 2", "日本 = 1", &deep] {
        assert!(!Policy::parse(document).unwrap_err().0.is_empty());
    }
    for end in (0..SMALL.len()).step_by(3) {
        let _ = Policy::parse(&SMALL[..end]);
    }
    for (at, _) in DEFAULT_DOCUMENT.match_indices('"').step_by(40) {
        let _ = Policy::parse(&format!("{}{}", &DEFAULT_DOCUMENT[..at], &DEFAULT_DOCUMENT[at + 1..]));
    }
}

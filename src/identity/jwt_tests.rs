use jsonwebtoken::jwk::Jwk;
use jsonwebtoken::{EncodingKey, Header, encode};
use serde_json::{Value, json};

use super::*;
use crate::identity::{SigningKey, TokenFault};
use crate::memory::{IdFault, Level, ProjectId, TaskId};

const SECOND: i64 = 1_800_000_000;
const NOW: Time = Time::from_micros(SECOND * 1_000_000);

fn claims() -> Value {
    json!({
        "iss": "https://issuer.example",
        "aud": "recall-gate",
        "sub": "spiffe://example/backend",
        "exp": SECOND + 600,
        "nbf": SECOND - 600,
        "iat": SECOND - 600,
        "tenant": "acme",
        "subject": "alice",
        "projects": [{"id": "atlas"}, {"id": "borealis", "tasks": ["t1"]}],
        "grants": ["capture", "recall", "purpose:converse"],
        "jti": "ignored",
    })
}

/// The claims with one set to another value, or removed.
fn with(claim: &str, value: Option<Value>) -> Value {
    let mut claims = claims();
    let object = claims.as_object_mut().unwrap();
    match value {
        Some(value) => object.insert(claim.to_owned(), value),
        None => object.remove(claim),
    };
    claims
}

fn header() -> Header {
    let mut header = Header::new(Algorithm::EdDSA);
    header.kid = Some("k1".to_owned());
    header
}

fn sign(key: &SigningKey, claims: &Value) -> String {
    encode(&header(), claims, &key.encoding_key()).unwrap()
}

fn base64(bytes: &[u8]) -> String {
    pem::encode(&pem::Pem::new("X", bytes))
        .lines()
        .filter(|line| !line.starts_with('-'))
        .collect::<String>()
        .trim_end_matches('=')
        .replace('+', "-")
        .replace('/', "_")
}

struct Issuer {
    key: SigningKey,
    verifier: JwtVerifier,
}

fn issuer() -> Issuer {
    let key = SigningKey::generate().unwrap();
    let verifier = JwtVerifier::new("https://issuer.example", "recall-gate", KeySet::of("k1", &key));
    Issuer { key, verifier }
}

impl Issuer {
    fn fault(&self, claims: &Value) -> Option<Fault> {
        self.verifier.verify(&sign(&self.key, claims), NOW).err()
    }
}

#[test]
fn i01_the_caller_is_what_the_token_says() {
    let issuer = issuer();
    let caller = issuer.verifier.verify(&sign(&issuer.key, &claims()), NOW).unwrap();
    assert_eq!(caller.tenant().as_str(), "acme");
    assert_eq!(caller.principal().as_str(), "spiffe://example/backend");
    assert_eq!(caller.subject().unwrap().as_str(), "alice");
    assert_eq!(caller.grants().names(), ["capture", "max_sensitivity:internal", "purpose:converse", "recall"]);
    let (atlas, borealis) = (ProjectId::new("atlas").unwrap(), ProjectId::new("borealis").unwrap());
    let (t1, t2) = (TaskId::new("t1").unwrap(), TaskId::new("t2").unwrap());
    assert!(caller.holds_level(&Level::Task(atlas, t2.clone())));
    assert!(caller.holds_level(&Level::Task(borealis.clone(), t1)));
    assert!(!caller.holds_level(&Level::Task(borealis, t2)));
    assert!(!caller.is_development());
}

#[test]
fn i01_a_token_without_projects_grants_and_subject_holds_nothing() {
    let issuer = issuer();
    let mut bare = claims();
    for claim in ["projects", "grants", "subject", "nbf", "iat"] {
        bare.as_object_mut().unwrap().remove(claim);
    }
    let caller = issuer.verifier.verify(&sign(&issuer.key, &bare), NOW).unwrap();
    assert_eq!(caller.subject(), None);
    assert_eq!(caller.grants(), &crate::identity::Grants::none());
    assert!(!caller.holds_level(&Level::Project(ProjectId::new("atlas").unwrap())));
}

#[test]
fn i01_a_token_without_a_required_claim_is_invalid() {
    let issuer = issuer();
    for claim in ["iss", "aud", "sub", "exp", "tenant"] {
        assert!(issuer.fault(&with(claim, None)).is_some(), "{claim}");
    }
}

#[test]
fn i01_a_claim_of_the_wrong_type_is_an_invalid_token_and_not_an_absent_claim() {
    let issuer = issuer();
    let wrong = [
        ("iss", vec![json!(1), json!(null), json!(["https://issuer.example"])]),
        ("aud", vec![json!(1), json!(null), json!({}), json!([])]),
        ("sub", vec![json!(1), json!(null), json!(["x"])]),
        ("exp", vec![json!("1900000000"), json!(null), json!(-1), json!(1e300), json!([])]),
        ("nbf", vec![json!("0"), json!(null), json!(-1), json!({})]),
        ("iat", vec![json!("0"), json!(null)]),
        ("tenant", vec![json!(1), json!(null), json!(["acme"])]),
        ("subject", vec![json!(1), json!(null), json!(["alice"])]),
        (
            "projects",
            vec![
                json!("atlas"),
                json!(null),
                json!({"id": "atlas"}),
                json!(["atlas"]),
                json!([{"id": 1}]),
                json!([{}]),
                json!([{"id": "atlas", "tasks": null}]),
                json!([{"id": "atlas", "tasks": "t1"}]),
                json!([{"id": "atlas", "task": ["t1"]}]),
            ],
        ),
        ("grants", vec![json!("recall"), json!(null), json!({"recall": true}), json!([1])]),
    ];
    for (claim, values) in wrong {
        for value in values {
            let claims = with(claim, Some(value.clone()));
            assert!(issuer.fault(&claims).is_some(), "{claim}: {value}");
        }
    }
}

#[test]
fn i01_a_claim_given_twice_is_invalid() {
    let issuer = issuer();
    let text = claims().to_string().replacen('{', r#"{"tenant":"other","#, 1);
    let message = format!("{}.{}", base64(br#"{"alg":"EdDSA","kid":"k1"}"#), base64(text.as_bytes()));
    let signature =
        jsonwebtoken::crypto::sign(message.as_bytes(), &issuer.key.encoding_key(), Algorithm::EdDSA).unwrap();
    assert_eq!(issuer.verifier.verify(&format!("{message}.{signature}"), NOW), Err(Fault::Claims));
}

#[test]
fn another_issuer_or_audience_is_invalid() {
    let issuer = issuer();
    assert_eq!(issuer.fault(&with("iss", Some(json!("https://other.example")))), Some(Fault::Issuer));
    assert_eq!(issuer.fault(&with("aud", Some(json!("other")))), Some(Fault::Audience));
    assert_eq!(issuer.fault(&with("aud", Some(json!(["other", "recall-gate"])))), None);
}

#[test]
fn ids_in_a_token_keep_the_rules_of_ids() {
    let issuer = issuer();
    let cases = [
        ("sub", json!("a\nb"), "sub", IdFault::Control),
        ("tenant", json!(""), "tenant", IdFault::Empty),
        ("subject", json!("e\u{301}"), "subject", IdFault::NotNormal),
        ("projects", json!([{"id": " "}]), "projects.id", IdFault::Blank),
        ("projects", json!([{"id": "p", "tasks": ["x".repeat(129)]}]), "projects.tasks", IdFault::TooLong),
    ];
    for (claim, value, named, fault) in cases {
        let expected = Fault::Token(TokenFault::Id { claim: named, fault });
        assert_eq!(issuer.fault(&with(claim, Some(value))), Some(expected), "{claim}");
    }
}

#[test]
fn i08_an_unknown_grant_or_a_repeated_project_makes_the_token_invalid() {
    let issuer = issuer();
    let fault = issuer.fault(&with("grants", Some(json!(["recall", "admin"]))));
    assert_eq!(fault, Some(Fault::Token(TokenFault::Grant(1))));
    let fault = issuer.fault(&with("projects", Some(json!([{"id": "p", "tasks": ["t"]}, {"id": "p"}]))));
    assert_eq!(fault, Some(Fault::Token(TokenFault::ProjectRepeated(1))));
}

#[test]
fn i01_only_eddsa_with_a_configured_key_is_taken() {
    let issuer = issuer();
    let verify = |token: &str| issuer.verifier.verify(token, NOW);
    let payload = base64(claims().to_string().as_bytes());

    let none = format!("{}.{payload}.", base64(br#"{"alg":"none","kid":"k1"}"#));
    assert_eq!(verify(&none), Err(Fault::NotToken));

    let public = issuer.key.public_pem().unwrap();
    let raw = KeySet::of("k", &issuer.key).get("k").unwrap().try_get_as_bytes().unwrap().to_vec();
    for secret in [public.as_bytes(), &raw] {
        let mut hs256 = Header::new(Algorithm::HS256);
        hs256.kid = Some("k1".to_owned());
        let token = encode(&hs256, &claims(), &EncodingKey::from_secret(secret).unwrap()).unwrap();
        assert_eq!(verify(&token), Err(Fault::Algorithm));
    }

    let stranger = SigningKey::generate().unwrap();
    assert_eq!(verify(&sign(&stranger, &claims())), Err(Fault::Signature));

    let good = sign(&issuer.key, &claims());
    let (signed, signature) = good.rsplit_once('.').unwrap();
    assert_eq!(verify(&format!("{signed}.")), Err(Fault::Signature));
    let (head, _) = signed.split_once('.').unwrap();
    let forged = base64(with("tenant", Some(json!("other"))).to_string().as_bytes());
    assert_eq!(verify(&format!("{head}.{forged}.{signature}")), Err(Fault::Signature));

    let mut other = header();
    other.kid = Some("k2".to_owned());
    assert_eq!(verify(&encode(&other, &claims(), &issuer.key.encoding_key()).unwrap()), Err(Fault::KeyUnknown));
    other.kid = None;
    assert_eq!(verify(&encode(&other, &claims(), &issuer.key.encoding_key()).unwrap()), Err(Fault::KeyUnnamed));

    for junk in ["", ".", "..", "...", "a.b.c", "é.b.c"] {
        assert_eq!(verify(junk), Err(Fault::NotToken), "{junk}");
    }
}

#[test]
fn i01_a_key_in_the_header_is_ignored() {
    let issuer = issuer();
    let stranger = SigningKey::generate().unwrap();
    let mut header = header();
    header.jwk = Some(Jwk::from_encoding_key(&stranger.encoding_key(), Algorithm::EdDSA).unwrap());
    header.jku = Some("https://stranger.example/keys".to_owned());
    header.x5u = Some("https://stranger.example/chain".to_owned());
    let token = encode(&header, &claims(), &stranger.encoding_key()).unwrap();
    assert_eq!(issuer.verifier.verify(&token, NOW), Err(Fault::Signature));
}

#[test]
fn i16_a_token_is_valid_from_nbf_until_just_before_exp_with_leeway_either_way() {
    let key = SigningKey::generate().unwrap();
    let token = sign(&key, &claims());
    let leeway = 30_000_000;
    let (nbf, exp) = ((SECOND - 600) * 1_000_000, (SECOND + 600) * 1_000_000);
    let cases = [
        (nbf - leeway - 1, Err(Fault::NotYetValid)),
        (nbf - leeway, Ok(())),
        (exp + leeway - 1, Ok(())),
        (exp + leeway, Err(Fault::Expired)),
        (i64::MAX, Err(Fault::Expired)),
        (i64::MIN, Err(Fault::NotYetValid)),
    ];
    for (now, expected) in &cases {
        let fresh = JwtVerifier::new("https://issuer.example", "recall-gate", KeySet::of("k1", &key));
        assert_eq!(fresh.verify(&token, Time::from_micros(*now)).map(|_| ()), *expected, "fresh at {now}");
        let cached = JwtVerifier::new("https://issuer.example", "recall-gate", KeySet::of("k1", &key));
        cached.verify(&token, NOW).unwrap();
        assert_eq!(cached.verify(&token, Time::from_micros(*now)).map(|_| ()), *expected, "cached at {now}");
    }
}

#[test]
fn a_verified_token_is_cached_until_it_expires_and_a_refused_one_is_not() {
    let issuer = issuer();
    let token = sign(&issuer.key, &claims());
    assert!(issuer.verifier.cache.get(&hash(&token)).is_none());
    issuer.verifier.verify(&token, NOW).unwrap();
    assert!(issuer.verifier.cache.get(&hash(&token)).is_some());
    assert_eq!(issuer.verifier.verify(&token, NOW.plus(Span::from_seconds(630))), Err(Fault::Expired));
    assert!(issuer.verifier.cache.get(&hash(&token)).is_none());

    let bad = sign(&SigningKey::generate().unwrap(), &claims());
    issuer.verifier.verify(&bad, NOW).unwrap_err();
    assert!(issuer.verifier.cache.get(&hash(&bad)).is_none());
}

#[test]
fn a_fault_says_nothing_of_the_token() {
    let issuer = issuer();
    for claims in [
        with("tenant", Some(json!(["SECRET"]))),
        with("grants", Some(json!(["SECRET"]))),
        with("sub", Some(json!("SECRET\n"))),
        with("iss", Some(json!("SECRET"))),
        with("exp", Some(json!("SECRET"))),
    ] {
        let fault = issuer.fault(&claims).unwrap();
        assert!(!format!("{fault} {fault:?}").contains("SECRET"), "{fault:?}");
    }
}

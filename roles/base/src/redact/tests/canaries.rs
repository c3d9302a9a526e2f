//! Secrets of six kinds for tests, here and in the tools of `roles`.

/// The six kinds of canaries, and some of their relatives. Put together here, so that no scanner
/// takes this file for a leak.
pub(crate) fn canaries() -> Vec<(&'static str, String)> {
    let token = format!(
        "{}.{}.{}",
        "eyJhbGciOiJIUzI1NiJ9", "eyJzdWIiOiIxIn0", "c2lnbmF0dXJl"
    );
    let pem = format!(
        "-----BEGIN {0}-----\nMIIEvQIBADANBgkq\nhkiG9w0BAQEFAASC\n-----END {0}-----",
        "PRIVATE KEY"
    );
    vec![
        (
            "anthropic",
            format!("sk-ant-{}", "api03-CANARYCANARYCANARY"),
        ),
        ("amazon", format!("AKIA{}", "CANARYCANARY1234")),
        (
            "github",
            format!("ghp_{}", "CANARYcanaryCANARYcanary0123456789ab"),
        ),
        ("web token", token),
        ("pem", pem),
        (
            "database",
            format!("postgres://{}@db.example/x", "user:CANARY-pass"),
        ),
    ]
}

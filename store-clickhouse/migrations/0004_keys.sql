-- API keys, as hashes. A row is all that somebody knew of a key: of several the earliest issue and revocation count,
-- and the latest use.
CREATE TABLE IF NOT EXISTS api_keys (
    digest String,
    label String,
    issued_ms Int64,
    expires_ms Int64,
    revoked_ms Int64,
    last_used_ms Int64
) ENGINE = ReplacingMergeTree(last_used_ms)
ORDER BY (digest, issued_ms, expires_ms, revoked_ms)

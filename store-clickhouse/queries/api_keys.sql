SELECT digest, label, issued_ms, expires_ms, revoked_ms, last_used_ms FROM api_keys
ORDER BY digest, issued_ms, expires_ms, revoked_ms, label

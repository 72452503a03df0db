-- The alerts. The newest row of an id counts; one that is deleted has no message.
CREATE TABLE IF NOT EXISTS alerts (
    id String,
    change UInt64,
    deleted UInt8,
    message String
) ENGINE = ReplacingMergeTree(change)
ORDER BY id

-- What a server notes about the record, such as the origin of its data. The newest row of a name counts.
CREATE TABLE IF NOT EXISTS marks (
    name String,
    change UInt64,
    value String
) ENGINE = ReplacingMergeTree(change)
ORDER BY name

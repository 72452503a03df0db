-- What each batch changed, so that it can be told again: the batch before it, the days of its readings (since
-- 1970), how many readings, and which of them got only another verdict: ranges, first and end one after the
-- other, of positions among the readings of the batch by station, series and time.
CREATE TABLE IF NOT EXISTS changes (
    batch UInt64,
    written_day Int32,
    after UInt64,
    days Array(Int64),
    readings UInt64,
    revised Array(UInt64)
) ENGINE = ReplacingMergeTree()
PARTITION BY written_day
ORDER BY batch

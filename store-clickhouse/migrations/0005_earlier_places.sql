-- Where stations were before they moved, the oldest first: a row for each state of a station that has moved, with
-- the batch of that state.
CREATE TABLE IF NOT EXISTS earlier_places (
    station UUID,
    batch UInt64,
    written_day Int32,
    until_ms Array(Int64),
    longitude Array(Float64),
    latitude Array(Float64)
) ENGINE = ReplacingMergeTree()
PARTITION BY written_day
ORDER BY (station, batch)

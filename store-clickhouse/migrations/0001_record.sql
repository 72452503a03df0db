-- Who has opened the record to write: the last one may. The mark tells apart those that take the same
-- number.
CREATE TABLE IF NOT EXISTS writers (
    number UInt64,
    mark UInt64
) ENGINE = ReplacingMergeTree()
ORDER BY (number, mark);

-- The batches: begun (1) before the first row of one is written, committed (2) after the last, or
-- abandoned (3): found begun by the next writer, so that it does not count whatever comes. Rows of
-- a batch that is not committed are seen by nobody. The upper half of a batch number is the number
-- of its writer, the lower half counts its batches. Those of earlier writers are dropped, but for what
-- was abandoned, which is in a partition of its own.
CREATE TABLE IF NOT EXISTS batches (
    batch UInt64,
    state UInt8,
    generation UInt64,
    places_generation UInt64
) ENGINE = ReplacingMergeTree(state)
PARTITION BY if(state = 3, toUInt64(9223372036854775807), intDiv(batch, 65536))
ORDER BY batch;

-- The series: what the numbers in the readings mean.
CREATE TABLE IF NOT EXISTS series (
    series Int32,
    batch UInt64,
    variable String,
    interval_type String,
    interval_minutes Int32,
    calculated UInt8,
    reported_unit String,
    bucket String
) ENGINE = ReplacingMergeTree()
ORDER BY (series, batch);

-- The stations and what is known of them, each time a batch changed it; the last one counts.
CREATE TABLE IF NOT EXISTS stations (
    station UUID,
    batch UInt64,
    written_day Int32,
    network String,
    native_id String,
    name String,
    station_type String,
    longitude Float64,
    latitude Float64,
    sensor_height_m Float64,
    altitude_m Nullable(Float64),
    id_schemes Array(String),
    ids Array(String),
    update_time_ms Nullable(Int64),
    weather_known UInt8,
    weather_ts_ms Int64,
    weather_revision UInt8,
    weather Array(String),
    series Array(Int32),
    first_ms Array(Int64),
    newest_ms Array(Int64),
    readings Array(UInt64)
) ENGINE = ReplacingMergeTree()
PARTITION BY written_day
ORDER BY (station, batch);

-- The readings. A correction and a new verdict are the next version of a reading. The version is
-- part of the key, so that none goes away before the batch of the next is committed; of rows with
-- one key the one of the later batch stays, which is a repetition of a batch that failed.
CREATE TABLE IF NOT EXISTS readings (
    station UUID,
    series Int32,
    ts_ms Int64,
    version UInt16,
    batch UInt64,
    value Float64,
    quality UInt8,
    source UInt8,
    revision UInt8,
    qualifier UInt8
) ENGINE = ReplacingMergeTree(batch)
PARTITION BY intDiv(ts_ms, 86400000)
ORDER BY (station, series, ts_ms, version);

-- The present weather of the reports, by the same rules.
CREATE TABLE IF NOT EXISTS weather (
    station UUID,
    ts_ms Int64,
    version UInt16,
    batch UInt64,
    revision UInt8,
    words Array(String)
) ENGINE = ReplacingMergeTree(batch)
PARTITION BY intDiv(ts_ms, 86400000)
ORDER BY (station, ts_ms, version);

-- Readings before the latest of these instants do not count any more.
CREATE TABLE IF NOT EXISTS retention (
    retain_from_ms Int64
) ENGINE = ReplacingMergeTree()
ORDER BY retain_from_ms

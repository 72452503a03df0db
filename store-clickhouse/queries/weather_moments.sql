SELECT station, ts_ms, version, batch, revision, words
FROM weather
WHERE station IN ? AND ts_ms IN ? AND ts_ms >= ? AND ts_ms <= ? AND batch <= ? AND batch NOT IN ?

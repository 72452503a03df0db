SELECT station, series, ts_ms, version, batch, value, quality, source, revision, qualifier
FROM readings
WHERE ts_ms >= ? AND ts_ms <= ? AND batch IN ?

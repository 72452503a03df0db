SELECT
    station,
    series,
    max(ts_ms * 65536 + version) AS newest,
    argMax(value, ts_ms * 65536 + version),
    argMax(quality, ts_ms * 65536 + version),
    argMax(source, ts_ms * 65536 + version),
    argMax(revision, ts_ms * 65536 + version),
    argMax(qualifier, ts_ms * 65536 + version)
FROM readings
WHERE station IN ? AND series IN ? AND ts_ms >= ? AND ts_ms <= ? AND batch <= ? AND batch NOT IN ?
GROUP BY station, series

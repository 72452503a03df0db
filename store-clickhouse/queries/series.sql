SELECT series, batch, variable, interval_type, interval_minutes, calculated, reported_unit, bucket
FROM series
WHERE batch > ? AND batch <= ? AND batch NOT IN ?
ORDER BY batch, series

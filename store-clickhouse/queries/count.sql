SELECT count()
FROM readings
WHERE ts_ms >= ? AND ts_ms <= ? AND batch <= ? AND batch NOT IN ?

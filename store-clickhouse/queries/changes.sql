SELECT batch, written_day, after, days, readings, revised
FROM changes
WHERE batch > ? AND batch <= ? AND batch NOT IN ?
ORDER BY batch
LIMIT 1000

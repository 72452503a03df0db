SELECT station, batch, written_day, until_ms, longitude, latitude
FROM earlier_places
WHERE batch > ? AND batch <= ? AND batch NOT IN ?
ORDER BY station, batch DESC
LIMIT 1 BY station

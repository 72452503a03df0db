SELECT
    station, batch, written_day, network, native_id, name, station_type, longitude, latitude,
    sensor_height_m, altitude_m, id_schemes, ids, update_time_ms, weather_known, weather_ts_ms,
    weather_revision, weather, series, first_ms, newest_ms, readings
FROM stations
WHERE batch > ? AND batch <= ? AND batch NOT IN ?
ORDER BY station, batch DESC
LIMIT 1 BY station

SELECT batch, max(state) AS last_state, argMax(generation, state), argMax(places_generation, state)
FROM batches
WHERE batch >= ?
GROUP BY batch
ORDER BY batch

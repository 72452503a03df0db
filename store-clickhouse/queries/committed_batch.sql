SELECT batch, max(state) AS last_state, argMax(generation, state), argMax(places_generation, state)
FROM batches
GROUP BY batch
HAVING last_state = 2
ORDER BY batch DESC
LIMIT 1

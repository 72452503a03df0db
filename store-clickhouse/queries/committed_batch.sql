SELECT batch, state, generation, places_generation FROM batches
WHERE state = 2
ORDER BY batch DESC
LIMIT 1

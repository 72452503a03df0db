SELECT batch, state, generation, places_generation FROM batches ORDER BY batch DESC, state DESC LIMIT 1

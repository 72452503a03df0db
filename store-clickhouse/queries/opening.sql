SELECT batch, state, generation, places_generation FROM batches WHERE batch = ?

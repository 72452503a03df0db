SELECT batch FROM batches GROUP BY batch HAVING max(state) != 2 ORDER BY batch

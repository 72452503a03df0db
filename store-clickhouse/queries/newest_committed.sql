SELECT max(batch) FROM batches WHERE state = 2

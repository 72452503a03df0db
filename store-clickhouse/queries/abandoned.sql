SELECT batch FROM abandoned GROUP BY batch ORDER BY batch

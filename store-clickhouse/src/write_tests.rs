use std::collections::BTreeSet;

use super::*;

#[test]
fn a_block_has_few_days_and_rows_and_none_is_lost() {
    // Three years, before and after 1970. Some days have more rows than a block takes.
    let mut rows: Vec<(i64, usize)> = Vec::new();
    for day in -400..700_i64 {
        let many = if day == 3 { 2 * ROWS_AT_ONCE + 5 } else { 2 };
        rows.extend((0..many).map(|i| (day * DAY_MS + 5, i)));
    }
    let blocks = blocks(rows.clone(), |row| row.0);
    let mut seen = Vec::new();
    for block in blocks {
        let days: BTreeSet<i64> = block.iter().map(|row| row.0 / DAY_MS).collect();
        assert!(days.len() <= DAYS_AT_ONCE && block.len() <= ROWS_AT_ONCE);
        assert!(!block.is_empty());
        seen.extend(block);
    }
    seen.sort_unstable();
    assert_eq!(seen, rows);
}

#[test]
fn nothing_makes_no_block() {
    assert!(blocks(Vec::<i64>::new(), |&ts_ms| ts_ms).is_empty());
}

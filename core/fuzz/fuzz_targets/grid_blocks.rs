#![no_main]
//! Arbitrary bytes as a chunk of a model grid: values or an error, and the same values whichever way
//! they are read. What can be decoded is encoded again.

use libfuzzer_sys::fuzz_target;
use mesonet::grid::blocks::{self, Chunk, ChunkShape};

fuzz_target!(|input: &[u8]| {
    let Some((&[kind, nodata], bytes)) = input.split_first_chunk() else { return };
    let side = 16 * (1 + usize::from(kind >> 6));
    let shape = ChunkShape { planes: 1 + usize::from(kind & 3), rows: 16, columns: side };
    let mut values = vec![0; shape.values()];
    if blocks::decode(bytes, shape, &mut values).is_err() {
        return;
    }
    let chunk = Chunk::new(bytes, shape).expect("it was decoded");
    let mut column = vec![0; shape.planes];
    for cell in 0..shape.rows * shape.columns {
        chunk.column(cell / side, cell % side, 0, &mut column).expect("it was decoded");
        let whole = values.iter().skip(cell).step_by(shape.rows * shape.columns);
        assert!(column.iter().eq(whole));
    }
    let nodata = i16::from(nodata) - 128;
    let again = blocks::encode(&values, shape, nodata).expect("the shape is valid");
    let mut decoded = vec![nodata; shape.values()];
    if !again.is_empty() {
        blocks::decode(&again, shape, &mut decoded).expect("it was encoded");
    }
    assert_eq!(decoded, values);
});

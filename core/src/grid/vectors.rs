//! Decoding of tiles with the 16-byte vectors of WebAssembly, which every engine has had since 2023.
//! Only these functions are compiled for them, so that nothing else of a module grows. No instruction
//! here rounds in a way of its own: the results are those of the plain loops, bit for bit.
//!
//! The loops have neither closures nor adapters of iterators: where a module goes for size, these are
//! calls, with the vectors in memory.
#![allow(unsafe_code, reason = "loads and stores of 16 bytes of arrays that have as many")]

use core::arch::wasm32::{
    f32x4_demote_f64x2_zero, f64x2_add, f64x2_convert_low_i32x4, f64x2_eq, f64x2_mul, f64x2_splat,
    i32x4_extend_high_i16x8, i32x4_extend_low_i16x8, i32x4_shuffle, v128, v128_bitselect,
    v128_load, v128_store,
};

use super::Encoding;

/// What a vector of values is made with.
struct Parts {
    scale: v128,
    offset: v128,
    nodata: v128,
    nan: v128,
}

/// The values of the first two of four integers.
#[inline]
#[target_feature(enable = "simd128")]
fn decoded(parts: &Parts, integers: v128) -> v128 {
    let raw = f64x2_convert_low_i32x4(integers);
    let value = f64x2_add(f64x2_mul(raw, parts.scale), parts.offset);
    v128_bitselect(parts.nan, value, f64x2_eq(raw, parts.nodata))
}

/// The last two of four integers, as the first two.
#[inline]
#[target_feature(enable = "simd128")]
fn upper(integers: v128) -> v128 {
    i32x4_shuffle::<2, 3, 2, 3>(integers, integers)
}

#[inline]
#[target_feature(enable = "simd128")]
fn parts_of(encoding: Encoding) -> Parts {
    Parts {
        scale: f64x2_splat(encoding.scale()),
        offset: f64x2_splat(encoding.offset()),
        nodata: f64x2_splat(encoding.nodata().into()),
        nan: f64x2_splat(f64::NAN),
    }
}

/// Decodes as many integers of a tile as make whole vectors; returns how many.
#[target_feature(enable = "simd128")]
pub(super) fn decode(encoding: Encoding, pairs: &[[u8; 2]], values: &mut [f64]) -> usize {
    let parts = parts_of(encoding);
    let (blocks, rooms) = (pairs.as_chunks::<8>().0, values.as_chunks_mut::<8>().0);
    for (block, room) in blocks.iter().zip(rooms) {
        // SAFETY: the block has 16 bytes and the room has 64; neither needs an alignment.
        unsafe {
            let raw = v128_load(block.as_ptr().cast());
            let (low, high) = (i32x4_extend_low_i16x8(raw), i32x4_extend_high_i16x8(raw));
            let room: *mut v128 = room.as_mut_ptr().cast();
            v128_store(room, decoded(&parts, low));
            v128_store(room.add(1), decoded(&parts, upper(low)));
            v128_store(room.add(2), decoded(&parts, high));
            v128_store(room.add(3), decoded(&parts, upper(high)));
        }
    }
    8 * blocks.len()
}

/// The same, each value rounded once more.
#[target_feature(enable = "simd128")]
pub(super) fn decode_f32(encoding: Encoding, pairs: &[[u8; 2]], values: &mut [f32]) -> usize {
    let parts = parts_of(encoding);
    let (blocks, rooms) = (pairs.as_chunks::<8>().0, values.as_chunks_mut::<8>().0);
    for (block, room) in blocks.iter().zip(rooms) {
        // SAFETY: the block has 16 bytes and the room has 32; neither needs an alignment.
        unsafe {
            let raw = v128_load(block.as_ptr().cast());
            let (low, high) = (i32x4_extend_low_i16x8(raw), i32x4_extend_high_i16x8(raw));
            let room: *mut v128 = room.as_mut_ptr().cast();
            v128_store(room, rounded(decoded(&parts, low), decoded(&parts, upper(low))));
            v128_store(room.add(1), rounded(decoded(&parts, high), decoded(&parts, upper(high))));
        }
    }
    8 * blocks.len()
}

/// Two and two values in single precision.
#[inline]
#[target_feature(enable = "simd128")]
fn rounded(first: v128, second: v128) -> v128 {
    i32x4_shuffle::<0, 1, 4, 5>(f32x4_demote_f64x2_zero(first), f32x4_demote_f64x2_zero(second))
}

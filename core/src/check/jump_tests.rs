//! Real jumps, and what explains them.

//! A package needs a library or a program; all there is is in `benches`.

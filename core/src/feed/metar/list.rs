//! A short list inside a `Copy` value.

use std::fmt;
use std::ops::Deref;

/// Up to `N` items, in place: a decoded report needs no heap.
///
/// ```
/// use mesonet::feed::metar::{Metar, ShortList, SkyLayer};
/// let report = Metar::parse("KBUF 312354Z 21014KT 10SM FEW025 BKN050 OVC110")?;
/// let layers: ShortList<SkyLayer, 8> = report.sky;
/// let bases_ft: Vec<_> = layers.iter().filter_map(|layer| layer.base_ft).collect();
/// assert_eq!(bases_ft, [2500, 5000, 11_000]); // a list is used like a slice
/// # Ok::<(), mesonet::feed::metar::MetarError>(())
/// ```
#[derive(Clone, Copy)]
pub struct ShortList<T, const N: usize> {
    items: [T; N],
    length: u8,
}

impl<T: Copy, const N: usize> ShortList<T, N> {
    /// An empty list; the array is filled with `blank`, which is never exposed.
    pub(super) const fn new(blank: T) -> Self {
        Self { items: [blank; N], length: 0 }
    }

    /// Adds an item; `false` if the list is full.
    pub(super) fn push(&mut self, item: T) -> bool {
        let free = self.items.get_mut(usize::from(self.length));
        let is_free = free.is_some();
        if let Some(free) = free {
            *free = item;
            self.length += 1;
        }
        is_free
    }
}

impl<T, const N: usize> Deref for ShortList<T, N> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        &self.items[..usize::from(self.length)]
    }
}

impl<'a, T, const N: usize> IntoIterator for &'a ShortList<T, N> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;
    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<T: PartialEq, const N: usize> PartialEq for ShortList<T, N> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: fmt::Debug, const N: usize> fmt::Debug for ShortList<T, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self).finish()
    }
}

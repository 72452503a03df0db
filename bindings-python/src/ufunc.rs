//! NumPy ufuncs over functions of the core: with the import of Arrow streams (`table.rs`), all the
//! unsafe code of this package.
//!
//! A ufunc gets scalars, broadcasting, strides, `out=`, `where=`, pandas and pickling from NumPy.
//! NumPy calls its inner loop with raw pointers; [`inner_loop!`] wraps them in [`Operand`] and
//! [`Output`], so that the loops themselves are safe functions. The wrapping relies on the
//! following, which NumPy's C interface promises for a loop registered with these types:
//!
//! 1. there are as many pointers and steps as operands, each valid for `dimensions[0]` elements;
//! 2. every element has the registered type in native byte order, initialised for inputs;
//! 3. an output overlaps an input only element by element, so reading all inputs of an element
//!    before writing its outputs is correct (slices are handed out only if nothing overlaps).

#![allow(unsafe_code)]

use std::ffi::{CStr, c_char, c_int, c_void};
use std::fmt::Display;
use std::marker::PhantomData;
use std::slice;

use numpy::npyffi::{NPY_TYPES, PY_UFUNC_API, PyUFuncGenericFunction, npy_intp};
use pyo3::prelude::*;

use crate::error::refused;

/// An element type of NumPy arrays for which every bit pattern is a value.
pub trait ArrayElement: Copy {
    /// NumPy's number for the type.
    const TYPE: c_char;
}

impl ArrayElement for u8 {
    const TYPE: c_char = NPY_TYPES::NPY_UBYTE as c_char;
}
impl ArrayElement for i16 {
    const TYPE: c_char = NPY_TYPES::NPY_SHORT as c_char;
}
impl ArrayElement for i64 {
    const TYPE: c_char = NPY_TYPES::NPY_LONGLONG as c_char;
}
impl ArrayElement for f32 {
    const TYPE: c_char = NPY_TYPES::NPY_FLOAT as c_char;
}
impl ArrayElement for f64 {
    const TYPE: c_char = NPY_TYPES::NPY_DOUBLE as c_char;
}

/// One input operand: an iterator over elements `step` bytes apart.
#[derive(Clone)]
pub struct Operand<'a, T> {
    at: *const c_char,
    step: isize,
    left: usize,
    operand: PhantomData<&'a T>,
}

impl<T: ArrayElement> Operand<'_, T> {
    /// The value, if all elements are the same one: a scalar that was broadcast.
    pub fn constant(&self) -> Option<T> {
        if self.step == 0 { self.clone().next() } else { None }
    }
}

impl<T: ArrayElement> Iterator for Operand<'_, T> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        self.left = self.left.checked_sub(1)?;
        // SAFETY: promises 1 and 2; `left` counted this element.
        let value = unsafe { self.at.cast::<T>().read_unaligned() };
        self.at = self.at.wrapping_offset(self.step);
        Some(value)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

/// One output operand: takes its elements in order.
pub struct Output<'a, T> {
    at: *mut c_char,
    step: isize,
    left: usize,
    operand: PhantomData<&'a mut T>,
}

impl<T: ArrayElement> Output<'_, T> {
    /// Writes the next element. There is room for as many as each input has; further ones are
    /// dropped.
    #[inline]
    pub fn push(&mut self, value: T) {
        if let Some(left) = self.left.checked_sub(1) {
            self.left = left;
            // SAFETY: promises 1 and 2; `left` counted this element.
            unsafe { self.at.cast::<T>().write_unaligned(value) };
            self.at = self.at.wrapping_offset(self.step);
        }
    }

    /// Writes the next elements. Further ones than there is room for are dropped.
    fn extend(&mut self, values: &[T]) {
        let values = &values[..values.len().min(self.left)];
        let at = self.at.cast::<T>();
        if self.step == size_of::<T>() as isize && at.is_aligned() {
            // SAFETY: promises 1 and 2 for elements side by side; there is room for them. The
            // values are a slice of Rust, so they are not in the array.
            unsafe { at.copy_from_nonoverlapping(values.as_ptr(), values.len()) };
            self.left -= values.len();
            self.at = self.at.wrapping_offset(self.step * values.len() as isize);
        } else {
            for &value in values {
                self.push(value);
            }
        }
    }
}

/// How many elements [`by_chunks`] gives at once: they stay in the first cache.
const CHUNK: usize = 256;

/// Calls a function with slices of the inputs and room for as many results, until all elements are
/// done. Inputs that lie side by side are not copied.
///
/// # Errors
/// The first error of the function.
pub fn by_chunks<I: ArrayElement + Default, O: ArrayElement + Default, E, const N: usize>(
    mut inputs: [Operand<'_, I>; N],
    mut output: Output<'_, O>,
    mut each: impl FnMut([&[I]; N], &mut [O]) -> Result<(), E>,
) -> Result<(), E> {
    let (mut copies, mut results) = ([[I::default(); CHUNK]; N], [O::default(); CHUNK]);
    while output.left > 0 {
        let length = output.left.min(CHUNK);
        let mut slices = [&[][..]; N];
        for ((input, copy), slice) in inputs.iter_mut().zip(&mut copies).zip(&mut slices) {
            let at = input.at.cast::<I>();
            *slice = if input.step == size_of::<I>() as isize && at.is_aligned() {
                let length = length.min(input.left);
                // SAFETY: promises 1 and 2 for elements side by side. Nothing writes to them while
                // the slice is there: results go to memory of their own until `each` has returned.
                let slice = unsafe { slice::from_raw_parts(at, length) };
                input.at = input.at.wrapping_offset(input.step * length as isize);
                input.left -= length;
                slice
            } else {
                for (place, value) in copy[..length].iter_mut().zip(input) {
                    *place = value;
                }
                &copy[..length]
            };
        }
        each(slices, &mut results[..length])?;
        output.extend(&results[..length]);
    }
    Ok(())
}

/// Both operands as slices, if they are contiguous and share no memory.
pub fn slices<'a, I: ArrayElement, O: ArrayElement>(
    input: &'a Operand<'_, I>,
    output: &'a mut Output<'_, O>,
) -> Option<(&'a [I], &'a mut [O])> {
    let (from, to) = (input.at.cast::<I>(), output.at.cast::<O>());
    let contiguous = input.step == size_of::<I>() as isize
        && output.step == size_of::<O>() as isize
        && from.is_aligned()
        && to.is_aligned();
    let (from_end, to_end) = (from.wrapping_add(input.left), to.wrapping_add(output.left));
    let disjoint = from_end.addr() <= to.addr() || to_end.addr() <= from.addr();
    if !contiguous || !disjoint {
        return None;
    }
    // SAFETY: promises 1 and 2 for elements side by side, aligned and disjoint as just checked.
    // The borrows of both wrappers keep anything else of this loop away from the memory.
    unsafe {
        Some((slice::from_raw_parts(from, input.left), slice::from_raw_parts_mut(to, output.left)))
    }
}

/// The operands of one call of an inner loop, handed out in order.
pub struct Operands {
    args: *mut *mut c_char,
    steps: *mut npy_intp,
    count: usize,
}

impl Operands {
    /// # Safety
    /// The arguments must be those of an inner loop, and exactly the registered operands must be
    /// taken, in order.
    pub unsafe fn new(
        args: *mut *mut c_char,
        dimensions: *mut npy_intp,
        steps: *mut npy_intp,
    ) -> Self {
        // SAFETY: an inner loop has one dimension, and counts of elements are not negative.
        Self { args, steps, count: unsafe { *dimensions } as usize }
    }

    /// # Safety
    /// There must be a next operand.
    unsafe fn next(&mut self) -> (*mut c_char, isize) {
        // SAFETY: promised by the caller.
        unsafe {
            let operand = (*self.args, *self.steps);
            self.args = self.args.add(1);
            self.steps = self.steps.add(1);
            operand
        }
    }

    /// # Safety
    /// The next operand must be an input of this type.
    pub unsafe fn input<'a, T: ArrayElement>(&mut self) -> Operand<'a, T> {
        // SAFETY: promised by the caller.
        let (at, step) = unsafe { self.next() };
        Operand { at, step, left: self.count, operand: PhantomData }
    }

    /// # Safety
    /// The next operand must be an output of this type.
    pub unsafe fn output<'a, T: ArrayElement>(&mut self) -> Output<'a, T> {
        // SAFETY: promised by the caller.
        let (at, step) = unsafe { self.next() };
        Output { at, step, left: self.count, operand: PhantomData }
    }
}

/// Sets the Python exception that ends the ufunc. NumPy checks for an exception after every inner
/// loop.
pub fn raise(error: impl Display) {
    // The loop runs without the GIL, or with it if NumPy kept it: both are fine here.
    Python::attach(|py| refused(error).restore(py));
}

unsafe extern "C" {
    /// From C's mathematical library (C99, 7.6.2.1), which NumPy also links.
    safe fn feclearexcept(exceptions: c_int) -> c_int;
}

/// Clears the floating-point flags of this thread. NumPy would warn about them after the loop. For
/// formulas that give NaN on purpose, or that meet infinities on the way to a correct result.
pub fn forget_float_errors() {
    // All flags; their bits differ between processors.
    feclearexcept(-1);
}

/// One inner loop and its types, as made by [`inner_loop!`].
pub struct InnerLoop {
    pub run: PyUFuncGenericFunction,
    pub types: Vec<c_char>,
    pub inputs: usize,
}

/// Adds a ufunc to the module. For each call NumPy takes the first loop to whose types the inputs
/// can be cast safely. Reductions go in any order and have no start value.
pub fn register<const LOOPS: usize>(
    module: &Bound<'_, PyModule>,
    name: &'static CStr,
    doc: &'static CStr,
    loops: [InnerLoop; LOOPS],
) -> PyResult<()> {
    // NumPy's PyUFunc_ReorderableNone.
    const REORDERABLE_WITHOUT_IDENTITY: c_int = -2;
    let py = module.py();
    let inputs = loops[0].inputs;
    let outputs = loops[0].types.len() - inputs;
    // NumPy keeps these arrays as long as the ufunc, which lives as long as the process.
    let functions = Box::leak(Box::new(loops.each_ref().map(|one| one.run)));
    let data = Box::leak(Box::new([std::ptr::null_mut::<c_void>(); LOOPS]));
    let types = loops.into_iter().flat_map(|one| one.types).collect::<Vec<c_char>>().leak();
    assert_eq!(types.len(), LOOPS * (inputs + outputs), "all loops have the same operands");
    // SAFETY: LOOPS functions, data pointers and rows of types, the last as just asserted.
    let ufunc = unsafe {
        let ufunc = PY_UFUNC_API.PyUFunc_FromFuncAndData(
            py,
            functions.as_mut_ptr(),
            data.as_mut_ptr(),
            types.as_mut_ptr(),
            LOOPS as c_int,
            inputs as c_int,
            outputs as c_int,
            REORDERABLE_WITHOUT_IDENTITY,
            name.as_ptr(),
            doc.as_ptr(),
            0,
        );
        Bound::from_owned_ptr_or_err(py, ufunc)?
    };
    module.add(name.to_string_lossy().as_ref(), ufunc)
}

/// Makes an [`InnerLoop`] of a safe function over [`Operand`]s and [`Output`]s that returns a
/// `Result`; an error becomes a `MesonetError`. The types written here are the ones registered,
/// and the compiler checks them against the function.
macro_rules! inner_loop {
    ($run:path: ($($input:ident: $from:ty),+) -> ($($output:ident: $to:ty),+)) => {{
        use std::ffi::{c_char, c_void};

        use numpy::npyffi::npy_intp;

        use $crate::ufunc::{ArrayElement, InnerLoop, Operands, raise};

        #[allow(unsafe_code)]
        unsafe extern "C" fn run(
            args: *mut *mut c_char,
            dimensions: *mut npy_intp,
            steps: *mut npy_intp,
            _data: *mut c_void,
        ) {
            // SAFETY: called by NumPy with what is registered below, in the same order.
            let mut operands = unsafe { Operands::new(args, dimensions, steps) };
            $(let $input = unsafe { operands.input::<$from>() };)+
            $(let $output = unsafe { operands.output::<$to>() };)+
            if let Err(error) = $run($($input,)+ $($output),+) {
                raise(error);
            }
        }

        InnerLoop {
            run: Some(run),
            types: vec![$(<$from as ArrayElement>::TYPE,)+ $(<$to as ArrayElement>::TYPE),+],
            inputs: [$(stringify!($input)),+].len(),
        }
    }};
}
pub(crate) use inner_loop;

//! What a report says about a value in addition to the number: a trace, at least, less than.

/// What a report says about a value in addition to its number: `P0000`, `10+`, `M1/4SM`.
///
/// The value of the reading is the number in the report; for a trace it is 0.
///
/// ```
/// use mesonet::Variable;
/// use mesonet::feed::{metar_report, read_bulletins};
/// use mesonet::observation::Qualifier;
/// let text = "METAR KBUF 312354Z 21014KT M1/4SM +SN M01/M01 A2983 RMK AO2 P0000=";
/// read_bulletins(text.as_bytes(), 1_577_836_860_000, |item| {
///     let report = metar_report(&item);
///     let of = |variable| {
///         report.readings.iter().find(|reading| reading.series.variable == variable).unwrap()
///     };
///     let visibility = of(Variable::Visibility);
///     assert_eq!((visibility.value, visibility.qualifier), (0.402336, Some(Qualifier::LessThan)));
///     let rain = of(Variable::Precipitation);
///     assert_eq!((rain.value, rain.qualifier), (0.0, Some(Qualifier::Trace)));
/// })?;
/// # Ok::<(), mesonet::feed::FeedError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Qualifier {
    /// There was some, but less than can be measured; the value is 0.
    Trace = 1,
    /// The value or more: the report goes no higher.
    AtLeast = 2,
    /// Less than the value: the report goes no lower.
    LessThan = 3,
}

impl Qualifier {
    /// Every qualifier, by its code.
    pub const ALL: [Self; 3] = [Self::Trace, Self::AtLeast, Self::LessThan];

    /// Returns the qualifier of a code, as columns hold it; 0 is none.
    ///
    /// ```
    /// use mesonet::observation::Qualifier;
    /// for qualifier in Qualifier::ALL {
    ///     assert_eq!(Qualifier::of_code(Qualifier::code(Some(qualifier))), Some(qualifier));
    /// }
    /// assert_eq!(Qualifier::of_code(Qualifier::code(None)), None);
    /// ```
    pub fn of_code(code: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|qualifier| *qualifier as u8 == code)
    }

    /// Returns the code of a qualifier; 0 for none.
    pub fn code(qualifier: Option<Self>) -> u8 {
        qualifier.map_or(0, |qualifier| qualifier as u8)
    }

    /// The name on the wire.
    ///
    /// ```
    /// use mesonet::observation::Qualifier;
    /// let names = Qualifier::ALL.map(Qualifier::name);
    /// assert_eq!(names, ["trace", "at_least", "less_than"]);
    /// ```
    pub const fn name(self) -> &'static str {
        match self {
            Self::Trace => "trace",
            Self::AtLeast => "at_least",
            Self::LessThan => "less_than",
        }
    }
}

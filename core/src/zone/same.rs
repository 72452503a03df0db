//! Places by the codes of Specific Area Message Encoding (SAME).

use super::Code;

/// Numbers of the states and territories (FIPS 5-2), and of the waters off their coasts, which have
/// zones in place of counties (47 CFR 11.31(f)).
const STATES: [(&str, &str); 74] = [
    ("01", "ALC"),
    ("02", "AKC"),
    ("04", "AZC"),
    ("05", "ARC"),
    ("06", "CAC"),
    ("08", "COC"),
    ("09", "CTC"),
    ("10", "DEC"),
    ("11", "DCC"),
    ("12", "FLC"),
    ("13", "GAC"),
    ("15", "HIC"),
    ("16", "IDC"),
    ("17", "ILC"),
    ("18", "INC"),
    ("19", "IAC"),
    ("20", "KSC"),
    ("21", "KYC"),
    ("22", "LAC"),
    ("23", "MEC"),
    ("24", "MDC"),
    ("25", "MAC"),
    ("26", "MIC"),
    ("27", "MNC"),
    ("28", "MSC"),
    ("29", "MOC"),
    ("30", "MTC"),
    ("31", "NEC"),
    ("32", "NVC"),
    ("33", "NHC"),
    ("34", "NJC"),
    ("35", "NMC"),
    ("36", "NYC"),
    ("37", "NCC"),
    ("38", "NDC"),
    ("39", "OHC"),
    ("40", "OKC"),
    ("41", "ORC"),
    ("42", "PAC"),
    ("44", "RIC"),
    ("45", "SCC"),
    ("46", "SDC"),
    ("47", "TNC"),
    ("48", "TXC"),
    ("49", "UTC"),
    ("50", "VTC"),
    ("51", "VAC"),
    ("53", "WAC"),
    ("54", "WVC"),
    ("55", "WIC"),
    ("56", "WYC"),
    ("57", "PZZ"),
    ("58", "PKZ"),
    ("59", "PHZ"),
    ("60", "ASC"),
    ("61", "PSZ"),
    ("64", "FMC"),
    ("65", "PMZ"),
    ("66", "GUC"),
    ("68", "MHC"),
    ("69", "MPC"),
    ("70", "PWC"),
    ("72", "PRC"),
    ("73", "ANZ"),
    ("75", "AMZ"),
    ("77", "GMZ"),
    ("78", "VIC"),
    ("91", "LSZ"),
    ("92", "LMZ"),
    ("93", "LHZ"),
    ("94", "LCZ"),
    ("96", "LEZ"),
    ("97", "LOZ"),
    ("98", "SLZ"),
];

impl Code {
    /// The zone of a code of Specific Area Message Encoding: `PSSCCC` is county `CCC` of state `SS`,
    /// or a zone of the waters `SS`. `None` if it is not six digits or there is no such state.
    ///
    /// `P` is a part of the county, as northwest, or 0 for all of it. The outline of a part is not
    /// known, so it stands for the county. With county 000 the code is the [whole](Self::is_whole)
    /// of the state.
    ///
    /// ```
    /// use mesonet::zone::Code;
    /// let code = |same| Code::of_same(same).map(|code| code.to_string());
    /// assert_eq!(code("053033").as_deref(), Some("WAC033"));
    /// assert_eq!(code("153033").as_deref(), Some("WAC033"));
    /// assert_eq!(code("053000").as_deref(), Some("WAC000"));
    /// assert_eq!(code("057110").as_deref(), Some("PZZ110"));
    /// assert_eq!((code("000000"), code("099001"), code("53033")), (None, None, None));
    /// ```
    pub fn of_same(same: &str) -> Option<Self> {
        let is_number = same.len() == 6 && same.bytes().all(|digit| digit.is_ascii_digit());
        let (state, county) = is_number.then(|| (&same[1..3], &same[3..]))?;
        let (_, start) = STATES.iter().find(|(number, _)| *number == state)?;
        format!("{start}{county}").parse().ok()
    }
}

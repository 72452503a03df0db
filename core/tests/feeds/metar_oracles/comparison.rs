//! Counting agreement, field by field, with a reason for each disagreement.

use std::collections::BTreeMap;
use std::fmt::Write as _;

/// A value to compare: a number, or a text for values with parts.
#[derive(Clone, Debug)]
pub enum Value {
    Number(f64),
    Text(String),
}

/// How often two readers agree on a field, and why they do not.
#[derive(Default)]
pub struct Field {
    compared: u32,
    agree: u32,
    reasons: BTreeMap<&'static str, (u32, String)>,
}

/// The comparison of all fields of all reports.
#[derive(Default)]
pub struct Comparison(BTreeMap<&'static str, Field>);

/// A disagreement, as given to the rule that finds its reason.
pub struct Disagreement<'a> {
    pub field: &'static str,
    pub ours: Option<&'a Value>,
    pub theirs: Option<&'a Value>,
    pub raw: &'a str,
}

impl Disagreement<'_> {
    pub fn only_ours(&self) -> bool {
        self.theirs.is_none()
    }

    pub fn only_theirs(&self) -> bool {
        self.ours.is_none()
    }

    pub fn has(&self, text: &str) -> bool {
        self.raw.contains(text)
    }

    /// Returns whether our value is this number.
    pub fn is(&self, number: f64) -> bool {
        matches!(self.ours, Some(Value::Number(ours)) if *ours == number)
    }

    /// Returns whether there is a wind in the remarks or in the forecast.
    pub fn has_wind_later(&self) -> bool {
        let winds =
            self.raw.split(' ').filter(|group| group.ends_with("KT") || group.ends_with("MPS"));
        winds.count() > 1
    }
}

impl Comparison {
    pub fn compare(
        &mut self,
        field: &'static str,
        raw: &str,
        (ours, theirs): (Option<Value>, Option<Value>),
        tolerance: f64,
        reason: impl Fn(&Disagreement<'_>) -> &'static str,
    ) {
        let agree = match (&ours, &theirs) {
            (None, None) => return,
            (Some(Value::Number(ours)), Some(Value::Number(theirs))) => {
                (ours - theirs).abs() <= tolerance
            }
            (Some(Value::Text(ours)), Some(Value::Text(theirs))) => ours == theirs,
            _ => false,
        };
        let tally = self.0.entry(field).or_default();
        tally.compared += 1;
        if agree {
            tally.agree += 1;
            return;
        }
        let (ours, theirs) = (ours.as_ref(), theirs.as_ref());
        let reason = reason(&Disagreement { field, ours, theirs, raw });
        let (count, examples) = tally.reasons.entry(reason).or_default();
        *count += 1;
        if *count <= 8 {
            writeln!(examples, "      ours {ours:?} theirs {theirs:?} in {raw}").unwrap();
        }
    }

    /// Formats one line for each field and one for each reason, as asserted.
    pub fn table(&self) -> String {
        let mut table = String::new();
        for (name, field) in &self.0 {
            writeln!(table, "{name}: {} of {}", field.agree, field.compared).unwrap();
            for (reason, (count, _)) in &field.reasons {
                writeln!(table, "    {count} {reason}").unwrap();
            }
        }
        table
    }

    pub fn assert(&self, expected: &str) {
        let table = self.table();
        if table.trim() != expected.trim() {
            for (name, field) in &self.0 {
                for (reason, (_, examples)) in &field.reasons {
                    println!("{name}: {reason}\n{examples}");
                }
            }
            panic!("the table of agreement is now\n{table}");
        }
    }
}

pub fn number(value: Option<f64>) -> Option<Value> {
    value.map(Value::Number)
}

pub fn text(value: String) -> Option<Value> {
    (!value.is_empty()).then_some(Value::Text(value))
}

pub fn flag(value: bool) -> Option<Value> {
    text(if value { "yes".to_owned() } else { String::new() })
}

pub fn tenths(value: Option<i16>) -> Option<Value> {
    number(value.map(|tenths| f64::from(tenths) / 10.0))
}

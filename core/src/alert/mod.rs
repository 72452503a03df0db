//! Official alerts: the content of a message, independent of its format, and the shape that callers
//! get.
//!
//! A [`Message`] is one message of a chain, in all of its languages. An [`Alert`] is the
//! service's answer for it: one language, with the state that follows from the whole chain.

mod chain;
mod feature;
mod query;
mod view;
mod vtec;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

pub use self::chain::{AlertState, Clock, next_change_ms, resolve};
pub use self::feature::Feature;
pub use self::query::{Query, geometry, missing_zones, outlines};
pub use self::view::{Alert, AlertArea, AlertStorm, Own};
pub use self::vtec::{Hvtec, Vtec, VtecAction, VtecError, VtecEvent};
use crate::geo::{LonLat, MultiPolygon};
use crate::time::DAY_MS;
use crate::zone;

/// How long a message without a stated end is in force. The time counts from the latest of the
/// times when it was sent, takes effect and begins. CAP leaves this to the recipient (CAP 1.2
/// §3.2.2, `expires`).
pub const UNSTATED_MS: i64 = DAY_MS;

macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$word_doc:meta])* $word:ident,)* }) => {
        #[derive(
            Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize,
            Deserialize,
        )]
        #[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
        $(#[$doc])*
        pub enum $name {
            $($(#[$word_doc])* $word,)*
            /// The source does not say.
            #[default]
            Unknown,
        }

        impl $name {
            /// The word on the wire.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$word => stringify!($word),)* Self::Unknown => "Unknown" }
            }
        }
    };
}

words! {
    /// The role of a message in its chain.
    MessageType {
        /// The first of a chain.
        Alert,
        /// Replaces the messages that it refers to.
        Update,
        /// Withdraws the messages that it refers to.
        Cancel,
    }
}
words! {
    /// How sure the issuer is (ECCC).
    #[cfg_attr(feature = "openapi", schema(as = AlertConfidence))]
    Confidence {
        /// Low.
        Low,
        /// Moderate.
        Moderate,
        /// High.
        High,
        /// Very high.
        VeryHigh,
    }
}
words! {
    /// How severe the impact is: on ECCC's own scale, or on that of CAP's severity if the
    /// issuer has no scale of its own.
    #[cfg_attr(feature = "openapi", schema(as = AlertImpact))]
    Impact {
        /// Low.
        Low,
        /// Moderate.
        Moderate,
        /// High.
        High,
        /// Extreme.
        Extreme,
    }
}
words! {
    /// Colour of the alert, from impact and confidence (ECCC). Other issuers do not give one.
    #[cfg_attr(feature = "openapi", schema(as = AlertColour))]
    Colour {
        /// Yellow.
        Yellow,
        /// Orange.
        Orange,
        /// Red.
        Red,
    }
}
words! {
    /// How severe the event is (CAP). Unknown is a value of CAP too: the issuer says that it does
    /// not know.
    #[cfg_attr(feature = "openapi", schema(as = AlertSeverity))]
    Severity {
        /// An extraordinary threat to life or property.
        Extreme,
        /// A significant threat.
        Severe,
        /// A possible threat.
        Moderate,
        /// A minimal threat, or no known threat.
        Minor,
    }
}
words! {
    /// How soon people should act (CAP).
    #[cfg_attr(feature = "openapi", schema(as = AlertUrgency))]
    Urgency {
        /// At once.
        Immediate,
        /// Within the next hour.
        Expected,
        /// In the near future.
        Future,
        /// No longer.
        Past,
    }
}
words! {
    /// How certain the event is (CAP).
    #[cfg_attr(feature = "openapi", schema(as = AlertCertainty))]
    Certainty {
        /// It has occurred or is going on.
        Observed,
        /// Its probability is above one half.
        Likely,
        /// Its probability is at most one half.
        Possible,
        /// It is not expected to occur.
        Unlikely,
    }
}
words! {
    /// Kind of alert.
    #[cfg_attr(feature = "openapi", schema(as = AlertType))]
    Type {
        /// Worth knowing about.
        Statement,
        /// Less than a warning.
        Advisory,
        /// Something may happen.
        Watch,
        /// Something is happening or about to happen.
        Warning,
    }
}
words! {
    /// The state of an alert, or of one of its areas.
    ///
    /// The variants are ordered by how an alert takes the state of its areas: if it is active
    /// anywhere, it is active. During a replay, an alert that lies in the future of the clock is
    /// Unknown.
    #[cfg_attr(feature = "openapi", schema(as = AlertStatus))]
    Status {
        /// In force.
        Active,
        /// Replaced by a later message.
        Superseded,
        /// Withdrawn before its end.
        Cancelled,
        /// Declared over, or past its end.
        Ended,
    }
}
words! {
    /// The kind of an area.
    AreaKind {
        /// An area where the alert is in force: its zones, or the outline drawn for them.
        Coverage,
        /// An area where the storm itself is a threat (ECCC).
        ThreatArea,
    }
}
words! {
    /// What a message does to a threat area (ECCC).
    ThreatStatus {
        /// It is new.
        Issued,
        /// It stays.
        Continued,
        /// It has ended.
        Ended,
        /// It is withdrawn.
        Cancelled,
    }
}

/// One message, in all of its languages.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// Identifier, the same wherever the message is published.
    pub id: String,
    /// The sender, as the message gives it.
    pub sender: String,
    /// When it was sent, milliseconds since 1970.
    pub sent_ms: i64,
    /// Its role in its chain.
    pub message_type: MessageType,
    /// Identifiers of the messages that it refers to, in the order of the message.
    pub references: Vec<String>,
    /// What it says. A message may say different things about different areas.
    pub parts: Vec<Part>,
}

/// What a message says about some of its areas.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Part {
    /// The same in each language of the message; never empty.
    pub texts: Vec<Text>,
    /// When it takes effect, milliseconds since 1970.
    pub effective_ms: Option<i64>,
    /// When the event begins, milliseconds since 1970. Like every field with a default here, it is
    /// absent from messages that were kept before this field was read.
    #[serde(default)]
    pub onset_ms: Option<i64>,
    /// When the message expires, milliseconds since 1970.
    pub expires_ms: Option<i64>,
    /// When the event itself ends, milliseconds since 1970.
    pub event_end_ms: Option<i64>,
    /// Kind of alert.
    pub alert_type: Type,
    /// Colour.
    pub colour: Colour,
    /// Impact.
    pub impact: Impact,
    /// Confidence.
    pub confidence: Confidence,
    /// Severity; `None` if the message has none.
    #[serde(default)]
    pub severity: Option<Severity>,
    /// Urgency; `None` if the message has none.
    #[serde(default)]
    pub urgency: Option<Urgency>,
    /// Certainty; `None` if the message has none.
    #[serde(default)]
    pub certainty: Option<Certainty>,
    /// Codes of the event by the name of their list, as the message gives both: `SAME` and `TOR`.
    #[serde(default)]
    pub event_codes: BTreeMap<String, Vec<String>>,
    /// Codes of the places for Specific Area Message Encoding, six digits: a part of a county, the
    /// state, the county.
    #[serde(default)]
    pub same_codes: BTreeSet<String>,
    /// Rank of the risk, 1 the highest (ECCC).
    pub risk_ranking: Option<i32>,
    /// Code of the issuer's list of areas (ECCC).
    pub designation_code: Option<String>,
    /// What the message itself says about the state of the alert in these areas.
    pub outcome: Outcome,
    /// What the message does to events, if it carries VTEC codes.
    pub vtec: Vec<Vtec>,
    /// The storm.
    pub storm: Option<Storm>,
    /// The areas.
    pub areas: Vec<MessageArea>,
}

/// What a message itself says about the state of an alert. The variants are ordered by how the
/// outcomes of several events combine: if any of them is in force, the whole is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Outcome {
    /// It is in force.
    #[default]
    InForce,
    /// It is replaced by another event.
    Replaced,
    /// It is withdrawn.
    Cancelled,
    /// It has ended.
    Ended,
}

/// The text of a part in one language.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Text {
    /// Language tag as in RFC 3066: `en-CA`.
    pub language: String,
    /// Who issues the alert; empty if the message does not say.
    pub issuer: String,
    /// What is expected.
    pub event: Option<String>,
    /// Headline; empty if there is none.
    pub headline: String,
    /// Description; empty if there is none.
    pub description: String,
    /// What to do.
    pub instruction: Option<String>,
    /// Address of a page about the alert, `http` or `https`.
    #[serde(default)]
    pub web: Option<String>,
    /// The region, in words (ECCC).
    pub coverage: Option<String>,
    /// Where the storm is, in words.
    pub storm_position: Option<String>,
    /// How it moves, in words.
    pub storm_motion: Option<String>,
    /// Places near it.
    pub storm_places: Vec<String>,
    /// Description of each area, in the order of the areas.
    pub areas: Vec<String>,
}

/// A storm, as far as a message describes it with numbers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Storm {
    /// When it was observed, milliseconds since 1970.
    pub time_ms: Option<i64>,
    /// How fast it moves.
    pub speed_kmh: Option<f64>,
    /// The direction it moves towards, degrees clockwise from north.
    pub direction_deg: Option<f64>,
    /// Its form, as the message gives it: `ISOLATED_CELL`, `LINE`, `AREA`.
    pub geometry_type: Option<String>,
    /// Where it was: a point, or the points of a line or an area.
    pub points: Vec<LonLat>,
}

/// An area of a message.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MessageArea {
    /// Its kind.
    pub kind: AreaKind,
    /// What the message does to the area, if it is a threat area.
    pub threat_status: ThreatStatus,
    /// Its zone.
    pub code: Option<zone::Code>,
    /// Whether the code is that of a fire weather zone: these share codes with forecast zones but
    /// cover different areas.
    pub is_fire_zone: bool,
    /// The outline that the message itself draws.
    pub geometry: Option<MultiPolygon>,
}

impl Message {
    /// The areas of all parts, each with its part.
    pub fn areas(&self) -> impl Iterator<Item = (&Part, &MessageArea)> {
        self.parts.iter().flat_map(|part| part.areas.iter().map(move |area| (part, area)))
    }

    /// The headline of the first part in a language, or else in the message's first language;
    /// `None` if it has none.
    ///
    /// ```
    /// use mesonet::alert;
    /// let text = alert::Text { headline: "red warning".into(), ..alert::Text::default() };
    /// let part = alert::Part { texts: vec![text], ..alert::Part::default() };
    /// let alert = alert::Message { parts: vec![part], ..alert::Message::default() };
    /// assert_eq!(alert.headline("en"), Some("red warning"));
    /// assert_eq!(alert::Message::default().headline("en"), None);
    /// ```
    pub fn headline(&self, language: &str) -> Option<&str> {
        let text = self.parts.first()?.text(language)?;
        Some(&*text.headline).filter(|headline| !headline.is_empty())
    }

    /// The interval of the alert: from the time it takes effect, or else was sent, to the later of
    /// its expiry and the end of the event. Without either end, the interval is open. Milliseconds
    /// since 1970; both ends are included.
    ///
    /// ```
    /// use mesonet::alert;
    /// let part = alert::Part { expires_ms: Some(20), event_end_ms: Some(30), ..alert::Part::default() };
    /// let alert = alert::Message { sent_ms: 10, parts: vec![part], ..alert::Message::default() };
    /// assert_eq!(alert.interval_ms(), (10, Some(30)));
    /// ```
    pub fn interval_ms(&self) -> (i64, Option<i64>) {
        let starts = self.parts.iter().map(|part| part.effective_ms.unwrap_or(self.sent_ms));
        let ends = self.parts.iter().map(Part::end_ms);
        // An open end is later than any other.
        let end_ms = ends.reduce(|a, b| a.zip(b).map(|(a, b)| a.max(b))).flatten();
        (starts.min().unwrap_or(self.sent_ms), end_ms)
    }

    /// When a part is over, milliseconds since 1970. If VTEC states the end of the event, this is
    /// that end, though the message may expire later; if several events are in force, the last to
    /// end counts. Otherwise it is the [end](Part::end_ms) of the part or, if the message states no
    /// end, [`UNSTATED_MS`] after the latest of the times when it was sent, takes effect and
    /// begins. A Cancel without an end is never over: `i64::MAX`.
    ///
    /// ```
    /// use mesonet::alert::{self, UNSTATED_MS};
    /// let vtec = vec!["/O.CON.KPUB.FF.W.0010.000000T0000Z-700101T0001Z/".parse()?];
    /// let message = alert::Message { sent_ms: 10, ..alert::Message::default() };
    /// let part = alert::Part { onset_ms: Some(20), ..alert::Part::default() };
    /// assert_eq!(message.over_ms(&part), 20 + UNSTATED_MS);
    /// let part = alert::Part { expires_ms: Some(90_000), ..part };
    /// assert_eq!(message.over_ms(&part), 90_000);
    /// assert_eq!(message.over_ms(&alert::Part { vtec, ..part }), 3_155_760_060_000);
    /// # Ok::<(), alert::VtecError>(())
    /// ```
    pub fn over_ms(&self, part: &Part) -> i64 {
        let over = |vtec: &Vtec| self.event_over_ms(part, *vtec);
        let in_force = part.vtec.iter().filter(|vtec| vtec.outcome() == Outcome::InForce);
        let last = in_force.map(over).max().or_else(|| part.vtec.iter().map(over).max());
        last.unwrap_or_else(|| self.part_over_ms(part))
    }

    /// When an event of a part is over, milliseconds since 1970.
    fn event_over_ms(&self, part: &Part, vtec: Vtec) -> i64 {
        vtec.end_ms.unwrap_or_else(|| self.part_over_ms(part))
    }

    /// When a part is over by its own times, milliseconds since 1970.
    fn part_over_ms(&self, part: &Part) -> i64 {
        part.end_ms().unwrap_or_else(|| {
            if self.message_type == MessageType::Cancel {
                return i64::MAX;
            }
            let begun_ms = part.effective_ms.max(part.onset_ms).unwrap_or(i64::MIN);
            begun_ms.max(self.sent_ms).saturating_add(UNSTATED_MS)
        })
    }
}

impl Part {
    /// The later of expiry and end of the event, milliseconds since 1970; `None` if open.
    pub fn end_ms(&self) -> Option<i64> {
        self.expires_ms.max(self.event_end_ms)
    }

    /// The text in a language, or else in the message's first language.
    pub fn text(&self, language: &str) -> Option<&Text> {
        let of = |text: &&Text| {
            let primary = text.language.split('-').next().unwrap_or_default();
            primary.eq_ignore_ascii_case(language)
        };
        self.texts.iter().find(of).or(self.texts.first())
    }
}

//! Official alerts: what a message says, whatever its format, and the shape that callers get.
//!
//! An [`AlertMessage`] is one message of a chain, in all of its languages. [`Alert`] is what the
//! service answers of it: one language, with the state that the whole chain gives it.

use serde::{Deserialize, Serialize};

use crate::geo::LonLat;
use crate::geometry::MultiPolygon;
use crate::vtec::Vtec;
use crate::zone::ZoneCode;

macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$word_doc:meta])* $word:ident,)* }) => {
        $(#[$doc])*
        #[derive(
            Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize,
            Deserialize,
        )]
                pub enum $name {
            $($(#[$word_doc])* $word,)*
            /// The source does not say it.
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
    /// What a message is in its chain.
    AlertMessageType {
        /// The first of a chain.
        Alert,
        /// Takes the place of those that it refers to.
        Update,
        /// Takes them back.
        Cancel,
    }
}
words! {
    /// How sure the issuer is (ECCC).
    AlertConfidence {
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
    /// How much it matters (ECCC).
    AlertImpact {
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
    /// Colour of the alert, from impact and confidence (ECCC). Other issuers have none.
    AlertColour {
        /// Yellow.
        Yellow,
        /// Orange.
        Orange,
        /// Red.
        Red,
    }
}
words! {
    /// Kind of alert.
    AlertType {
        /// Something to know of.
        Statement,
        /// Less than a warning.
        Advisory,
        /// Something may come.
        Watch,
        /// Something comes or is there.
        Warning,
    }
}
words! {
    /// What has become of an alert, or of one of its areas.
    ///
    /// The order is that of a whole over its areas: what is active anywhere is active. Unknown is
    /// an alert of a time that has not come yet on the clock of a replay.
    AlertStatus {
        /// In force.
        Active,
        /// A later message has taken its place.
        Superseded,
        /// Taken back before its time.
        Cancelled,
        /// Said to have ended, or past its time.
        Ended,
    }
}
words! {
    /// What an area is.
    AreaKind {
        /// Where the alert is in force: zones, or what was drawn for them.
        Coverage,
        /// Where the storm itself threatens (ECCC).
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
        /// It is taken back.
        Cancelled,
    }
}

/// One message, in all of its languages.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AlertMessage {
    /// Identifier, the same wherever the message is published.
    pub id: String,
    /// Who sends it, as the message has it.
    pub sender: String,
    /// When it was sent, milliseconds since 1970.
    pub sent_ms: i64,
    /// What it is in its chain.
    pub message_type: AlertMessageType,
    /// Identifiers of the messages that it refers to, in the order of the message.
    pub references: Vec<String>,
    /// What it says. A message may say one thing of some of its areas and another of others.
    pub parts: Vec<AlertPart>,
}

/// What a message says of some of its areas.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AlertPart {
    /// The same in each language of the message; never empty.
    pub texts: Vec<AlertText>,
    /// When it takes effect, milliseconds since 1970.
    pub effective_ms: Option<i64>,
    /// When the message is no longer to be used, milliseconds since 1970.
    pub expires_ms: Option<i64>,
    /// When the event itself ends, milliseconds since 1970.
    pub event_end_ms: Option<i64>,
    /// Kind of alert.
    pub alert_type: AlertType,
    /// Colour.
    pub colour: AlertColour,
    /// Impact.
    pub impact: AlertImpact,
    /// Confidence.
    pub confidence: AlertConfidence,
    /// Rank of the risk, 1 the highest (ECCC).
    pub risk_ranking: Option<i32>,
    /// Code of the issuer's list of areas (ECCC).
    pub designation_code: Option<String>,
    /// What the message itself says has become of the alert in these areas.
    pub outcome: Outcome,
    /// What the message does to events, where it carries codes of them.
    pub vtec: Vec<Vtec>,
    /// The storm.
    pub storm: Option<Storm>,
    /// Where.
    pub areas: Vec<MessageArea>,
}

/// What a message itself says has become of an alert. The order is that of a whole over its events:
/// what is in force of any is in force.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Outcome {
    /// It is in force.
    #[default]
    InForce,
    /// Another event has taken its place.
    Replaced,
    /// It is taken back.
    Cancelled,
    /// It has ended.
    Ended,
}

/// The words of a part in one language.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AlertText {
    /// Language, as RFC 3066 has it: `en-CA`.
    pub language: String,
    /// Who issues the alert; empty where the message does not say it.
    pub issuer: String,
    /// What is expected.
    pub event: Option<String>,
    /// Headline; empty where there is none.
    pub headline: String,
    /// Description; empty where there is none.
    pub description: String,
    /// What to do.
    pub instruction: Option<String>,
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

/// A storm, as far as a message describes it in numbers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Storm {
    /// When it was there, milliseconds since 1970.
    pub time_ms: Option<i64>,
    /// How fast it moves.
    pub speed_kmh: Option<f64>,
    /// Where it moves to, degrees clockwise from north.
    pub direction_deg: Option<f64>,
    /// Its form, as the message has it: `ISOLATED_CELL`, `LINE`, `AREA`.
    pub geometry_type: Option<String>,
    /// Where it was: a point, or the points of a line or an area.
    pub points: Vec<LonLat>,
}

/// An area of a message.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MessageArea {
    /// What it is.
    pub kind: AreaKind,
    /// What the message does to it, where it is a threat area.
    pub threat_status: ThreatStatus,
    /// Its zone.
    pub code: Option<ZoneCode>,
    /// Whether the code is that of a fire weather zone: such zones have the codes of forecast
    /// zones, but other areas.
    pub is_fire_zone: bool,
    /// What the message itself draws.
    pub geometry: Option<MultiPolygon>,
}

impl AlertMessage {
    /// The areas of all parts, each with its part.
    pub fn areas(&self) -> impl Iterator<Item = (&AlertPart, &MessageArea)> {
        self.parts.iter().flat_map(|part| part.areas.iter().map(move |area| (part, area)))
    }

    /// From when to when the alert is: from the time that it takes effect, or else was sent, to
    /// the later of its expiry and the end of the event. Without either it is open. Milliseconds
    /// since 1970; both ends belong to it.
    ///
    /// ```
    /// use mesonet::{AlertMessage, AlertPart};
    /// let part = AlertPart { expires_ms: Some(20), event_end_ms: Some(30), ..AlertPart::default() };
    /// let alert = AlertMessage { sent_ms: 10, parts: vec![part], ..AlertMessage::default() };
    /// assert_eq!(alert.interval_ms(), (10, Some(30)));
    /// ```
    pub fn interval_ms(&self) -> (i64, Option<i64>) {
        let starts = self.parts.iter().map(|part| part.effective_ms.unwrap_or(self.sent_ms));
        let ends = self.parts.iter().map(AlertPart::end_ms);
        // An open end is later than any other.
        let end_ms = ends.reduce(|a, b| a.zip(b).map(|(a, b)| a.max(b))).flatten();
        (starts.min().unwrap_or(self.sent_ms), end_ms)
    }
}

impl AlertPart {
    /// The later of expiry and end of the event, milliseconds since 1970; `None` is open.
    pub fn end_ms(&self) -> Option<i64> {
        self.expires_ms.max(self.event_end_ms)
    }

    /// The words in a language, else those that the message has first.
    pub fn text(&self, language: &str) -> Option<&AlertText> {
        let of = |text: &&AlertText| {
            let primary = text.language.split('-').next().unwrap_or_default();
            primary.eq_ignore_ascii_case(language)
        };
        self.texts.iter().find(of).or(self.texts.first())
    }
}

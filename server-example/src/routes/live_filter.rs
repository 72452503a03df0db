//! A filter of events from the settings: the parameters of `/live`, as they stand after the `?` of a
//! request.

use mesonet::access::Plan;

use super::live;
use crate::auth::Account;
use crate::auth::access::Caller;
use crate::http::error::ApiError;
use crate::http::extract::Query;
use crate::state::State;
use crate::state::live::ListenerFilter;

/// What can be read only once the stations are on record.
const OF_RECORD: [&str; 2] = ["stationIds", "network"];

/// Reads a filter.
///
/// # Errors
/// What `/live` would answer.
pub fn of_text(state: &State, text: &str) -> Result<ListenerFilter, String> {
    read(state, text, |_| true)
}

/// Checks all of a filter that can be checked before its stations are on record.
///
/// # Errors
/// What `/live` would answer.
pub fn check(state: &State, text: &str) -> Result<(), String> {
    read(state, text, |name| !OF_RECORD.contains(&name)).map(|_| ())
}

fn read(state: &State, text: &str, is_read: fn(&str) -> bool) -> Result<ListenerFilter, String> {
    // What is sent is the operator's decision, so nothing is kept back.
    let operator = Caller::of_account(Account {
        plan: Plan::Commercial,
        organisations: Vec::new(),
        is_staff: true,
        subject: None,
    });
    let read = || {
        let query = Query::of_text(text, live::ENDPOINTS[0].query)?.filtered(is_read);
        live::filter(state, &operator, &query)
    };
    let mut filter = read().map_err(text_of)?;
    let catalogue = state.services.models.catalogue();
    filter.models = catalogue.iter().map(|model| model.name().to_owned()).collect();
    filter.models.sort_unstable();
    Ok(filter)
}

fn text_of(error: ApiError) -> String {
    match error {
        ApiError::BadRequest(text)
        | ApiError::NotFound(text)
        | ApiError::Refused(_, text)
        | ApiError::Later(text)
        | ApiError::Internal(text) => text,
        ApiError::Unauthorized | ApiError::Forbidden => "it is not allowed".to_owned(),
    }
}

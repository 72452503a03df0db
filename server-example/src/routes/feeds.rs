//! `/feeds`: how old the newest report of each network is.

use std::sync::Arc;

use axum::extract::State as Shared;
use axum::response::Response;
use axum::routing::get;
use serde::Serialize;
use utoipa::ToSchema;

use crate::http::encoding::AcceptedEncodings;
use crate::http::error::ApiError;
use crate::http::snapshot::json_value;
use crate::openapi::{About, Tag};
use crate::routes::Endpoint;
use crate::state::State;
use crate::state::feeds::Feed;

pub const ENDPOINTS: &[Endpoint] = &[Endpoint::get("/feeds", || get(feeds)).about(|| {
    About::new("listFeeds", Tag::Observations, "The networks and the age of their reports")
        .text(
            "A feed is late if no station of its network has reported for longer than the server \
             allows it. While the server replays earlier data, none is late.",
        )
        .json::<FeedList>("The feeds by network.")
})];

/// The networks of the record.
#[derive(Serialize, ToSchema)]
#[schema(as = Feeds)]
struct FeedList {
    feeds: Vec<Feed>,
}

async fn feeds(
    Shared(state): Shared<Arc<State>>,
    accepted: AcceptedEncodings,
) -> Result<Response, ApiError> {
    let feeds = state.look_up(State::feeds).await?.map_err(ApiError::internal)?;
    json_value(accepted, &FeedList { feeds })
}

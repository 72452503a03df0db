//! The routes, as far as they matter before a request comes to its endpoint: what holds for its
//! requests, and where they are counted.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::http::Method;

use crate::http::member::Requested;
use crate::observe::metrics::{Metrics, RouteMetrics};
use crate::routes::{self, Endpoint};

/// All routes. The router finds them too, but tells only its endpoints.
pub struct Routes {
    routes: matchit::Router<Arc<Route>>,
    none: Arc<Route>,
}

/// A route, or none.
pub struct Route {
    /// Its template; `None` for addresses that the service does not have.
    pub template: Option<String>,
    rules: Vec<Rule>,
    pub metrics: RouteMetrics,
}

/// What holds for the requests with a method.
pub struct Rule {
    method: &'static str,
    pub requested: Requested,
    /// Health checks are not limited, and nobody need say who sends them.
    pub is_health: bool,
    /// A long file on a slow line may take long, as long as its pieces keep coming.
    pub is_push: bool,
}

impl Routes {
    /// The routes of all endpoints.
    ///
    /// # Panics
    /// Two templates have the same addresses.
    pub fn new<'a>(
        endpoints: impl Iterator<Item = (&'a str, &'static Endpoint)>,
        metrics: &Metrics,
    ) -> Self {
        let is_one_of = |endpoints: &[Endpoint], endpoint: &Endpoint| {
            endpoints.iter().any(|one| (one.method, one.path) == (endpoint.method, endpoint.path))
        };
        let mut rules: BTreeMap<String, Vec<Rule>> = BTreeMap::new();
        for (prefix, endpoint) in endpoints {
            rules.entry(format!("{prefix}{}", endpoint.path)).or_default().push(Rule {
                method: endpoint.method,
                requested: Requested { query: endpoint.query, body: endpoint.body },
                is_health: prefix.is_empty() && is_one_of(routes::HEALTH, endpoint),
                is_push: is_one_of(routes::PUSHES, endpoint),
            });
        }
        let mut routes = matchit::Router::new();
        for (template, rules) in rules {
            let metrics = metrics.of_route(&template);
            let route = Route { template: Some(template.clone()), rules, metrics };
            routes.insert(template, Arc::new(route)).expect("the router has the same routes");
        }
        let none = Route { template: None, rules: Vec::new(), metrics: metrics.of_route("none") };
        Self { routes, none: Arc::new(none) }
    }

    /// The route of a path.
    pub fn of(&self, path: &str) -> &Arc<Route> {
        self.routes.at(path).map_or(&self.none, |found| found.value)
    }
}

impl Route {
    /// The rule for a method. `None` if there is no such route, or the route does not have the
    /// method.
    pub fn rule(&self, method: &Method) -> Option<&Rule> {
        let name = if method == Method::HEAD { "GET" } else { method.as_str() };
        let rules = &self.rules;
        rules
            .iter()
            .find(|rule| rule.method == name)
            .or(rules.first().filter(|rule| rule.is_health))
    }
}

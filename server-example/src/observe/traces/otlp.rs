//! The span of a request, with the names of OpenTelemetry's conventions for HTTP.

use std::borrow::Cow;
use std::time::Duration;

use axum::http::HeaderMap;
use opentelemetry::propagation::{Extractor, TextMapPropagator};
use opentelemetry::trace::{Span as _, SpanBuilder, SpanKind, Status, Tracer, TracerProvider};
use opentelemetry::{KeyValue, Value};
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::{SdkTracer, SdkTracerProvider, Span};

use super::sender::Sender;
use super::{RequestEnd, TracesError};

/// Length of the longest header in which a caller names the trace of its request (W3C Trace
/// Context: 512 characters of `tracestate` must be passed on).
const MAX_HEADER_BYTES: usize = 512;

/// How long a stopping server waits until the collector has taken the last spans.
const GRACE: Duration = Duration::from_secs(2);

/// Makes spans and sends them in the background, some seconds later and many at once. If the
/// collector does not keep up, spans are dropped. No request waits for the collector.
pub struct Traces(Option<Running>);

struct Running {
    provider: SdkTracerProvider,
    tracer: SdkTracer,
}

/// The span of a request, if there is one.
pub struct Trace(Option<Span>);

impl Traces {
    /// Starts sending to a collector: the one at an address, to which `/v1/traces` is added, or
    /// else the one that the OpenTelemetry variables name, if any.
    ///
    /// # Errors
    /// The address is malformed.
    pub fn new(endpoint: Option<&str>) -> Result<Self, TracesError> {
        let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let names = ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"];
        let is_off = variable("OTEL_SDK_DISABLED").is_some_and(|value| value == "true");
        if is_off || endpoint.is_none() && names.into_iter().find_map(variable).is_none() {
            return Ok(Self(None));
        }
        let exporter = SpanExporter::builder()
            .with_http()
            .with_protocol(Protocol::HttpJson)
            .with_http_client(Sender::new());
        let exporter = match endpoint {
            Some(endpoint) => {
                exporter.with_endpoint(format!("{}/v1/traces", endpoint.trim_end_matches('/')))
            }
            None => exporter,
        };
        let exporter = exporter.build().map_err(|error| TracesError(error.to_string()))?;
        let resource = Resource::builder()
            .with_attribute(KeyValue::new("service.version", env!("CARGO_PKG_VERSION")));
        let resource = match variable("OTEL_SERVICE_NAME") {
            Some(_) => resource,
            None => resource.with_service_name("mesonet-server"),
        };
        let provider = SdkTracerProvider::builder()
            .with_batch_exporter(exporter)
            .with_resource(resource.build())
            .build();
        let tracer = provider.tracer("mesonet-server");
        tracing::info!("traces are sent to an OpenTelemetry collector");
        Ok(Self(Some(Running { provider, tracer })))
    }

    /// Begins the span of a request, in the trace of its caller if the caller names one
    /// (`traceparent`).
    pub fn begin(&self, method: &'static str, headers: &HeaderMap) -> Trace {
        let Some(Running { tracer, .. }) = &self.0 else { return Trace(None) };
        let parent = TraceContextPropagator::new().extract(&OfCaller(headers));
        let span = SpanBuilder::from_name(method).with_kind(SpanKind::Server);
        Trace(Some(tracer.build_with_context(span, &parent)))
    }

    /// Sends the remaining spans, which may take up to [`GRACE`].
    pub fn stop(&self) {
        if let Some(Running { provider, .. }) = &self.0
            && let Err(error) = provider.shutdown_with_timeout(GRACE)
        {
            tracing::warn!("the last traces were not sent: {error}");
        }
    }
}

impl Trace {
    /// Ends the span.
    pub fn end(&mut self, ended: &RequestEnd<'_>) {
        let Some(mut span) = self.0.take().filter(opentelemetry::trace::Span::is_recording) else {
            return;
        };
        let RequestEnd { id, method, route, path, status, bytes, answered, plan } = *ended;
        let name = match route {
            Some(route) => Cow::Owned(format!("{method} {route}")),
            None => Cow::Borrowed(method),
        };
        span.update_name(name);
        let mut set =
            |key: &'static str, value: Value| span.set_attribute(KeyValue::new(key, value));
        set("http.request.method", method.into());
        set("http.response.status_code", i64::from(status.as_u16()).into());
        set("http.response.body.size", i64::try_from(bytes).unwrap_or(i64::MAX).into());
        set("url.path", path.to_owned().into());
        set("mesonet.request.id", id.to_owned().into());
        set("mesonet.answer_began_ms", (answered.as_micros() as f64 / 1_000.0).into());
        if let Some(route) = route {
            set("http.route", route.to_owned().into());
        }
        if let Some(plan) = plan {
            set("mesonet.plan", plan.into());
        }
        if status.is_server_error() {
            set("error.type", status.as_str().to_owned().into());
            span.set_status(Status::error(""));
        }
        span.end();
    }
}

/// The headers in which a caller names its trace. A header that is too long counts as absent.
struct OfCaller<'a>(&'a HeaderMap);

impl Extractor for OfCaller<'_> {
    fn get(&self, key: &str) -> Option<&str> {
        let value = self.0.get(key).filter(|value| value.len() <= MAX_HEADER_BYTES)?;
        value.to_str().ok()
    }

    fn keys(&self) -> Vec<&str> {
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use opentelemetry::trace::{TraceContextExt, TraceId};

    use super::*;

    fn trace_of(headers: &[(&'static str, &str)]) -> Option<(TraceId, String)> {
        let headers = headers.iter().map(|(name, value)| {
            (axum::http::HeaderName::from_static(name), value.parse().unwrap())
        });
        let headers: HeaderMap = headers.collect();
        let context = TraceContextPropagator::new().extract(&OfCaller(&headers));
        let of = context.span().span_context().clone();
        of.is_valid().then(|| (of.trace_id(), of.trace_state().header()))
    }

    #[test]
    fn the_trace_of_the_caller_is_taken_if_it_is_well_formed_and_short() {
        const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        let id = TraceId::from_hex("0af7651916cd43dd8448eb211c80319c").unwrap();
        assert_eq!(trace_of(&[("traceparent", PARENT)]), Some((id, String::new())));
        let with_state = [("traceparent", PARENT), ("tracestate", "a=1")];
        assert_eq!(trace_of(&with_state), Some((id, "a=1".to_owned())));
        let long = format!("a={}", "1".repeat(511));
        let too_long = [("traceparent", PARENT), ("tracestate", &*long)];
        assert_eq!(trace_of(&too_long), Some((id, String::new())));
        for malformed in [
            "",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331",
            "00-00000000000000000000000000000000-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
            "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c8031zz-b7ad6b7169203331-01",
        ] {
            assert_eq!(trace_of(&[("traceparent", malformed)]), None, "{malformed}");
        }
    }
}

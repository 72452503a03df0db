//! What a running server reloads: its settings and its certificate.

use mesonet::Iso8601;

use crate::config::{Config, ConfigError, Flags};
use crate::connections::Certificate;
use crate::state::State;
use mesonet_service::clock::system_ms;

/// Reads the settings again, and applies those that a running server can. If the settings are
/// invalid, nothing changes.
pub fn reload(state: &State, flags: &Flags, certificate: Option<&Certificate>) {
    let taken = Config::load(flags).and_then(|new| {
        let fresh = certificate.map(|of| Ok::<_, ConfigError>((of, of.fresh(system_ms())?)));
        let fresh = fresh.transpose()?;
        let left = state.reload(&new)?;
        if let Some((certificate, fresh)) = fresh {
            certificate.take(fresh);
        }
        Ok(left)
    });
    match taken {
        Ok(left) if left.is_empty() => tracing::info!("read the settings again"),
        Ok(left) => tracing::warn!(
            "read the settings again, but a restart is needed for {}",
            left.join(", ")
        ),
        Err(error) => tracing::error!("the settings stay as they were: {error}"),
    }
}

/// Takes a new certificate if its files have changed.
pub fn renew_certificate(certificate: &Certificate) {
    match certificate.renew(system_ms()) {
        Ok(false) => {}
        Ok(true) => {
            let until = Iso8601(certificate.validity().to_ms);
            tracing::info!("took a new certificate, valid until {until}");
        }
        Err(error) => tracing::error!("{error}; the old certificate stays in use"),
    }
}

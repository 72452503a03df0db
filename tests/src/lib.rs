//! Tests across packages: golden vectors in three languages, and the service over HTTP.

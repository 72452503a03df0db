//! The server as a process.

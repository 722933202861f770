//! What an exporter of OpenTelemetry gets from servers and clients, over all transports.

mod metrics;
mod recorder;
mod secrets;
mod spans;
mod traces;

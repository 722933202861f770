//! The manual: one chapter for each concept, in the order to read them.
//!
//! The [front page](crate) is enough for a first server. A chapter explains how items work together;
//! the reference of each item has its details.
//!
//! If you know rmcp, begin with [coming from rmcp](_20_coming_from_rmcp).

#[doc = include_str!("manual/_01_concepts.md")]
pub mod _01_concepts {}

#[doc = include_str!("manual/_02_servers_and_tools.md")]
pub mod _02_servers_and_tools {}

#[doc = include_str!("manual/_03_resources.md")]
pub mod _03_resources {}

#[doc = include_str!("manual/_04_prompts.md")]
pub mod _04_prompts {}

#[doc = include_str!("manual/_05_completion.md")]
pub mod _05_completion {}

#[doc = include_str!("manual/_06_asking.md")]
pub mod _06_asking {}

#[doc = include_str!("manual/_07_progress_and_logging.md")]
pub mod _07_progress_and_logging {}

#[doc = include_str!("manual/_08_changes.md")]
pub mod _08_changes {}

#[doc = include_str!("manual/_09_who_is_calling.md")]
pub mod _09_who_is_calling {}

#[doc = include_str!("manual/_10_composition.md")]
pub mod _10_composition {}

#[doc = include_str!("manual/_11_clients.md")]
pub mod _11_clients {}

#[doc = include_str!("manual/_12_answering.md")]
pub mod _12_answering {}

#[doc = include_str!("manual/_13_transports.md")]
pub mod _13_transports {}

#[doc = include_str!("manual/_14_over_http.md")]
pub mod _14_over_http {}

#[doc = include_str!("manual/_15_timeouts_and_limits.md")]
pub mod _15_timeouts_and_limits {}

#[doc = include_str!("manual/_16_safety.md")]
pub mod _16_safety {}

#[doc = include_str!("manual/_17_errors.md")]
pub mod _17_errors {}

#[doc = include_str!("manual/_18_testing.md")]
pub mod _18_testing {}

#[doc = include_str!("manual/_19_stability.md")]
pub mod _19_stability {}

#[doc = include_str!("manual/_20_coming_from_rmcp.md")]
pub mod _20_coming_from_rmcp {}

#[cfg(feature = "auth-server")]
#[doc = include_str!("manual/_21_protecting_a_server.md")]
pub mod _21_protecting_a_server {}

#[cfg(feature = "auth-server")]
#[doc = include_str!("manual/_22_token_checks.md")]
pub mod _22_token_checks {}

#[cfg(feature = "auth-client")]
#[doc = include_str!("manual/_23_log_in_from_a_client.md")]
pub mod _23_log_in_from_a_client {}

#[cfg(feature = "auth-client")]
#[doc = include_str!("manual/_24_run_headless.md")]
pub mod _24_run_headless {}

#[cfg(any(feature = "auth-client", feature = "auth-server"))]
#[doc = include_str!("manual/_25_providers_tried.md")]
pub mod _25_providers_tried {}

#[doc = include_str!("manual/_26_tasks.md")]
pub mod _26_tasks {}

#[doc = include_str!("manual/_27_extensions.md")]
pub mod _27_extensions {}

#[cfg(feature = "skills")]
#[doc = include_str!("manual/_28_skills.md")]
pub mod _28_skills {}

#[doc = include_str!("manual/_29_apps.md")]
pub mod _29_apps {}

#[cfg(feature = "otel")]
#[doc = include_str!("manual/_30_traces_and_metrics.md")]
pub mod _30_traces_and_metrics {}

#[cfg(feature = "http")]
#[doc = include_str!("manual/_31_more_than_one_replica.md")]
pub mod _31_more_than_one_replica {}

#[cfg(feature = "http")]
#[doc = include_str!("manual/_32_behind_nginx.md")]
pub mod _32_behind_nginx {}

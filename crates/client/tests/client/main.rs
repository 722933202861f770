//! A client against a scripted server that speaks raw lines, in both eras and in virtual time.

mod cache;
mod calls;
mod cancel;
mod child;
mod complete;
mod connect;
mod consent;
mod diagnostics;
mod end;
mod group;
mod identity;
mod life;
mod lists;
mod logs;
mod output;
mod pace;
mod pages;
mod peer;
mod prompts;
mod questions;
mod relay;
mod resources;
mod restart;
mod roots;
mod rounds;
mod sampling;
#[cfg(feature = "skills")]
mod skills;
mod subscribe;
mod subscribe_legacy;
mod tasks;
mod timing;
mod views;

//! A client against a scripted server that speaks raw lines, in both eras and in virtual time.

mod cache;
mod calls;
mod cancel;
mod child;
mod complete;
mod connect;
mod consent;
mod end;
mod group;
mod life;
mod lists;
mod logs;
mod odd;
mod output;
mod pace;
mod pages;
mod peer;
mod prompts;
mod questions;
mod resources;
mod roots;
mod rounds;
mod sampling;
mod subscribe;
mod subscribe_legacy;
mod timing;

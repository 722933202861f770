//! A client against a scripted server that speaks raw lines, in both eras and in virtual time.

mod calls;
mod cancel;
mod child;
mod connect;
mod end;
mod lists;
mod logs;
mod odd;
mod peer;
mod questions;
mod rounds;
mod timing;

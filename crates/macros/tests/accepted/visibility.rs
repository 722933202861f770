//! The tool of a function is as visible as the function.

#![deny(warnings)]
#![allow(unreachable_pub)]

use bowline::{tool, tools};

mod weather {
    use bowline::tool;

    #[tool]
    pub async fn forecast(city: String) -> String {
        city
    }

    pub(crate) mod past {
        #[bowline::tool]
        pub(in crate::weather) fn hidden() {}

        #[bowline::tool]
        pub(crate) fn record(city: String) -> String {
            hidden();
            city
        }
    }

    pub fn hidden() -> usize {
        bowline::tools![past::hidden].len()
    }
}

mod renamed {
    pub use super::weather::forecast as prophecy;
}

#[tool]
fn today() {}

fn main() {
    let all = tools![weather::forecast, crate::weather::past::record, renamed::prophecy, today];
    assert_eq!(all.len() + weather::hidden(), 5);
    today();
}

//! Functions as handlers.
//!
//! Any `async fn` whose parameters are extractors is a handler. What it returns decides what it can
//! handle: [`Tool::new`](crate::Tool::new) wants a result that a tool can give.

use std::future::Future;

use crate::call::Call;
use crate::error::{Error, Result};
use crate::extract::FromCall;

mod erased;
pub(crate) mod signature;
mod template;

pub(crate) use erased::{ErasedHandler, erase, erase_call};
pub use signature::HandlerSignature;
pub use template::{Extracted, FromTemplate, Placed, TemplateHandler, Variable};

/// A function that serves calls.
///
/// Implemented for async functions and closures of up to twelve parameters, each of which is an
/// extractor ([`FromCall`]). `M` only tells the arities apart; nobody writes it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a handler",
    label = "not a handler",
    note = "a handler is an `async fn` whose parameters are extractors: \
            `Args<T>`, `State<T>`, `Context`, `Progress`, `Log`, `Cancel`, `Ask`",
    note = "it must be `Clone + Send + Sync + 'static`, and hold nothing over an `.await` that is not \
            `Send`, such as an `Rc`",
    note = "`#[tool]` turns plain parameters into arguments, and takes functions that are not async"
)]
pub trait Handler<M>: Clone + Send + Sync + 'static {
    /// What the function returns.
    type Output;

    /// Says what the parameters say.
    fn describe(signature: &mut HandlerSignature);

    /// Extracts the parameters and calls the function.
    fn call(self, call: Call)
    -> impl Future<Output = Result<Self::Output, Error>> + Send + 'static;
}

macro_rules! handler {
    ($($parameter:ident)*) => {
        #[diagnostic::do_not_recommend]
        impl<F, Returned, $($parameter,)*> Handler<fn($($parameter),*) -> Returned> for F
        where
            F: Fn($($parameter),*) -> Returned + Clone + Send + Sync + 'static,
            Returned: Future + Send + 'static,
            $($parameter: FromCall,)*
        {
            type Output = Returned::Output;

            #[allow(unused_variables, reason = "a function without parameters has nothing to say")]
            fn describe(signature: &mut HandlerSignature) {
                $($parameter::describe(signature);)*
            }

            #[allow(non_snake_case, reason = "each value is named after its type parameter")]
            #[allow(unused_variables, reason = "a function without parameters extracts nothing")]
            async fn call(self, call: Call) -> Result<Self::Output, Error> {
                $(let $parameter = $parameter::from_call(&call).await?;)*
                Ok(self($($parameter),*).await)
            }
        }
    };
}

handler!();
handler!(A);
handler!(A B);
handler!(A B C);
handler!(A B C D);
handler!(A B C D E);
handler!(A B C D E G);
handler!(A B C D E G H);
handler!(A B C D E G H I);
handler!(A B C D E G H I J);
handler!(A B C D E G H I J K);
handler!(A B C D E G H I J K L);
handler!(A B C D E G H I J K L N);

//! The parameters of a function: a tuple of extractors.

use std::future::Future;

use super::FromCall;
use crate::call::Call;
use crate::error::Result;
use crate::signature::HandlerSignature;

/// An async function or closure of up to twelve parameters, whatever they are.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a handler",
    label = "not a handler",
    note = "a handler is an `async fn` of up to twelve parameters, all of them extractors",
    note = "it must be `Clone + Send + Sync + 'static`, and hold nothing over an `.await` that is not \
            `Send`, such as an `Rc`",
    note = "`#[tool]` turns plain parameters into arguments, and takes functions that are not async"
)]
pub trait HandlerFn<M>: Clone + Send + Sync + 'static {
    /// The parameters as a tuple.
    type Parameters: Send;
    /// The future that the function returns.
    type Returned: Future + Send + 'static;

    /// Calls the function.
    fn apply(self, parameters: Self::Parameters) -> Self::Returned;
}

/// The parameters of a handler: a tuple of extractors.
pub trait Parameters: Sized + Send + 'static {
    /// Adds what each parameter declares.
    fn describe(signature: &mut HandlerSignature);

    /// Takes the values out of a call, in order. Stops at the first that fails.
    fn from_call(call: &Call) -> impl Future<Output = Result<Self>> + Send;
}

macro_rules! handler {
    ($($parameter:ident)*) => {
        #[diagnostic::do_not_recommend]
        impl<F, Returned, $($parameter,)*> HandlerFn<fn($($parameter),*) -> Returned> for F
        where
            F: Fn($($parameter),*) -> Returned + Clone + Send + Sync + 'static,
            Returned: Future + Send + 'static,
            $($parameter: Send,)*
        {
            type Parameters = ($($parameter,)*);
            type Returned = Returned;

            #[allow(non_snake_case, reason = "each value is named after its type parameter")]
            fn apply(self, ($($parameter,)*): Self::Parameters) -> Returned {
                self($($parameter),*)
            }
        }

        impl<$($parameter: FromCall,)*> Parameters for ($($parameter,)*) {
            #[allow(unused_variables, reason = "no parameters declare nothing")]
            fn describe(signature: &mut HandlerSignature) {
                $($parameter::describe(signature);)*
            }

            #[allow(unused_variables, reason = "no parameters take nothing from the call")]
            async fn from_call(call: &Call) -> Result<Self> {
                Ok(($($parameter::from_call(call).await?,)*))
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

//! Functions whose parameters are the variables of a URI template.

use std::future::Future;

use crate::call::Call;
use crate::error::{Error, Result};
use crate::extract::FromTemplate;
use crate::signature::HandlerSignature;

/// A function that reads what a template of URIs names.
///
/// Implemented for async functions and closures of up to twelve parameters. Each is an extractor
/// ([`FromCall`](crate::extract::FromCall)) or a
/// [`Variable`](crate::extract::Variable); the first variable parameter is the first variable of the
/// template, and so on. `M` only distinguishes the arities; users never write it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot read the resources of a template",
    label = "not a handler of a template",
    note = "it is an `async fn` whose parameters are extractors, and a `String`, number, `bool`, or \
            an `Option` or `Vec` of these for each variable of the template",
    note = "it must be `Clone + Send + Sync + 'static`, and hold nothing over an `.await` that is not \
            `Send`, such as an `Rc`"
)]
pub trait TemplateHandler<M>: Clone + Send + Sync + 'static {
    /// What the function returns.
    type Output;

    /// Adds what the parameters declare.
    fn describe(signature: &mut HandlerSignature);

    /// Finds the parameters and calls the function.
    fn call(self, call: Call)
    -> impl Future<Output = Result<Self::Output, Error>> + Send + 'static;
}

macro_rules! template_handler {
    ($($parameter:ident $kind:ident)*) => {
        #[diagnostic::do_not_recommend]
        impl<F, Returned, $($parameter, $kind,)*>
            TemplateHandler<fn($(($parameter, $kind)),*) -> Returned> for F
        where
            F: Fn($($parameter),*) -> Returned + Clone + Send + Sync + 'static,
            Returned: Future + Send + 'static,
            $($parameter: FromTemplate<$kind>, $kind: 'static,)*
        {
            type Output = Returned::Output;

            #[allow(unused_variables, reason = "a function without parameters has nothing to say")]
            fn describe(signature: &mut HandlerSignature) {
                $($parameter::describe(signature);)*
            }

            #[allow(non_snake_case, reason = "each value is named after its type parameter")]
            #[allow(unused_mut, unused_variables, reason = "a function may take nothing")]
            async fn call(self, call: Call) -> Result<Self::Output, Error> {
                let mut place = 0;
                $(let $parameter = $parameter::from_template(&call, &mut place).await?;)*
                Ok(self($($parameter),*).await)
            }
        }
    };
}

template_handler!();
template_handler!(A Ka);
template_handler!(A Ka B Kb);
template_handler!(A Ka B Kb C Kc);
template_handler!(A Ka B Kb C Kc D Kd);
template_handler!(A Ka B Kb C Kc D Kd E Ke);
template_handler!(A Ka B Kb C Kc D Kd E Ke G Kg);
template_handler!(A Ka B Kb C Kc D Kd E Ke G Kg H Kh);
template_handler!(A Ka B Kb C Kc D Kd E Ke G Kg H Kh I Ki);
template_handler!(A Ka B Kb C Kc D Kd E Ke G Kg H Kh I Ki J Kj);
template_handler!(A Ka B Kb C Kc D Kd E Ke G Kg H Kh I Ki J Kj K Kk);
template_handler!(A Ka B Kb C Kc D Kd E Ke G Kg H Kh I Ki J Kj K Kk L Kl);
template_handler!(A Ka B Kb C Kc D Kd E Ke G Kg H Kh I Ki J Kj K Kk L Kl N Kn);

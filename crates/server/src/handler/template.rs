//! Functions whose parameters are the variables of a URI template.

use std::future::Future;

use serde::de::DeserializeOwned;

use crate::call::Call;
use crate::error::{Error, Result};
use crate::extract::FromCall;
use crate::handler::signature::HandlerSignature;

/// A function that reads what a template of URIs names.
///
/// Implemented for async functions and closures of up to twelve parameters. Each is an extractor
/// ([`FromCall`]) or a [`Variable`]; the first variable parameter is the first variable of the
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

/// What the text of a template's variable can be read as.
///
/// Implement it for a type of your own that deserializes from text:
///
/// ```
/// use bowline_server::{Resource, extract::Variable};
/// use serde::Deserialize;
///
/// #[derive(Deserialize)]
/// struct UserId(u64);
///
/// impl Variable for UserId {}
///
/// async fn profile(UserId(id): UserId) -> String {
///     format!("the profile of user {id}")
/// }
///
/// let profiles = Resource::template("users://{user_id}/profile", profile);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be read from a variable of a template",
    label = "not a variable",
    note = "variables are `String`, numbers, `bool`, or an `Option` or `Vec` of these"
)]
pub trait Variable: DeserializeOwned + Send + 'static {}

macro_rules! variables {
    ($($type:ty)*) => {
        $(impl Variable for $type {})*
    };
}

variables!(String char bool u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize f32 f64);

impl<T: Variable> Variable for Option<T> {}

impl<T: Variable> Variable for Vec<T> {}

/// A parameter of a [`TemplateHandler`]; `Kind` says which of the two it is.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a parameter of a template's handler",
    label = "neither an extractor nor a variable",
    note = "variables are `String`, numbers, `bool`, or an `Option` or `Vec` of these",
    note = "extractors are `Args<T>`, `State<T>`, `Uri`, `Context`, `Progress`, `Log`, `Cancel`, `Ask`"
)]
pub trait FromTemplate<Kind>: Sized + Send + 'static {
    /// Adds what this parameter declares about its handler.
    fn describe(signature: &mut HandlerSignature);

    /// Takes the value out of a call. `place` counts the variables that were taken.
    fn from_template(call: &Call, place: &mut usize) -> impl Future<Output = Result<Self>> + Send;
}

/// Marks parameters that are extractors.
#[derive(Debug)]
pub enum Extracted {}

/// Marks parameters that are variables.
#[derive(Debug)]
pub enum Placed {}

impl<T: FromCall> FromTemplate<Extracted> for T {
    fn describe(signature: &mut HandlerSignature) {
        T::describe(signature);
    }

    async fn from_template(call: &Call, _: &mut usize) -> Result<Self> {
        T::from_call(call).await
    }
}

impl<T: Variable> FromTemplate<Placed> for T {
    fn describe(signature: &mut HandlerSignature) {
        signature.takes_variable();
    }

    async fn from_template(call: &Call, place: &mut usize) -> Result<Self> {
        let words = call.text_arguments().ok_or_else(Error::not_found)?;
        let value = words.decode_at(*place).map_err(Error::misfit)?;
        *place += 1;
        Ok(value)
    }
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

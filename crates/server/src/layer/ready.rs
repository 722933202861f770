//! The part that is the same for all services here: none of them fails, and all are always ready.

/// Writes the associated types and `poll_ready` of a `tower_service::Service<Request>`.
macro_rules! always_ready {
    () => {
        type Response = bowline_proto::request::Response;
        type Error = std::convert::Infallible;
        type Future = futures_core::future::BoxFuture<
            'static,
            std::result::Result<bowline_proto::request::Response, std::convert::Infallible>,
        >;

        fn poll_ready(
            &mut self,
            _: &mut std::task::Context<'_>,
        ) -> std::task::Poll<std::result::Result<(), std::convert::Infallible>> {
            std::task::Poll::Ready(Ok(()))
        }
    };
}

pub(crate) use always_ready;

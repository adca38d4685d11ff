//! x
use axum::extract::{Path, Request, State};
use axum::response::Response;
use crate::app::Doors;
use crate::problem::Problem;
pub(crate) async fn accept(State(_d): State<Doors>, Path(_n): Path<String>, _r: Request) -> Result<Response, Problem> { Err(Problem::new(crate::problem::ProblemKind::Busy, "")) }

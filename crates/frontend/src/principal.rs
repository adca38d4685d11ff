//! Authenticated clients and their permissions.

use crate::error::{ErrorKind, FrontendError};
use crate::query_client::QueryClient;

/// Something that a principal may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Permission {
    /// Add rows.
    Log,
    /// Read rows, schemas and figures.
    Query,
    /// Save dashboards, views and answers: an ordinary right of those who query.
    Save,
    /// Change tables.
    Define,
    /// Define and drop user functions, which run code beside rows.
    Functions,
    /// Change the server.
    Admin,
}

/// A client that a door has authenticated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Principal {
    permissions: Vec<Permission>,
    client: QueryClient,
}

impl Principal {
    /// Returns a principal with these permissions.
    #[must_use]
    pub fn new(permissions: impl Into<Vec<Permission>>) -> Self {
        Self { permissions: permissions.into(), client: QueryClient::SERVER }
    }

    /// Returns the same principal, whose queries take turns as those of `client`.
    #[must_use]
    pub fn of_client(self, client: QueryClient) -> Self {
        Self { client, ..self }
    }

    /// The client whose turns its queries take.
    pub(crate) const fn client(&self) -> QueryClient {
        self.client
    }

    /// A principal that may do everything.
    #[must_use]
    pub fn administrator() -> Self {
        use Permission::{Admin, Define, Functions, Log, Query, Save};
        Self::new([Log, Query, Save, Define, Functions, Admin])
    }

    /// Refuses an action without its permission.
    ///
    /// # Errors
    /// [`ErrorKind::Forbidden`], with the name of the permission that is missing.
    pub(crate) fn require(&self, permission: Permission) -> Result<(), FrontendError> {
        if self.permissions.contains(&permission) {
            return Ok(());
        }
        let detail = format!("the permission {} is missing", permission.name());
        Err(FrontendError::new(ErrorKind::Forbidden, detail))
    }
}

impl Permission {
    /// The permission's name in messages.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Log => "log",
            Self::Query => "query",
            Self::Save => "save",
            Self::Define => "define",
            Self::Functions => "functions",
            Self::Admin => "admin",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_permission_is_named() {
        let reader = Principal::new([Permission::Query]);
        assert!(reader.require(Permission::Query).is_ok());
        use Permission::{Admin, Define, Functions, Log, Save};
        for permission in [Log, Save, Define, Functions, Admin] {
            let error = reader.require(permission).expect_err("refused");
            assert_eq!(error.kind, ErrorKind::Forbidden);
            assert!(error.detail.contains(permission.name()), "{error}");
            assert!(Principal::administrator().require(permission).is_ok());
        }
    }
}

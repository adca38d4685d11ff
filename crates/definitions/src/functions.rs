//! User functions, each with its version.

use hadal_types::FunctionDefinition;
use hadal_types::limits::FUNCTIONS_MAX;
use sqlx::Row;
use sqlx::any::AnyRow;

use crate::definitions::Definitions;
use crate::error::DefinitionsError;
use crate::table_settings::{Versioned, next_version};

impl Definitions {
    /// All functions, by name.
    ///
    /// # Errors
    /// If they cannot be read.
    pub async fn functions(&self) -> Result<Vec<Versioned<FunctionDefinition>>, DefinitionsError> {
        let select = "SELECT name, version, definition FROM hadal_functions";
        let rows = sqlx::query(select).fetch_all(&self.pool()).await;
        let rows = rows.map_err(|error| self.failed("read", error))?;
        let all: Result<Vec<_>, _> = rows.iter().map(|row| self.function_of(row)).collect();
        let mut all = all?;
        // Databases order texts in their own ways.
        all.sort_by(|one, other| one.value.name.cmp(&other.value.name));
        Ok(all)
    }

    /// Defines a function, or replaces it; returns its new version. `based_on` is the version that
    /// it replaces, 0 if there is none, or `None` for any.
    ///
    /// # Errors
    /// [`DefinitionsError::FunctionConflict`] if the function has another version, and
    /// [`DefinitionsError::TooManyFunctions`]: then nothing changed.
    pub async fn set_function(
        &self,
        based_on: Option<i64>,
        definition: &FunctionDefinition,
    ) -> Result<i64, DefinitionsError> {
        let failed = |error| self.failed("change", error);
        let mut change = self.pool().begin().await.map_err(failed)?;
        let version = next_version(&mut change).await.map_err(failed)?;
        let select = "SELECT name, version, definition FROM hadal_functions";
        let rows = sqlx::query(select).fetch_all(&mut *change).await.map_err(failed)?;
        let mut current = 0;
        for row in &rows {
            if row.try_get::<String, _>(0).map_err(failed)? == definition.name {
                current = row.try_get(1).map_err(failed)?;
            }
        }
        let refused = match based_on {
            Some(based_on) if based_on != current => {
                let name = definition.name.clone();
                Some(DefinitionsError::FunctionConflict { name, current, based_on })
            }
            _ if current == 0 && rows.len() >= FUNCTIONS_MAX => {
                Some(DefinitionsError::TooManyFunctions)
            }
            _ => None,
        };
        if let Some(refused) = refused {
            // Explicitly: dropping the transaction may roll back later.
            change.rollback().await.map_err(failed)?;
            return Err(refused);
        }
        let statement = match current {
            0 => "INSERT INTO hadal_functions (name, version, definition) VALUES ($1, $2, $3)",
            _ => "UPDATE hadal_functions SET version = $2, definition = $3 WHERE name = $1",
        };
        let statement = sqlx::query(statement).bind(definition.name.as_str()).bind(version);
        let statement = statement.bind(definition.to_json());
        statement.execute(&mut *change).await.map_err(failed)?;
        change.commit().await.map_err(failed)?;
        Ok(version)
    }

    /// Removes a function; returns whether there was one.
    ///
    /// # Errors
    /// If it cannot be removed.
    pub async fn remove_function(&self, name: &str) -> Result<bool, DefinitionsError> {
        let failed = |error| self.failed("change", error);
        let mut change = self.pool().begin().await.map_err(failed)?;
        // Others see from the last version that something changed.
        next_version(&mut change).await.map_err(failed)?;
        let delete = sqlx::query("DELETE FROM hadal_functions WHERE name = $1").bind(name);
        let removed = delete.execute(&mut *change).await.map_err(failed)?.rows_affected() > 0;
        change.commit().await.map_err(failed)?;
        Ok(removed)
    }

    fn function_of(&self, row: &AnyRow) -> Result<Versioned<FunctionDefinition>, DefinitionsError> {
        let failed = |error| self.failed("read", error);
        let name: String = row.try_get(0).map_err(failed)?;
        let version: i64 = row.try_get(1).map_err(failed)?;
        let text: String = row.try_get(2).map_err(failed)?;
        match FunctionDefinition::from_json(&text) {
            Ok(value) if value.name == name => Ok(Versioned { version, value }),
            Ok(other) => Err(self.damaged(&format!("function {name} is {}", other.name))),
            Err(error) => Err(self.damaged(&format!("function {name}: {error}"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use hadal_types::{FunctionKind, FunctionType};

    use super::*;
    use crate::location::Location;

    fn function(name: &str, source: &str) -> FunctionDefinition {
        FunctionDefinition {
            name: name.to_owned(),
            kind: FunctionKind::Scalar,
            parameters: Vec::new(),
            returns: FunctionType::Number,
            called_on_null: false,
            source: source.to_owned(),
        }
    }

    #[tokio::test]
    async fn functions_are_kept_with_versions() {
        let store = Definitions::open(&Location::Memory).await.expect("opens");
        let first = store.set_function(Some(0), &function("f", "return 1")).await.expect("set");
        let other = store.set_function(None, &function("a", "return 2")).await.expect("set");
        assert!(other > first);
        let stale = store.set_function(Some(0), &function("f", "return 3")).await;
        let stale = stale.expect_err("another version");
        assert!(matches!(stale, DefinitionsError::FunctionConflict { .. }), "{stale}");
        let second = store.set_function(Some(first), &function("f", "return 3")).await;
        let second = second.expect("replaced");
        let all = store.functions().await.expect("read");
        let all: Vec<_> = all.iter().map(|one| (one.value.source.as_str(), one.version)).collect();
        assert_eq!(all, [("return 2", other), ("return 3", second)]);
        assert!(store.remove_function("f").await.expect("removed"));
        assert!(!store.remove_function("f").await.expect("nothing to remove"));
        assert!(store.version().await.expect("read") > second);
    }

    #[tokio::test]
    async fn functions_are_limited() {
        let store = Definitions::open(&Location::Memory).await.expect("opens");
        for index in 0..FUNCTIONS_MAX {
            store.set_function(None, &function(&format!("f{index}"), "")).await.expect("set");
        }
        let refused = store.set_function(None, &function("g", "")).await.expect_err("one more");
        assert!(matches!(refused, DefinitionsError::TooManyFunctions), "{refused}");
        store.set_function(None, &function("f0", "return 1")).await.expect("replaced");
    }
}

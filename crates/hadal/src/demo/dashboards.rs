//! The dashboards that the demo ships.

use hadal_types::{Document, DocumentKind};

use crate::error::Error;

const SERVICE_HEALTH: &str = include_str!("dashboards/service-health.json");
const HADAL_ITSELF: &str = include_str!("dashboards/hadal-itself.json");

/// *Service health*, of the invented web shop, and *Hadal itself*, of the self tables.
pub(crate) fn dashboards() -> Result<Vec<Document>, Error> {
    let read = |text| Document::from_json(DocumentKind::Dashboard, text);
    let dashboards = [SERVICE_HEALTH, HADAL_ITSELF].into_iter().map(read);
    let dashboards: Result<Vec<_>, _> = dashboards.collect();
    dashboards.map_err(|error| Error::Usage(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dashboards_of_the_demo_are_valid() {
        let dashboards = dashboards().expect("valid");
        let names: Vec<_> = dashboards.iter().map(Document::name).collect();
        assert_eq!(names, ["Service health", "Hadal itself"]);
        assert!(dashboards.iter().all(|one| one.summary().0["tiles"].as_u64() >= Some(10)));
    }
}

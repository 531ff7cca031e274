//! The schema in the repository is the one the code generates.

use octavo_scenario::schema;

#[test]
fn the_schema_in_the_repository_is_fresh() {
    let fresh = format!("{}\n", serde_json::to_string_pretty(&schema()).unwrap());
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../schema/scenario.schema.json");
    if std::env::var_os("OCTAVO_WRITE_SCHEMA").is_some() {
        std::fs::write(path, &fresh).unwrap();
    }
    let kept = std::fs::read_to_string(path).unwrap_or_default();
    assert!(kept == fresh, "schema/scenario.schema.json is stale: refresh it with `make schema`");
}

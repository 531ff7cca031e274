//! Options of strategies are documented, and refused if unknown.

use octavo_manager::{
    ALLOCATORS, ConfigError, DEMOTIONS, EVICTIONS, GUARDS, MemoryConfig, PLACEMENTS, PREFETCHERS, SIZINGS, SystemConfig,
};
use octavo_registry::{Choice, Entry, Registry};

use crate::common::{choice, placement};

fn check<P, C: ?Sized>(registry: &Registry<P, C>) {
    registry.entries.iter().for_each(|entry| check_entry(entry));
}

fn check_entry<P, C: ?Sized>(entry: &Entry<P, C>) {
    assert!(!entry.summary.is_empty() && !entry.source.is_empty(), "{} says what it is and where from", entry.name);
    let schema = serde_json::to_value((entry.schema)()).unwrap();
    assert_eq!(schema["additionalProperties"], false, "{} refuses unknown options", entry.name);
    for (option, property) in schema["properties"].as_object().into_iter().flatten() {
        let text = property["description"].as_str().unwrap_or_default();
        assert!(text.contains("default"), "{}.{option} documents its default: {text:?}", entry.name);
    }
}

#[test]
fn every_option_says_what_it_is_and_its_default() {
    check(&PLACEMENTS);
    check(&PREFETCHERS);
    check(&EVICTIONS);
    check(&DEMOTIONS);
    check(&GUARDS);
    check(&SIZINGS);
    check(&ALLOCATORS);
}

#[test]
fn an_unknown_option_is_refused_with_its_key_and_the_nearest_name() {
    let options = serde_json::from_str(r#"{"fault_treshold": 8}"#).unwrap();
    let config = MemoryConfig { placement: Choice { name: "grit".to_owned(), options }, ..Default::default() };
    let ConfigError { key, message, .. } = config.resolve().unwrap_err();
    assert_eq!(key, "placement.fault_treshold");
    assert!(message.contains("did you mean `fault_threshold`?"), "{message}");
}

/// A GPU's access counters have one threshold.
#[test]
fn placements_of_one_node_that_want_different_counters_are_refused() {
    let counting = |threshold: u32| choice("access-counter", &format!(r#"{{"threshold": {threshold}}}"#));
    let beside = |threshold: u32| {
        let system = SystemConfig { placement: counting(threshold), ..SystemConfig::default() };
        MemoryConfig { system, ..placement("access-counter", r#"{"threshold": 256}"#) }.resolve()
    };
    assert!(beside(256).is_ok());
    let ConfigError { key, message, .. } = beside(9).unwrap_err();
    assert_eq!(key, "system.placement");
    assert!(message.contains("a threshold of 256 lines, as another placement has them, found 9"), "{message}");
}

//! Choosing by name and configuring with typed options, as strategies and workloads do.

use octavo_registry::{Choice, DIGEST, Entry, OptionError, Options, Outside, Registry, typed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Tree {
    /// Share of a subtree, in percent.
    threshold: u8,
    /// Largest subtree, if any.
    limit: Option<u32>,
}

impl Default for Tree {
    fn default() -> Self {
        Self { threshold: 51, limit: None }
    }
}

#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Nothing {}

static NONE: Entry<String, u32> = Entry {
    name: "none",
    summary: "nothing",
    source: "common usage",
    schema: typed::schema::<Nothing>,
    resolve: typed::resolve::<Nothing>,
    build: |options, _| typed::parse::<Nothing>(options).map(|_| "none".to_owned()),
};
static TREE: Entry<String, u32> = Entry {
    name: "tree",
    summary: "a tree",
    source: "common usage",
    schema: typed::schema::<Tree>,
    resolve: typed::resolve::<Tree>,
    build: |options, pages| typed::parse::<Tree>(options).map(|tree| format!("{}% of {pages}", tree.threshold)),
};
static PREFETCHERS: Registry<String, u32> = Registry::new("prefetch", &[&NONE, &TREE]);

fn choice(value: serde_json::Value) -> Choice {
    serde_json::from_value(value).unwrap()
}

#[test]
fn builds_what_is_named_with_its_options_and_context() {
    assert_eq!(PREFETCHERS.build(&Choice::named("tree"), &512), Ok("51% of 512".to_owned()));
    assert_eq!(PREFETCHERS.build(&choice(json!({"name": "tree", "threshold": 1})), &8), Ok("1% of 8".to_owned()));
}

#[test]
fn resolving_spells_out_defaults_and_is_idempotent() {
    let resolved = PREFETCHERS.resolve(&Choice::named("tree")).unwrap();
    assert_eq!(serde_json::to_value(&resolved).unwrap(), json!({"name": "tree", "threshold": 51, "limit": null}));
    assert_eq!(PREFETCHERS.resolve(&resolved), Ok(resolved));
    assert_eq!(PREFETCHERS.resolve(&Choice::named("none")).unwrap().options, Options::new());
}

#[test]
fn unknown_names_are_refused_with_the_nearest() {
    let error = PREFETCHERS.build(&Choice::named("tre"), &1).unwrap_err();
    assert_eq!(error.key, "name");
    assert_eq!(error.message, "unknown prefetch `tre`, expected one of none, tree; did you mean `tree`?");
}

#[test]
fn unknown_and_wrong_options_are_refused_with_their_key() {
    let error = PREFETCHERS.resolve(&choice(json!({"name": "tree", "treshold": 1}))).unwrap_err();
    assert_eq!((error.key.as_str(), error.is_unknown), ("treshold", true));
    assert_eq!(error.message, "unknown option, expected one of threshold, limit; did you mean `threshold`?");
    let error = PREFETCHERS.resolve(&choice(json!({"name": "tree", "threshold": "half"}))).unwrap_err();
    assert_eq!((error.key.as_str(), error.is_unknown), ("threshold", false));
    assert_eq!(error.message, "expected a whole number from 0 to 255, found \"half\"");
    let error = PREFETCHERS.resolve(&choice(json!({"name": "none", "threshold": 1}))).unwrap_err();
    assert_eq!(error.to_string(), "`threshold`: unknown option, expected no options");
}

/// Finds trees in a forest: `forest:7` is the tree numbered 7.
struct Forest;

impl Outside<String, u32> for Forest {
    fn expected(&self) -> &'static str {
        "a tree such as forest:7"
    }

    fn resolve(&self, choice: &Choice) -> Result<Choice, OptionError> {
        let number = choice.name.strip_prefix("forest:").ok_or_else(|| OptionError::new("name", "no forest"))?;
        let mut resolved = choice.clone();
        resolved.options.insert(DIGEST.to_owned(), format!("bark of {number}").into());
        Ok(resolved)
    }

    fn build(&self, choice: &Choice, pages: &u32) -> Result<String, OptionError> {
        Ok(format!("{} of {pages}", self.resolve(choice)?.name))
    }
}

#[test]
fn what_lies_outside_is_found_by_its_place_alone() {
    static NAMES: Registry<String, u32> = Registry::new("prefetch", &[&NONE]);
    let tree = Choice::named("forest:7");
    assert!(NAMES.build(&tree, &8).unwrap_err().message.contains("unknown prefetch `forest:7`"));
    NAMES.extend(&Forest);
    assert_eq!(NAMES.build(&tree, &8), Ok("forest:7 of 8".to_owned()));
    assert_eq!(NAMES.resolve(&tree).unwrap().options[DIGEST], "bark of 7");
    assert_eq!(NAMES.build(&Choice::named("none"), &8), Ok("none".to_owned()));
    assert_eq!(NAMES.resolve(&Choice::named("oak.py")).unwrap_err().message, "no forest");
    let message = NAMES.build(&Choice::named("nona"), &8).unwrap_err().message;
    assert_eq!(
        message,
        "unknown prefetch `nona`, expected one of none, or a tree such as forest:7; did you mean `none`?"
    );
}

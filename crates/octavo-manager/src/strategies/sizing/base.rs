//! `base`: all pages are base pages.

use octavo_registry::{Entry, typed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::PageSizing;
use crate::contract::geometry::Geometry;

/// `base` has no options.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Options {}

pub(super) static ENTRY: Entry<Box<dyn PageSizing>, Geometry> = Entry {
    name: "base",
    summary: "base pages only",
    source: "Mosaic (MICRO 2017): GPU-MMU",
    schema: typed::schema::<Options>,
    resolve: typed::resolve::<Options>,
    build: |options, _| {
        typed::parse::<Options>(options)?;
        Ok(Box::new(Base))
    },
};

struct Base;

impl PageSizing for Base {}

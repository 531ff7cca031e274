//! Mooncake's traces: a JSON object a line with `timestamp` (milliseconds), `input_length`, `output_length`, `hash_ids`.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::arrival::{Arrival, Found, HASHED_TOKENS, Wrong, tokens};

const KEYS: [&str; 4] = ["timestamp", "input_length", "output_length", "hash_ids"];

pub fn parse(text: &str) -> Result<Found, Wrong> {
    let (mut arrivals, mut without, mut bare) = (Vec::new(), 0u64, 0u64);
    let mut unused = BTreeSet::new();
    for (line, content) in text.lines().enumerate().filter(|(_, content)| !content.trim().is_empty()) {
        let object: Map<String, Value> = serde_json::from_str(content)
            .map_err(|error| (line + 1, format!("expected an object of JSON, found none: {error}")))?;
        let one = arrival(&object).map_err(|message| (line + 1, message))?;
        unused.extend(object.keys().filter(|key| !KEYS.contains(&key.as_str())).cloned());
        bare += u64::from(one.blocks.is_empty());
        if one.prompt > 0 && one.reply > 0 {
            arrivals.push(one);
        } else {
            without += 1;
        }
    }
    let mut notes = Vec::new();
    if without > 0 {
        notes.push(format!("{without} requests without a prompt or a reply are left out"));
    }
    if bare > 0 {
        notes.push(format!("{bare} requests have no `hash_ids`; they share no blocks of the cache"));
    }
    if !unused.is_empty() {
        let names: Vec<String> = unused.into_iter().collect();
        notes.push(format!("keys that are not used: {}", names.join(", ")));
    }
    Ok((arrivals, notes))
}

fn arrival(object: &Map<String, Value>) -> Result<Arrival, String> {
    let number = |key: &str| {
        let found = object.get(key).ok_or_else(|| format!("expected `{key}`, found none"))?;
        let value = found.as_f64().filter(|value| (0.0..1e15).contains(value));
        value.ok_or_else(|| format!("`{key}`: expected a number from 0 on, found {found}"))
    };
    let whole = |key: &str| {
        let found = object.get(key).ok_or_else(|| format!("expected `{key}`, found none"))?;
        let value = found.as_u64().ok_or_else(|| format!("`{key}`: expected a whole number, found {found}"))?;
        tokens(value, key)
    };
    let (prompt, reply) = (whole("input_length")?, whole("output_length")?);
    let blocks = match object.get("hash_ids") {
        None => Vec::new(),
        Some(Value::Array(ids)) => {
            let ids: Option<Vec<u64>> = ids.iter().map(Value::as_u64).collect();
            ids.ok_or_else(|| "`hash_ids`: expected whole numbers, found something else".to_owned())?
        }
        Some(other) => return Err(format!("`hash_ids`: expected a list, found {other}")),
    };
    let expected = prompt.div_ceil(HASHED_TOKENS) as usize;
    if object.contains_key("hash_ids") && blocks.len() != expected {
        let each = format!("one for each {HASHED_TOKENS} of {prompt} tokens");
        return Err(format!("`hash_ids`: expected {expected} numbers, {each}, found {}", blocks.len()));
    }
    Ok(Arrival { seconds: number("timestamp")? / 1000.0, prompt, reply, blocks })
}

//! Text of others shown as text: characters that move the cursor, change colours or reverse the direction become
//! escapes.

use std::borrow::Cow;

/// A text with control characters (except tabs and ends of lines) spelled out.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(is_unseen) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::new();
    for found in text.chars() {
        if is_unseen(found) { shown.extend(found.escape_unicode()) } else { shown.push(found) }
    }
    Cow::Owned(shown)
}

/// JSON whose strings have such characters as escapes, so that it reads as before.
pub fn escaped(json: &str) -> String {
    let mut shown = String::new();
    for found in json.chars() {
        if is_unseen(found) { shown += &format!("\\u{:04x}", u32::from(found)) } else { shown.push(found) }
    }
    shown
}

fn is_unseen(found: char) -> bool {
    let turns =
        matches!(found, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    turns || (found.is_control() && found != '\n' && found != '\t')
}

#[cfg(test)]
mod tests {
    use super::{escaped, visible};

    #[test]
    fn what_a_terminal_would_obey_is_spelled_out() {
        assert_eq!(visible("a\x1b[31m\u{9b}\u{202e}\tb\n"), "a\\u{1b}[31m\\u{9b}\\u{202e}\tb\n");
        assert_eq!(visible("grün"), "grün");
        assert_eq!(escaped("\"\u{9b}\u{202e}ü\""), "\"\\u009b\\u202eü\"");
    }
}

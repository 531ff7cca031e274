//! The order of launches: each runs once, one after another, as they are numbered.

use octavo_program::{Action, ActionId, Program};

/// Why there is no such program: the row that is wrong, if it is one, and the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Broken {
    pub row: Option<usize>,
    pub reason: String,
}

/// Checks that every launch is run by one action, and waits for the launch before it.
///
/// # Errors
/// The first action that runs a launch a second time or too early, or the first launch that nothing runs.
pub(crate) fn check_launches(program: &Program, launches: u32) -> Result<(), Broken> {
    // By action: how many launches, from the first on, are done before it ends.
    let mut done = vec![0u32; program.actions().len()];
    let mut order = program.order();
    let mut open: Vec<ActionId> = order.ready().collect();
    let mut run = vec![false; launches as usize];
    while let Some(id) = open.pop() {
        let ordered = &program.actions()[id.index()];
        let before = ordered.after.iter().map(|before| done[before.index()]).max().unwrap_or(0);
        done[id.index()] = before;
        if let Action::Launch { launch, .. } = ordered.action {
            check_turn(&run, launch, before).map_err(|reason| Broken { row: Some(id.index()), reason })?;
            run[launch as usize] = true;
            done[id.index()] = launch + 1;
        }
        order.done(id, &mut open);
    }
    match run.iter().position(|run| !run) {
        Some(launch) => Err(Broken { row: None, reason: format!("no action runs launch {launch}") }),
        None => Ok(()),
    }
}

fn check_turn(run: &[bool], launch: u32, before: u32) -> Result<(), String> {
    if run[launch as usize] {
        return Err(format!("launch {launch} is run by another action already"));
    }
    if before != launch {
        return Err(format!(
            "launch {launch} does not wait for launch {}; launches run one after another",
            launch.saturating_sub(1)
        ));
    }
    Ok(())
}

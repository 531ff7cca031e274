//! Switches between GPUs: a trunk from each towards the root and back.

use octavo_node::{NodeConfig, SwitchConfig};

use crate::engine::by_arrival::ByArrival;
use crate::fabric::direction::{Direction, LinkUse, Packet};

/// Trunks of switches, from each towards the root and back.
pub(super) struct Trunks {
    gpus_per_switch: usize,
    up: Vec<Direction>,
    down: Vec<Direction>,
    latency: u64,
    /// Where packets leave a switch in the order in which they came by one way.
    inputs: Option<Inputs>,
}

/// The heads of the inputs of switches: taken by a packet that leaves, or by one that waits for its way out.
struct Inputs {
    /// From each GPU.
    gpus: Vec<ByArrival>,
    /// Of the root, from each switch; and of each switch, from the root.
    up: Vec<ByArrival>,
    down: Vec<ByArrival>,
}

impl Inputs {
    fn new(gpus: usize, switches: usize) -> Self {
        let several = |count| (0..count).map(|_| ByArrival::default()).collect();
        Self { gpus: several(gpus), up: several(switches), down: several(switches) }
    }
}

impl Trunks {
    pub fn new(node: &NodeConfig, switches: &SwitchConfig) -> Self {
        let (gpus, gpus_per_switch) = (node.gpus as usize, switches.gpus as usize);
        let count = gpus.div_ceil(gpus_per_switch);
        let latency = node.clock.time_for(switches.across).0;
        let several = || Direction::several_as(count, switches.in_order);
        let inputs = switches.in_order.then(|| Inputs::new(gpus, count));
        Self { gpus_per_switch, up: several(), down: several(), latency, inputs }
    }

    /// Passes a packet that begins to leave the sender's link at `began` on to the receiver's, `into`; when it begins to
    /// enter that.
    pub fn cross(
        &mut self,
        now: u64,
        began: u64,
        (from, to): (usize, usize),
        packet: Packet,
        into: &mut Direction,
    ) -> u64 {
        let (near, far) = (from / self.gpus_per_switch, to / self.gpus_per_switch);
        // A way out of a switch has an input for each GPU, and one for the root or the trunk; but not its own.
        let (others, others_at_root) = (self.gpus_per_switch as u64 - 1, (self.up.len() as u64).saturating_sub(2));
        let Self { up, down, latency, inputs, .. } = self;
        let mut inputs = inputs.as_mut();
        let mut input = inputs.as_mut().map(|inputs| (&mut inputs.gpus[from], others));
        if near == far {
            return pass(now, input, into, began, packet);
        }
        let at_root = pass(now, input.take(), &mut up[near], began, packet);
        let input = inputs.as_mut().map(|inputs| (&mut inputs.up[near], others_at_root));
        let below = pass(now, input, &mut down[far], at_root, packet) + *latency;
        pass(now, inputs.map(|inputs| (&mut inputs.down[far], others)), into, below, packet)
    }

    /// Use of all of them.
    pub fn usage(&self) -> impl Iterator<Item = LinkUse> + '_ {
        let up = self.up.iter().zip(1..).map(|(trunk, switch)| trunk.usage(format!("switch{switch}->root")));
        let down = self.down.iter().zip(1..).map(|(trunk, switch)| trunk.usage(format!("root->switch{switch}")));
        up.chain(down)
    }
}

/// When a packet that comes to a switch at `came` begins to leave by `out`. If its input is in order, it leaves no
/// sooner than those that came before it. It occupies the head of its input until it has left, but waits there no longer
/// than its own length for each of the `others`, the inputs from which packets may want the same way out: the switch
/// takes turns, piece by piece (MGPUSim, `noc/networking/arbitration/xbar.go`). A wait beyond that is the way out's
/// backlog, which no head of an input can cause.
fn pass(now: u64, input: Option<(&mut ByArrival, u64)>, out: &mut Direction, came: u64, packet: Packet) -> u64 {
    let Some((input, others)) = input else { return out.send(now, came, packet) - packet.duration };
    let first = input.turn(came);
    let leaves = out.send(now, first, packet) - packet.duration;
    let waits = (leaves - first).min(others * packet.duration);
    input.take_in(now, came, waits + packet.duration);
    leaves
}

#[cfg(test)]
mod tests {
    use octavo_units::Bandwidth;

    use super::*;
    use crate::fabric::direction::Rate;
    use crate::fabric::traffic::Traffic;

    /// When two packets of 100 B that come by one way leave by two others, of which the first one's is taken.
    fn behind_one_that_waits(input: Option<&mut ByArrival>) -> [u64; 2] {
        let packet = |bytes| Rate::new(Bandwidth(1_000_000_000_000)).packet(bytes, Traffic::Lines);
        let (mut taken, mut free) = (Direction::in_order(), Direction::in_order());
        taken.send(0, 0, packet(130));
        match input {
            None => [pass(0, None, &mut taken, 50, packet(100)), pass(0, None, &mut free, 60, packet(100))],
            Some(input) => [(&mut taken, 50), (&mut free, 60)]
                .map(|(out, came)| pass(0, Some((&mut *input, 1)), out, came, packet(100))),
        }
    }

    #[test]
    fn what_waits_for_its_way_out_holds_up_those_behind_it_where_inputs_are_in_order() {
        assert_eq!(behind_one_that_waits(None), [130, 60]);
        assert_eq!(behind_one_that_waits(Some(&mut ByArrival::default())), [130, 230]);
    }

    #[test]
    fn a_head_waits_no_longer_than_its_own_length_for_another_input() {
        let packet = |bytes| Rate::new(Bandwidth(1_000_000_000_000)).packet(bytes, Traffic::Lines);
        let (mut input, mut out) = (ByArrival::default(), Direction::in_order());
        out.send(0, 0, packet(9_000));
        assert_eq!(pass(0, Some((&mut input, 1)), &mut out, 0, packet(100)), 9_000, "behind the backlog");
        assert_eq!(input.turn(0), 200, "its own length once for itself and once for the other input");
    }
}

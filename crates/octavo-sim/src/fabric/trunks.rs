//! Switches between GPUs: a trunk from each towards the root and back.

use octavo_node::{NodeConfig, SwitchConfig};

use crate::engine::lane::Lane;
use crate::fabric::direction::{BUCKET_SHIFT, Direction, LinkUse, Packet};

/// Trunks of switches, from each towards the root and back.
pub(super) struct Trunks {
    gpus_per_switch: usize,
    up: Vec<Direction>,
    down: Vec<Direction>,
    latency: u64,
    /// Where packets leave a switch in the order in which they came by one way.
    inputs: Option<Inputs>,
}

/// When the head of each input of a switch is taken: by a packet that leaves, or by one that waits for its way out.
struct Inputs {
    /// From each GPU.
    gpus: Vec<Lane>,
    /// Of the root, from each switch; and of each switch, from the root.
    up: Vec<Lane>,
    down: Vec<Lane>,
}

impl Inputs {
    fn new(gpus: usize, switches: usize) -> Self {
        let several = |count| (0..count).map(|_| Lane::new(BUCKET_SHIFT)).collect();
        Self { gpus: several(gpus), up: several(switches), down: several(switches) }
    }
}

impl Trunks {
    pub fn new(node: &NodeConfig, switches: &SwitchConfig) -> Self {
        let (gpus, gpus_per_switch) = (node.gpus as usize, switches.gpus as usize);
        let count = gpus.div_ceil(gpus_per_switch);
        let latency = node.clock.time_for(switches.across).0;
        let inputs = switches.in_order.then(|| Inputs::new(gpus, count));
        Self { gpus_per_switch, up: Direction::several(count), down: Direction::several(count), latency, inputs }
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
        let Self { up, down, latency, inputs, .. } = self;
        let mut inputs = inputs.as_mut();
        let mut input = inputs.as_mut().map(|inputs| &mut inputs.gpus[from]);
        if near == far {
            return pass(now, input, into, began, packet);
        }
        let at_root = pass(now, input.take(), &mut up[near], began, packet);
        let input = inputs.as_mut().map(|inputs| &mut inputs.up[near]);
        let below = pass(now, input, &mut down[far], at_root, packet) + *latency;
        pass(now, inputs.map(|inputs| &mut inputs.down[far]), into, below, packet)
    }

    /// Use of all of them.
    pub fn usage(&self) -> impl Iterator<Item = LinkUse> + '_ {
        let up = self.up.iter().zip(1..).map(|(trunk, switch)| trunk.usage(format!("switch{switch}->root")));
        let down = self.down.iter().zip(1..).map(|(trunk, switch)| trunk.usage(format!("root->switch{switch}")));
        up.chain(down)
    }
}

/// When a packet that comes to a switch at `came` begins to leave by `out`. If its input is in order, it leaves no
/// sooner than those that came before it, and those behind it wait as long.
fn pass(now: u64, input: Option<&mut Lane>, out: &mut Direction, came: u64, packet: Packet) -> u64 {
    let Some(input) = input else { return out.send(now, came, packet) - packet.duration };
    let first = input.reserve(now, came, packet.duration) - packet.duration;
    let leaves = out.send(now, first, packet) - packet.duration;
    if leaves > first {
        input.reserve(now, first, leaves - first);
    }
    leaves
}

#[cfg(test)]
mod tests {
    use octavo_units::Bandwidth;

    use super::*;
    use crate::fabric::direction::Rate;
    use crate::fabric::traffic::Traffic;

    /// When two packets that come by one way leave by two others, of which the first one's is taken.
    fn behind_one_that_waits(mut input: Option<Lane>) -> [u64; 2] {
        let packet = |bytes| Rate::new(Bandwidth(1_000_000_000_000)).packet(bytes, Traffic::Lines);
        let (mut taken, mut free) = (Direction::new(), Direction::new());
        taken.send(0, 0, packet(9_000));
        let first = pass(0, input.as_mut(), &mut taken, 0, packet(100));
        [first, pass(0, input.as_mut(), &mut free, 200, packet(100))]
    }

    #[test]
    fn what_waits_for_its_way_out_holds_up_those_behind_it_where_inputs_are_in_order() {
        assert_eq!(behind_one_that_waits(None), [9_000, 200]);
        assert_eq!(behind_one_that_waits(Some(Lane::new(BUCKET_SHIFT))), [9_000, 9_100]);
    }
}

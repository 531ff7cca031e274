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
    /// If packets leave a switch in the order of their arrival by one way.
    inputs: Option<Inputs>,
}

struct Inputs {
    /// From each GPU.
    gpus: Vec<Input>,
    /// From the root's side, the inputs from each switch; and for each switch, the one from the root.
    up: Vec<Input>,
    down: Vec<Input>,
}

/// An input of a switch.
struct Input {
    /// Taken by a packet that leaves, or that waits for its output.
    head: ByArrival,
    /// Inputs from which others may want the same way out. No packet leaves the way that it came.
    others: u64,
}

impl Inputs {
    fn new(gpus: usize, gpus_per_switch: usize) -> Self {
        let switches = gpus.div_ceil(gpus_per_switch);
        let of_switch = |switch: usize| {
            let gpus = (gpus - switch * gpus_per_switch).min(gpus_per_switch);
            Input::among(gpus + usize::from(switches > 1))
        };
        Self {
            gpus: (0..gpus).map(|gpu| of_switch(gpu / gpus_per_switch)).collect(),
            up: (0..switches).map(|_| Input::among(switches)).collect(),
            down: (0..switches).map(of_switch).collect(),
        }
    }
}

impl Input {
    /// One of this many inputs of a switch: all but itself and that of the output are its rivals.
    fn among(inputs: usize) -> Self {
        Self { head: ByArrival::default(), others: inputs.saturating_sub(2) as u64 }
    }
}

impl Trunks {
    pub fn new(node: &NodeConfig, switches: &SwitchConfig) -> Self {
        let (gpus, gpus_per_switch) = (node.gpus as usize, switches.gpus as usize);
        let several = || Direction::several_as(gpus.div_ceil(gpus_per_switch), switches.in_order);
        let latency = node.clock.time_for(switches.across).0;
        let inputs = switches.in_order.then(|| Inputs::new(gpus, gpus_per_switch));
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

    /// The latency from one GPU's switch to another's.
    pub fn across(&self, (from, to): (usize, usize)) -> u64 {
        if from / self.gpus_per_switch == to / self.gpus_per_switch { 0 } else { self.latency }
    }

    /// Use of all of them.
    pub fn usage(&self) -> impl Iterator<Item = LinkUse> + '_ {
        let up = self.up.iter().zip(1..).map(|(trunk, switch)| trunk.usage(format!("switch{switch}->root")));
        let down = self.down.iter().zip(1..).map(|(trunk, switch)| trunk.usage(format!("root->switch{switch}")));
        up.chain(down)
    }
}

/// The time when a packet that arrives at a switch at `came` begins to leave by `out`. If its input is in order, those
/// that came before it pass the head of the input first. It occupies that head itself until it leaves, but no longer
/// than its own length for each of the other inputs: the switch takes turns, piece by piece (MGPUSim,
/// `noc/networking/arbitration/xbar.go`). After that it waits in the queue of its output. Packets behind it may then
/// leave by other outputs.
fn pass(now: u64, input: Option<&mut Input>, out: &mut Direction, came: u64, packet: Packet) -> u64 {
    let Some(Input { head, others }) = input else { return out.send(now, came, packet) - packet.duration };
    let first = head.turn(came);
    let leaves = out.send(now, first, packet) - packet.duration;
    let waits = (leaves - first).min(*others * packet.duration);
    head.take_in(now, came, waits + packet.duration);
    leaves
}

#[cfg(test)]
mod tests {
    use octavo_units::Bandwidth;

    use super::*;
    use crate::engine::rate::Rate;
    use crate::fabric::traffic::Traffic;

    /// When two packets of 100 B that come by one way leave by two others, of which the first one's is taken.
    fn behind_one_that_waits(input: Option<&mut Input>) -> [u64; 2] {
        let packet = |bytes| Rate::new(Bandwidth(1_000_000_000_000)).packet(bytes, Traffic::Lines);
        let ways = if input.is_some() { Direction::in_order } else { Direction::new };
        let (mut taken, mut free) = (ways(), ways());
        taken.send(0, 0, packet(130));
        match input {
            None => [pass(0, None, &mut taken, 50, packet(100)), pass(0, None, &mut free, 60, packet(100))],
            Some(input) => [(&mut taken, 50), (&mut free, 60)]
                .map(|(out, came)| pass(0, Some(&mut *input), out, came, packet(100))),
        }
    }

    #[test]
    fn what_waits_for_its_way_out_holds_up_those_behind_it_where_inputs_are_in_order() {
        assert_eq!(behind_one_that_waits(None), [130, 60]);
        assert_eq!(behind_one_that_waits(Some(&mut Input::among(3))), [130, 230]);
    }

    #[test]
    fn a_head_waits_no_longer_than_its_own_length_for_another_input() {
        let packet = |bytes| Rate::new(Bandwidth(1_000_000_000_000)).packet(bytes, Traffic::Lines);
        let (mut input, mut out) = (Input::among(3), Direction::in_order());
        out.send(0, 0, packet(9_000));
        assert_eq!(pass(0, Some(&mut input), &mut out, 0, packet(100)), 9_000, "behind the backlog");
        assert_eq!(input.head.turn(0), 200, "its own length once for itself and once for the other input");
    }

    #[test]
    fn other_inputs_are_those_from_which_packets_may_want_the_same_way_out() {
        let others = |gpus: usize, gpus_per_switch: usize| {
            let inputs = Inputs::new(gpus, gpus_per_switch);
            let of = |inputs: &[Input]| [inputs[0].others, inputs[inputs.len() - 1].others];
            (of(&inputs.gpus), of(&inputs.down), inputs.up[0].others)
        };
        assert_eq!(others(4, 2), ([1, 1], [1, 1], 0), "the neighbour's or the trunk's; the neighbour's");
        assert_eq!(others(6, 4), ([3, 1], [3, 1], 0), "the last switch has two GPUs");
        assert_eq!(others(8, 2), ([1, 1], [1, 1], 2));
        assert_eq!(others(4, 16), ([2, 2], [2, 2], 0), "one switch has no trunk");
    }
}

//! AES with keys of 256 bits (FIPS 197), round by round, as the lanes of the kernel work on their blocks.

/// Rounds, of which each looks every byte of the state up.
pub const ROUNDS: usize = 14;
/// Bytes of a block, and of the key of a round.
pub const BLOCK: usize = 16;
/// Words of the key, and of all round keys.
const KEY_WORDS: usize = 8;
const WORDS: usize = BLOCK / 4 * (ROUNDS + 1);

/// A block as the standard numbers its bytes: column by column.
pub type State = [u8; BLOCK];

/// A key, expanded, and the table that bytes are substituted by.
pub struct Cipher {
    table: [u8; 256],
    keys: [State; ROUNDS + 1],
}

impl Cipher {
    /// Expands a key.
    #[must_use]
    pub fn new(key: &[u8; 32]) -> Self {
        let table = substitutes();
        Self { keys: expanded(key, &table), table }
    }

    /// A whole block.
    #[must_use]
    pub fn encrypt(&self, block: State) -> State {
        let state = self.started(block);
        (1..=ROUNDS).fold(state, |state, round| self.round(state, round))
    }

    /// A block before its first round; its bytes are what that round looks up.
    #[must_use]
    pub fn started(&self, block: State) -> State {
        added(block, &self.keys[0])
    }

    /// The result of a round on a state, `round` from 1 to `ROUNDS`.
    #[must_use]
    pub fn round(&self, state: State, round: usize) -> State {
        let substituted = state.map(|byte| self.table[usize::from(byte)]);
        let shifted = std::array::from_fn(|at| substituted[(at + 4 * (at % 4)) % BLOCK]);
        let mixed = if round == ROUNDS { shifted } else { mixed(&shifted) };
        added(mixed, &self.keys[round])
    }
}

fn added(state: State, key: &State) -> State {
    std::array::from_fn(|at| state[at] ^ key[at])
}

/// Each column times 2, 3, 1, 1 rotated.
fn mixed(state: &State) -> State {
    std::array::from_fn(|at| {
        let byte = |row: usize| state[at / 4 * 4 + (at + row) % 4];
        doubled(byte(0)) ^ doubled(byte(1)) ^ byte(1) ^ byte(2) ^ byte(3)
    })
}

/// Times x modulo x^8 + x^4 + x^3 + x + 1.
fn doubled(byte: u8) -> u8 {
    (byte << 1) ^ ((byte >> 7) * 0x1B)
}

/// The substitute of each byte: its inverse, of which bits are mixed. Powers of 3 and of its inverse go side by side.
fn substitutes() -> [u8; 256] {
    let mut table = [0x63; 256];
    let (mut power, mut inverse) = (1_u8, 1_u8);
    loop {
        let turned = (1..5).fold(inverse, |sum, by| sum ^ inverse.rotate_left(by));
        table[usize::from(power)] = turned ^ 0x63;
        power ^= doubled(power);
        inverse ^= inverse << 1;
        inverse ^= inverse << 2;
        inverse ^= inverse << 4;
        inverse ^= (inverse >> 7) * 0x09;
        if power == 1 {
            return table;
        }
    }
}

fn expanded(key: &[u8; 32], table: &[u8; 256]) -> [State; ROUNDS + 1] {
    let mut words = [[0_u8; 4]; WORDS];
    for (word, bytes) in words.iter_mut().zip(key.chunks_exact(4)) {
        word.copy_from_slice(bytes);
    }
    let mut constant = 1_u8;
    for at in KEY_WORDS..WORDS {
        let mut word = words[at - 1];
        if at % KEY_WORDS == 0 {
            word.rotate_left(1);
        }
        if at % (KEY_WORDS / 2) == 0 {
            word = word.map(|byte| table[usize::from(byte)]);
        }
        if at % KEY_WORDS == 0 {
            word[0] ^= constant;
            constant = doubled(constant);
        }
        words[at] = std::array::from_fn(|byte| word[byte] ^ words[at - KEY_WORDS][byte]);
    }
    std::array::from_fn(|round| std::array::from_fn(|at| words[4 * round + at / 4][at % 4]))
}

//! The effect of an NVIDIA machine instruction, as far as a trace needs it.

/// Shared memory ends below this offset, where no global memory begins: the form of recorders' shared addresses.
pub(super) const SHARED_END: u64 = 1 << 24;
/// Addresses, at most: no GPU's virtual address space is larger, and sums with sizes cannot overflow.
pub(super) const MAX_ADDRESS: u64 = 1 << 57;
/// Bytes that a lane moves unless the opcode says otherwise.
const WORD_BYTES: u16 = 4;

/// The class of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// Load from global or generic memory.
    Load,
    /// Copy from global to shared memory that nothing waits for by register.
    AsyncLoad,
    /// Store to global or generic memory.
    Store,
    /// Atomic or reduction on global or generic memory.
    Atomic,
    /// Shared memory, and local memory: the thread's own, whose place in memory no trace gives.
    LocalData,
    VectorAlu,
    /// Uniform datapath, constant loads, special instructions.
    ScalarAlu,
    Branch,
    Barrier,
    /// Waits until earlier accesses are visible.
    Fence,
    /// Closes a group of asynchronous copies.
    CopyGroup,
    /// Waits for groups of asynchronous copies.
    CopyWait,
    Exit,
    /// Texture, surface and bulk accesses: addresses are not recorded.
    Unrecorded,
    Unknown,
}

/// An opcode with the meaning of its suffixes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Opcode {
    pub class: Class,
    /// Bytes that each lane moves, if a suffix says so.
    pub bytes: Option<u16>,
    pub operands: Operands,
}

/// The number of registers of operands; traces name the first of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operands {
    /// All as many.
    Same(u8),
    /// The result and the third source are pairs.
    Wide,
    /// The first source is an address.
    Memory { address: u8, data: u8 },
    /// All sources are addresses.
    Copy,
}

impl Operands {
    /// Registers of the destination.
    pub fn destination(self) -> u8 {
        match self {
            Self::Same(count) | Self::Memory { data: count, .. } => count,
            Self::Wide => 2,
            Self::Copy => 0,
        }
    }

    /// Registers of source `index`, from 0.
    pub fn source(self, index: usize) -> u8 {
        match (self, index) {
            (Self::Same(count), _) | (Self::Memory { address: count, .. }, 0) => count,
            (Self::Memory { data, .. }, _) => data,
            (Self::Wide, 2) | (Self::Copy, _) => 2,
            (Self::Wide, _) => 1,
        }
    }
}

impl Opcode {
    /// Parses an opcode such as `LDG.E.64.CONSTANT`.
    pub fn new(text: &[u8]) -> Self {
        let mut parts = text.split(|byte| *byte == b'.');
        let base = parts.next().unwrap_or_default();
        let class = match class(base) {
            // Arriving alone does not wait.
            Class::Barrier if parts.clone().any(|suffix| suffix == b"ARV") => Class::ScalarAlu,
            class => class,
        };
        let bytes = parts.clone().find_map(suffix_bytes);
        Self { class, bytes, operands: operands(class, base, bytes, parts) }
    }

    /// Bytes that each lane moves when the trace says `recorded`, which recorders sometimes get wrong.
    pub fn bytes_or(&self, recorded: u16) -> u16 {
        self.bytes.unwrap_or(if recorded == 0 { WORD_BYTES } else { recorded })
    }
}

fn suffix_bytes(suffix: &[u8]) -> Option<u16> {
    match suffix {
        b"8" | b"U8" | b"S8" => Some(1),
        b"16" | b"U16" | b"S16" => Some(2),
        b"32" | b"U32" | b"S32" => Some(4),
        b"64" | b"U64" | b"S64" => Some(8),
        b"128" => Some(16),
        b"256" => Some(32),
        _ => None,
    }
}

fn operands<'a>(
    class: Class,
    base: &[u8],
    bytes: Option<u16>,
    mut suffixes: impl Iterator<Item = &'a [u8]> + Clone,
) -> Operands {
    let data = bytes.unwrap_or(WORD_BYTES).div_ceil(4) as u8;
    match class {
        Class::LocalData if base == b"LDSM" || base == b"STSM" => Operands::Memory { address: 1, data: 4 },
        Class::LocalData => Operands::Memory { address: 1, data },
        Class::Load | Class::Store | Class::Atomic => Operands::Memory { address: 2, data },
        Class::AsyncLoad => Operands::Copy,
        _ if base.ends_with(b"MMA") => Operands::Same(4),
        _ if base.starts_with(b"D") || suffixes.clone().any(|suffix| suffix.ends_with(b"64")) => Operands::Same(2),
        _ if suffixes.any(|suffix| suffix == b"WIDE") => Operands::Wide,
        _ => Operands::Same(1),
    }
}

fn class(base: &[u8]) -> Class {
    match base {
        b"LDG" | b"LD" => Class::Load,
        b"LDGSTS" => Class::AsyncLoad,
        b"STG" | b"ST" => Class::Store,
        b"ATOM" | b"ATOMG" | b"RED" | b"REDG" => Class::Atomic,
        b"LDS" | b"STS" | b"ATOMS" | b"LDSM" | b"STSM" | b"LDL" | b"STL" => Class::LocalData,
        b"BAR" => Class::Barrier,
        b"MEMBAR" => Class::Fence,
        b"LDGDEPBAR" => Class::CopyGroup,
        b"DEPBAR" => Class::CopyWait,
        b"EXIT" => Class::Exit,
        b"BRA" | b"BRX" | b"BRXU" | b"JMP" | b"JMX" | b"JMXU" | b"CALL" | b"JCAL" | b"RET" | b"BRK" | b"CONT"
        | b"RTT" | b"SYNC" | b"PRET" | b"LONGJMP" => Class::Branch,
        b"TEX" | b"TEXS" | b"TLD" | b"TLDS" | b"TLD4" | b"TLD4S" | b"TMML" | b"TXD" | b"TXQ" | b"SULD" | b"SUST"
        | b"SURED" | b"SUATOM" | b"SULEA" => Class::Unrecorded,
        _ if base.starts_with(b"UTMA") || base.starts_with(b"UBLK") => Class::Unrecorded,
        _ if SCALAR.binary_search(&base).is_ok() => Class::ScalarAlu,
        _ if VECTOR.binary_search(&base).is_ok() => Class::VectorAlu,
        _ => Class::Unknown,
    }
}

/// Instructions of the uniform datapath and those without lanes, sorted.
static SCALAR: &[&[u8]] = &[
    b"ACQBULK",
    b"ACQSHMINIT",
    b"ARRIVES",
    b"B2R",
    b"BMOV",
    b"BPT",
    b"BREAK",
    b"BSSY",
    b"BSYNC",
    b"CCTL",
    b"CCTLL",
    b"CCTLT",
    b"CGABAR_ARV",
    b"CGABAR_GET",
    b"CGABAR_WAIT",
    b"CGAERRBAR",
    b"CREATEPOLICY",
    b"ELECT",
    b"ENDCOLLECTIVE",
    b"ERRBAR",
    b"FENCE",
    b"GETLMEMBASE",
    b"KILL",
    b"LDC",
    b"LDCU",
    b"LEPC",
    b"NANOSLEEP",
    b"NOP",
    b"PBK",
    b"PCNT",
    b"PMTRIG",
    b"PREEXIT",
    b"R2B",
    b"R2UR",
    b"REDUX",
    b"RPCMOV",
    b"S2UR",
    b"SETCTAID",
    b"SETLMEMBASE",
    b"SSY",
    b"SYNCS",
    b"UBMSK",
    b"UBREV",
    b"UCGABAR_ARV",
    b"UCGABAR_WAIT",
    b"UCLEA",
    b"UF2FP",
    b"UFLO",
    b"UIADD3",
    b"UIMAD",
    b"UISETP",
    b"ULDC",
    b"ULEA",
    b"ULEPC",
    b"ULOP",
    b"ULOP3",
    b"ULOP32I",
    b"UMEMSETS",
    b"UMOV",
    b"UP2UR",
    b"UPLOP3",
    b"UPOPC",
    b"UPRMT",
    b"UPSETP",
    b"UR2UP",
    b"USEL",
    b"USETMAXREG",
    b"USGXT",
    b"USHF",
    b"USHL",
    b"USHR",
    b"VOTEU",
    b"WARPGROUP",
    b"WARPGROUPSET",
    b"WARPSYNC",
    b"YIELD",
];

/// Instructions of lanes that touch registers alone, sorted.
static VECTOR: &[&[u8]] = &[
    b"BFE",
    b"BFI",
    b"BGMMA",
    b"BMMA",
    b"BMSK",
    b"BREV",
    b"CS2R",
    b"CSET",
    b"CSETP",
    b"DADD",
    b"DFMA",
    b"DMMA",
    b"DMNMX",
    b"DMUL",
    b"DSET",
    b"DSETP",
    b"F2F",
    b"F2FP",
    b"F2I",
    b"F2IP",
    b"FADD",
    b"FADD32I",
    b"FCHK",
    b"FCMP",
    b"FFMA",
    b"FFMA32I",
    b"FLO",
    b"FMNMX",
    b"FMUL",
    b"FMUL32I",
    b"FRND",
    b"FSEL",
    b"FSET",
    b"FSETP",
    b"FSWZ",
    b"FSWZADD",
    b"HADD2",
    b"HADD2_32",
    b"HFMA2",
    b"HFMA2_32",
    b"HGMMA",
    b"HMMA",
    b"HMNMX2",
    b"HMUL2",
    b"HMUL2_32",
    b"HSET2",
    b"HSETP2",
    b"I2F",
    b"I2FP",
    b"I2I",
    b"I2IP",
    b"IABS",
    b"IADD",
    b"IADD3",
    b"IADD32I",
    b"ICMP",
    b"IDP",
    b"IDP4A",
    b"IGMMA",
    b"IMAD",
    b"IMADSP",
    b"IMMA",
    b"IMNMX",
    b"IMUL",
    b"IMUL32I",
    b"ISAD",
    b"ISCADD",
    b"ISCADD32I",
    b"ISET",
    b"ISETP",
    b"LEA",
    b"LOP",
    b"LOP3",
    b"LOP32I",
    b"MATCH",
    b"MOV",
    b"MOV32I",
    b"MOVM",
    b"MUFU",
    b"P2R",
    b"PLOP3",
    b"POPC",
    b"PRMT",
    b"PSET",
    b"PSETP",
    b"QGMMA",
    b"QSPC",
    b"R2P",
    b"RRO",
    b"S2R",
    b"SEL",
    b"SGXT",
    b"SHF",
    b"SHFL",
    b"SHL",
    b"SHR",
    b"VABSDIFF",
    b"VABSDIFF4",
    b"VADD",
    b"VHMNMX",
    b"VIADD",
    b"VIADDMNMX",
    b"VIMNMX",
    b"VIMNMX3",
    b"VMAD",
    b"VMNMX",
    b"VOTE",
    b"VSET",
    b"VSETP",
    b"VSHL",
    b"VSHR",
    b"XMAD",
];

#[cfg(test)]
mod tests {
    use super::{Class, Opcode, Operands, SCALAR, VECTOR};

    #[test]
    fn tables_are_sorted() {
        assert!(SCALAR.is_sorted_by(|a, b| a < b) && VECTOR.is_sorted_by(|a, b| a < b));
    }

    #[test]
    fn classes_widths_and_registers() {
        let memory = |address, data| Operands::Memory { address, data };
        for (text, class, bytes, operands) in [
            ("LDG.E.64", Class::Load, Some(8), memory(2, 2)),
            ("LDG.E.128.CONSTANT.SYS", Class::Load, Some(16), memory(2, 4)),
            ("LDG.E.U8", Class::Load, Some(1), memory(2, 1)),
            ("LDGSTS.E.BYPASS.LTC128B.128", Class::AsyncLoad, Some(16), Operands::Copy),
            ("STG.E", Class::Store, None, memory(2, 1)),
            ("RED.E.ADD.F32.FTZ.RN.STRONG.GPU", Class::Atomic, None, memory(2, 1)),
            ("LDSM.16.M88.4", Class::LocalData, Some(2), memory(1, 4)),
            ("IMAD.WIDE.U32", Class::VectorAlu, Some(4), Operands::Wide),
            ("DFMA", Class::VectorAlu, None, Operands::Same(2)),
            ("F2F.F64.F32", Class::VectorAlu, None, Operands::Same(2)),
            ("HMMA.16816.F32", Class::VectorAlu, None, Operands::Same(4)),
            ("ULDC.64", Class::ScalarAlu, Some(8), Operands::Same(2)),
            ("BAR.SYNC.DEFER_BLOCKING", Class::Barrier, None, Operands::Same(1)),
            ("BAR.ARV", Class::ScalarAlu, None, Operands::Same(1)),
            ("UTMALDG.2D", Class::Unrecorded, None, Operands::Same(1)),
            ("FROB.X", Class::Unknown, None, Operands::Same(1)),
            ("", Class::Unknown, None, Operands::Same(1)),
        ] {
            assert_eq!(Opcode::new(text.as_bytes()), Opcode { class, bytes, operands }, "{text}");
        }
        let sources = |operands: Operands| [0, 1, 2].map(|index| operands.source(index));
        assert_eq!((sources(Operands::Wide), sources(memory(2, 4))), ([1, 1, 2], [2, 4, 4]));
    }
}

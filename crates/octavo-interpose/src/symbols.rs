//! Which parameters of a kernel are addresses, from its name as C++ compilers mangle it (the Itanium C++ ABI): before
//! CUDA 12.4 nothing else is known about them.

/// Whether each parameter of a function is a pointer or a reference; none if the name does not say.
pub fn pointers(name: &str) -> Option<Vec<bool>> {
    let mut reader = Reader { rest: name.strip_prefix("_Z")?.as_bytes(), known: Vec::new(), arguments: Vec::new() };
    let is_template = reader.name()?;
    if is_template {
        reader.parameter()?; // What it returns.
    }
    let mut found = Vec::new();
    while !reader.rest.is_empty() && !matches!(reader.rest[0], b'.' | b'E') {
        found.push(reader.parameter()?);
    }
    // A function without parameters has one of type `void`.
    (reader.rest.first() != Some(&b'E'))
        .then(|| if name.ends_with('v') && found.len() == 1 { Vec::new() } else { found })
}

/// Reads a name. `known` are the types and names that later parts refer to: whether each is a pointer.
struct Reader<'a> {
    rest: &'a [u8],
    known: Vec<bool>,
    /// The template arguments of the function.
    arguments: Vec<bool>,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.rest.first().copied()
    }

    fn take(&mut self) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*first)
    }

    fn takes(&mut self, expected: u8) -> bool {
        let is_there = self.peek() == Some(expected);
        if is_there {
            self.take();
        }
        is_there
    }

    fn number(&mut self) -> Option<usize> {
        let digits = self.rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (number, rest) = self.rest.split_at(digits);
        self.rest = rest;
        std::str::from_utf8(number).ok()?.parse().ok()
    }

    /// A name with its length before it.
    fn source_name(&mut self) -> Option<()> {
        let length = self.number()?;
        self.rest = self.rest.get(length..)?;
        Some(())
    }

    /// The name of the function; whether it ends in template arguments.
    fn name(&mut self) -> Option<bool> {
        if self.takes(b'N') {
            return self.nested(true);
        }
        self.takes(b'L'); // Of one file.
        self.source_name()?;
        if self.peek() != Some(b'I') {
            return Some(false);
        }
        self.known.push(false);
        self.arguments = self.template_arguments()?;
        Some(true)
    }

    /// Parts of a name within others, up to `E`; whether they end in template arguments. The whole is known later if it
    /// is a type's, and not if it is the function's.
    fn nested(&mut self, of_function: bool) -> Option<bool> {
        while matches!(self.peek()?, b'r' | b'V' | b'K') {
            self.take();
        }
        let mut is_template = false;
        loop {
            match self.peek()? {
                b'E' => break,
                b'I' => {
                    let arguments = self.template_arguments()?;
                    if of_function {
                        self.arguments = arguments;
                    }
                    is_template = true;
                    if self.peek() == Some(b'E') && of_function {
                        break;
                    }
                    self.known.push(false);
                }
                b'S' => {
                    self.substitution()?;
                    is_template = false;
                }
                b'L' => {
                    self.take();
                }
                _ => {
                    self.source_name()?;
                    is_template = false;
                    if self.peek() == Some(b'E') && of_function {
                        break;
                    }
                    self.known.push(false);
                }
            }
        }
        self.take();
        Some(is_template)
    }

    fn template_arguments(&mut self) -> Option<Vec<bool>> {
        self.take();
        let mut found = Vec::new();
        while !self.takes(b'E') {
            found.push(match self.peek()? {
                b'L' => self.literal()?,
                b'J' => {
                    found.extend(self.template_arguments()?);
                    continue;
                }
                b'X' => return None,
                _ => self.parameter()?,
            });
        }
        Some(found)
    }

    /// A value among template arguments.
    fn literal(&mut self) -> Option<bool> {
        self.take();
        if self.peek()? == b'_' {
            return None;
        }
        self.parameter()?;
        while self.take()? != b'E' {}
        Some(false)
    }

    /// The part that was read before; `S` is next.
    fn substitution(&mut self) -> Option<bool> {
        self.take();
        match self.take()? {
            b'_' => self.known.first().copied(),
            b't' => {
                self.source_name()?;
                self.known.push(false);
                Some(false)
            }
            b'a' | b'b' | b's' | b'i' | b'o' | b'd' => Some(false),
            first => {
                let mut number = usize::try_from(char::from(first).to_digit(36)?).ok()?;
                loop {
                    match self.take()? {
                        b'_' => break,
                        digit => number = number * 36 + usize::try_from(char::from(digit).to_digit(36)?).ok()?,
                    }
                }
                self.known.get(number + 1).copied()
            }
        }
    }

    /// A type: whether it is a pointer.
    fn parameter(&mut self) -> Option<bool> {
        let is_pointer = match self.peek()? {
            b'P' | b'R' | b'O' => {
                self.take();
                self.parameter()?;
                true
            }
            b'K' | b'V' | b'r' => {
                self.take();
                self.parameter()?
            }
            b'S' => {
                let found = self.substitution()?;
                if self.peek() != Some(b'I') {
                    return Some(found);
                }
                self.template_arguments()?;
                false
            }
            b'T' => {
                self.take();
                let number = if self.peek()? == b'_' { 0 } else { self.number()? + 1 };
                self.takes(b'_').then_some(())?;
                *self.arguments.get(number)?
            }
            b'N' => {
                self.take();
                self.nested(false)?;
                return Some(false);
            }
            b'0'..=b'9' => {
                self.source_name()?;
                if self.peek() == Some(b'I') {
                    self.known.push(false);
                    self.template_arguments()?;
                }
                false
            }
            b'D' => return self.take().and(self.two_letters()),
            letter if letter.is_ascii_lowercase() => return self.take().map(|_| false),
            _ => return None,
        };
        self.known.push(is_pointer);
        Some(is_pointer)
    }

    /// A type of the language that has two letters, `D` before it.
    fn two_letters(&mut self) -> Option<bool> {
        match self.take()? {
            b'n' | b'h' | b'i' | b's' | b'u' | b'a' | b'd' | b'e' | b'f' => Some(false),
            b'F' => {
                self.number()?;
                self.takes(b'_').then_some(false)
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::pointers;

    #[test]
    fn names_tell_which_parameters_are_addresses() {
        let cases: [(&str, &[bool]); 12] = [
            ("_Z12atax_kernel1PfS_S_", &[true, true, true]),
            (
                "_Z14calculate_tempiPfS_S_iiiiffffff",
                &[false, true, true, true, false, false, false, false, false, false, false, false, false, false],
            ),
            ("_Z20needle_cuda_shared_1PiS_iiii", &[true, true, false, false, false, false]),
            ("_Z7nothingv", &[]),
            ("_Z3addIfEvPKT_S2_PS0_i", &[true, true, true, false]),
            ("_ZN2ns4workENS_5tableEPKi", &[false, true]),
            ("_ZN2at6kernelILi4EPfEEvT0_iPKN2ns5tableES6_", &[true, false, true, true]),
            ("_Z4keepRKdS0_", &[true, true]),
            ("_ZL2stPf", &[true]),
            ("_ZN1a1b1dEPNS0_1cES2_S1_", &[true, true, false]),
            ("_Z3vecIfEv1VIT_EPS2_S0_IiES1_", &[false, true, false, false]),
            ("_Z5halfsPDF16_Dh", &[true, false]),
        ];
        for (name, expected) in cases {
            assert_eq!(pointers(name).as_deref(), Some(expected), "{name}");
        }
    }

    #[test]
    fn other_names_tell_nothing() {
        for name in ["kernel", "", "_Z", "_Z3ad", "_Z99add", "_Z3addM1afi", "_Z3addIXtlEEvT_", "_Z3addS9_"] {
            assert_eq!(pointers(name), None, "{name}");
        }
    }
}

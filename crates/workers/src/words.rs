//! Words one after the other: what questions and answers are made of, wherever they travel.

/// Writes words.
pub(crate) trait PutWords {
    /// One more word; what does not fit is lost.
    fn word(&mut self, value: u64);

    /// How many more fit.
    fn room(&self) -> usize;

    #[inline]
    fn float(&mut self, value: f64) {
        self.word(value.to_bits());
    }

    #[inline]
    fn floats(&mut self, values: &[f64]) {
        values.iter().for_each(|&value| self.float(value));
    }

    /// As many bytes as there is room for.
    fn bytes(&mut self, bytes: &[u8]) {
        let room = self.room().saturating_sub(1).saturating_mul(WORD);
        let bytes = &bytes[..bytes.len().min(room)];
        self.word(bytes.len() as u64);

        for chunk in bytes.chunks(WORD) {
            let mut word = [0; WORD];
            word[..chunk.len()].copy_from_slice(chunk);
            self.word(u64::from_le_bytes(word));
        }
    }
}

/// Reads words.
pub(crate) trait TakeWords {
    /// The next word; beyond the last there are zeros.
    fn word(&mut self) -> u64;

    /// How many are left.
    fn left(&self) -> usize;

    #[inline]
    fn float(&mut self) -> f64 {
        f64::from_bits(self.word())
    }

    #[inline]
    fn floats(&mut self, values: &mut [f64]) {
        values.iter_mut().for_each(|value| *value = self.float());
    }

    fn bytes(&mut self) -> Vec<u8> {
        let claimed = usize::try_from(self.word()).unwrap_or(usize::MAX);
        let length = claimed.min(self.left().saturating_mul(WORD));
        let mut bytes: Vec<u8> = Vec::with_capacity(length + WORD);

        while bytes.len() < length {
            bytes.extend(self.word().to_le_bytes());
        }

        bytes.truncate(length);
        bytes
    }
}

const WORD: usize = size_of::<u64>();

#[cfg(feature = "mpi")]
impl<P: PutWords + ?Sized> PutWords for &mut P {
    #[inline]
    fn word(&mut self, value: u64) {
        (**self).word(value);
    }

    fn room(&self) -> usize {
        (**self).room()
    }
}

/// Words that find room as they come; where that is used again, nothing is allocated.
#[cfg(feature = "mpi")]
impl PutWords for Vec<u64> {
    #[inline]
    fn word(&mut self, value: u64) {
        self.push(value);
    }

    fn room(&self) -> usize {
        usize::MAX
    }
}

/// Reads words from a list.
#[cfg(feature = "mpi")]
impl TakeWords for std::slice::Iter<'_, u64> {
    #[inline]
    fn word(&mut self) -> u64 {
        self.next().copied().unwrap_or(0)
    }

    fn left(&self) -> usize {
        self.len()
    }
}

use std::fmt;
use std::str::FromStr;

use crate::Error;

/// The highest CPU number taken from text, so that a wrong list cannot ask for gigabytes.
const MAX_CPU: usize = 65_535;

/// A set of logical CPUs by the system's number; reads and writes the kernel's list form (`0-3,8`).
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct CpuSet {
    /// One bit per CPU; no trailing zero words, so that equal sets compare equal.
    words: Vec<u64>,
}

impl CpuSet {
    /// An empty set.
    #[must_use]
    pub const fn new() -> Self {
        CpuSet { words: Vec::new() }
    }

    /// Adds a CPU.
    pub fn insert(&mut self, cpu: usize) {
        let word = cpu / 64;
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        self.words[word] |= 1 << (cpu % 64);
    }

    /// Whether the CPU is in the set.
    #[must_use]
    pub fn contains(&self, cpu: usize) -> bool {
        self.words.get(cpu / 64).is_some_and(|word| word & (1 << (cpu % 64)) != 0)
    }

    /// The number of CPUs.
    #[must_use]
    pub fn len(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// The CPUs, lowest first.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.words
            .iter()
            .enumerate()
            .flat_map(|(index, &word)| (0..64).filter(move |bit| word & (1 << bit) != 0).map(move |bit| index * 64 + bit))
    }

    /// The CPUs in both sets.
    #[must_use]
    pub fn intersection(&self, other: &CpuSet) -> CpuSet {
        CpuSet::from_words(self.words.iter().zip(&other.words).map(|(a, b)| a & b).collect())
    }

    /// The CPUs in this set and not in the other.
    #[must_use]
    pub fn difference(&self, other: &CpuSet) -> CpuSet {
        let theirs = |index: usize| other.words.get(index).copied().unwrap_or(0);
        CpuSet::from_words(self.words.iter().enumerate().map(|(index, word)| word & !theirs(index)).collect())
    }

    /// A set from a bit mask, lowest CPU in the lowest bit of the first word.
    #[must_use]
    pub fn from_words(mut words: Vec<u64>) -> Self {
        while words.last() == Some(&0) {
            words.pop();
        }
        CpuSet { words }
    }

    /// The bit mask, lowest CPU in the lowest bit of the first word.
    #[must_use]
    pub fn words(&self) -> &[u64] {
        &self.words
    }
}

impl FromIterator<usize> for CpuSet {
    fn from_iter<I: IntoIterator<Item = usize>>(cpus: I) -> Self {
        let mut set = CpuSet::new();
        for cpu in cpus {
            set.insert(cpu);
        }
        set
    }
}

impl fmt::Display for CpuSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        let mut cpus = self.iter().peekable();
        while let Some(first) = cpus.next() {
            let mut last = first;
            while cpus.peek() == Some(&(last + 1)) {
                last += 1;
                cpus.next();
            }
            if !text.is_empty() {
                text.push(',');
            }
            text.push_str(&first.to_string());
            if last > first {
                text.push_str(&format!("-{last}"));
            }
        }
        f.pad(&text)
    }
}

impl FromStr for CpuSet {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let wrong = || Error::CpuList { text: text.to_owned() };
        let number = |part: &str| {
            let number: usize = part.trim().parse().map_err(|_| wrong())?;
            if number > MAX_CPU { Err(wrong()) } else { Ok(number) }
        };
        let mut set = CpuSet::new();
        for part in text.trim().split(',').filter(|part| !part.is_empty()) {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (first, last) = (number(first)?, number(last)?);
            if first > last {
                return Err(wrong());
            }
            (first..=last).for_each(|cpu| set.insert(cpu));
        }
        Ok(set)
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for CpuSet {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn text_round_trips(cpus in prop::collection::btree_set(0usize..300, 0..60)) {
            let set: CpuSet = cpus.iter().copied().collect();
            prop_assert_eq!(set.iter().collect::<Vec<_>>(), cpus.iter().copied().collect::<Vec<_>>());
            prop_assert_eq!(set.to_string().parse::<CpuSet>().unwrap(), set.clone());
            prop_assert_eq!(set.len(), cpus.len());
        }

        #[test]
        fn intersection_and_difference_split_a_set(
            a in prop::collection::btree_set(0usize..200, 0..40),
            b in prop::collection::btree_set(0usize..200, 0..40),
        ) {
            let (left, right): (CpuSet, CpuSet) = (a.iter().copied().collect(), b.iter().copied().collect());
            let both: CpuSet = a.intersection(&b).copied().collect();
            let only: CpuSet = a.difference(&b).copied().collect();
            prop_assert_eq!(left.intersection(&right), both);
            prop_assert_eq!(left.difference(&right), only);
        }
    }

    #[test]
    fn kernel_lists_are_read_and_wrong_ones_refused() {
        assert_eq!("0-3,8\n".parse::<CpuSet>().unwrap().iter().collect::<Vec<_>>(), [0, 1, 2, 3, 8]);
        assert!("\n".parse::<CpuSet>().unwrap().is_empty());
        for wrong in ["3-1", "a", "1-", "-1", "1-99999999999", "1;2"] {
            assert!(wrong.parse::<CpuSet>().is_err(), "{wrong}");
        }
    }
}

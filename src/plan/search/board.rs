//! Who meets whom, without a stored conflict graph.

use super::super::resolve::Block;
use super::sections::Sections;

/// Blocks by time, so that the neighbours of one are quickly listed.
#[derive(Debug, Clone)]
pub(crate) struct Board {
    pub spans: Vec<(u32, u32)>,
    /// Blocks by first section.
    by_first: Vec<u32>,
    /// Where in `by_first` the births of each section begin; one more entry than sections.
    births: Vec<u32>,
    /// Sections from one checkpoint to the next.
    stride: u32,
    /// Blocks alive at each checkpoint that were born before it, as ranges of `alive`.
    alive_from: Vec<u32>,
    alive: Vec<u32>,
    /// Number of neighbours of each block, at least 1.
    pub crowd: Vec<u32>,
}

impl Board {
    pub fn new(blocks: &[Block], sections: &Sections) -> Self {
        let count = sections.count as usize;
        let spans = sections.spans.clone();
        let mut by_first: Vec<u32> = (0..blocks.len() as u32).collect();
        by_first.sort_unstable_by_key(|i| (spans[*i as usize].0, *i));
        let mut births = vec![0u32; count + 1];
        let mut deaths = vec![0u32; count + 1];
        for (first, last) in &spans {
            births[*first as usize + 1] += 1;
            deaths[*last as usize + 1] += 1;
        }
        for s in 0..count {
            births[s + 1] += births[s];
            deaths[s + 1] += deaths[s];
        }
        // Born up to the end, less those gone before the beginning, less itself.
        let crowd = spans
            .iter()
            .map(|(first, last)| (births[*last as usize + 1] - deaths[*first as usize]).max(2) - 1)
            .collect();
        let stride = 32;
        let checkpoints = sections.count.div_ceil(stride) as usize;
        let mut alive_from = vec![0u32; checkpoints + 1];
        let crossed = |(first, last): (u32, u32)| (first / stride + 1)..=(last / stride);
        for span in &spans {
            crossed(*span).for_each(|c| alive_from[c as usize + 1] += 1);
        }
        (0..checkpoints).for_each(|c| alive_from[c + 1] += alive_from[c]);
        let mut fill = alive_from.clone();
        let mut alive = vec![0u32; alive_from[checkpoints] as usize];
        for i in &by_first {
            for c in crossed(spans[*i as usize]) {
                alive[fill[c as usize] as usize] = *i;
                fill[c as usize] += 1;
            }
        }
        Board { spans, by_first, births, stride, alive_from, alive, crowd }
    }

    /// Every block that meets this one, each once.
    pub fn neighbours(&self, block: usize, mut visit: impl FnMut(u32)) {
        let (first, last) = self.spans[block];
        self.alive_in(first, last, |i| {
            if i as usize != block {
                visit(i);
            }
        });
    }

    /// Every block that lives in one of these sections, each once.
    pub fn alive_in(&self, first: u32, last: u32, mut visit: impl FnMut(u32)) {
        let checkpoint = (first / self.stride) as usize;
        let range = self.alive_from[checkpoint] as usize..self.alive_from[checkpoint + 1] as usize;
        self.alive[range].iter().filter(|i| self.spans[**i as usize].1 >= first).for_each(|i| visit(*i));
        let start = self.births[checkpoint * self.stride as usize] as usize;
        let born = self.births[first as usize] as usize;
        let end = self.births[last as usize + 1] as usize;
        self.by_first[start..born]
            .iter()
            .filter(|i| self.spans[**i as usize].1 >= first)
            .for_each(|i| visit(*i));
        self.by_first[born..end].iter().for_each(|i| visit(*i));
    }
}

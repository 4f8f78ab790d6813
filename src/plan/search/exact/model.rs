//! What both searches see of one component: sections instead of steps, units instead of bytes.

use super::Item;

/// A free rectangle, in units and sections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Piece {
    /// Height with everything that must stay free above it for the next piece to be aligned.
    pub height: u64,
    pub first: u32,
    /// Inclusive.
    pub last: u32,
    /// Offsets are multiples of it.
    pub align: u64,
    /// Highest top; the topmost piece may do without the padding that `height` includes.
    pub limit: u64,
    /// Position in the caller's list.
    pub item: u32,
    /// Whether the piece before this one differs from it in nothing: that one is placed first then.
    pub is_twin: bool,
}

impl Piece {
    /// Number of sections it covers.
    pub fn width(&self) -> u64 {
        u64::from(self.last - self.first) + 1
    }
}

/// A rectangle that stays where it is, as one section sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Obstacle {
    pub bottom: u64,
    pub top: u64,
}

/// One component: pieces that are connected through sections.
///
/// A section is a maximal set of rectangles that live at a common step. Two rectangles meet in steps exactly
/// where they share a section, so nothing else of the steps matters.
#[derive(Debug, Clone)]
pub(super) struct Model {
    /// Bytes of a unit.
    pub unit: u64,
    /// By first section, then by last.
    pub pieces: Vec<Piece>,
    /// Per section the highest top any of its rectangles may have.
    pub caps: Vec<u64>,
    /// Per section its obstacles from below, none where there is no obstacle at all.
    pub obstacles: Vec<Vec<Obstacle>>,
    /// Per section the first piece that starts there or later; one entry more than there are sections.
    pub begin: Vec<u32>,
    /// No obstacles, one limit, no alignment: pieces rest where floors are.
    pub plain: bool,
}

/// What a capacity makes of a list of items.
pub(super) enum Built {
    Components(Vec<Model>),
    /// An item or an obstacle lies above the capacity on its own.
    TooHigh,
}

impl Model {
    pub fn sections(&self) -> usize {
        self.caps.len()
    }

    /// Per section what its cap leaves over when all its rectangles are in; `None` where they do not fit.
    pub fn slacks(&self) -> Option<Vec<u64>> {
        let mut loads = vec![0u64; self.sections()];
        for piece in &self.pieces {
            for load in &mut loads[piece.first as usize..=piece.last as usize] {
                *load = load.checked_add(piece.height)?;
            }
        }
        for (load, obstacles) in loads.iter_mut().zip(&self.obstacles) {
            *load += obstacles.iter().map(|o| o.top - o.bottom).sum::<u64>();
        }
        self.caps.iter().zip(loads).map(|(cap, load)| cap.checked_sub(load)).collect()
    }
}

/// Cuts the items into components, each with sections and units of its own.
pub(super) fn build(items: &[Item], capacity: u64) -> Built {
    let too_high =
        |item: &Item| item.pin.unwrap_or(0).checked_add(item.size).is_none_or(|end| end > capacity);
    if items.iter().any(|item| item.size > 0 && too_high(item)) {
        return Built::TooHigh;
    }
    let mut free: Vec<usize> =
        (0..items.len()).filter(|i| items[*i].size > 0 && items[*i].pin.is_none()).collect();
    free.sort_by_key(|i| (items[*i].first, *i));
    let mut pinned: Vec<usize> =
        (0..items.len()).filter(|i| items[*i].size > 0 && items[*i].pin.is_some()).collect();
    pinned.sort_by_key(|i| (items[*i].first, *i));
    let mut components = Vec::new();
    let mut start = 0;
    while start < free.len() {
        let mut last = items[free[start]].last;
        let mut end = start + 1;
        while end < free.len() && items[free[end]].first <= last {
            last = last.max(items[free[end]].last);
            end += 1;
        }
        let first = items[free[start]].first;
        let near: Vec<usize> = pinned
            .iter()
            .copied()
            .take_while(|i| items[*i].first <= last)
            .filter(|i| items[*i].last >= first)
            .collect();
        components.push(component(items, &free[start..end], &near, capacity));
        start = end;
    }
    Built::Components(components)
}

/// The coarsest unit in which every packing that rests on its floors can be told.
///
/// Offsets of such a packing are sums of padded sizes, raised to alignments and to tops of obstacles.
fn unit_of(items: &[Item], free: &[usize], pinned: &[usize], padding: u64) -> u64 {
    let tops = pinned.iter().flat_map(|i| {
        let pin = items[*i].pin.unwrap_or(0);
        [pin, (pin + items[*i].size).next_multiple_of(padding)]
    });
    let sizes = free.iter().map(|i| items[*i].size.next_multiple_of(padding));
    let unit = sizes.chain(tops).fold(0, gcd);
    let aligns = free.iter().map(|i| items[*i].align.max(1));
    aligns.filter(|align| !unit.is_multiple_of(*align)).fold(unit, gcd).max(1)
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

fn component(items: &[Item], free: &[usize], pinned: &[usize], capacity: u64) -> Model {
    // Every offset is a multiple of it, so what lies above a rectangle starts at one.
    let mut padding = free.iter().map(|i| items[*i].align.max(1)).fold(0, gcd);
    padding = pinned.iter().filter_map(|i| items[*i].pin).fold(padding, gcd).max(1);
    let unit = unit_of(items, free, pinned, padding);
    let sections = Sections::new(items, free, pinned);
    let limit = |size: u64| (capacity - size) / unit + size.next_multiple_of(padding) / unit;
    let mut pieces: Vec<Piece> = free
        .iter()
        .map(|i| {
            let item = &items[*i];
            let align = item.align.max(1);
            Piece {
                height: item.size.next_multiple_of(padding) / unit,
                first: sections.first(item.first),
                last: sections.last(item.last),
                align: if unit.is_multiple_of(align) { 1 } else { align / unit },
                limit: limit(item.size),
                item: *i as u32,
                is_twin: false,
            }
        })
        .collect();
    let count = sections.count();
    let mut caps = vec![0; count];
    let mut obstacles = vec![Vec::new(); count];
    for i in pinned {
        let (item, bottom) = (&items[*i], items[*i].pin.unwrap_or(0));
        let top = (bottom + item.size).next_multiple_of(padding);
        let obstacle = Obstacle { bottom: bottom / unit, top: top / unit };
        for section in sections.first(item.first)..=sections.last(item.last) {
            obstacles[section as usize].push(obstacle);
            caps[section as usize] = obstacle.top.max(caps[section as usize]);
        }
    }
    obstacles.iter_mut().for_each(|o| o.sort_unstable());
    pieces.sort_by_key(|p| (p.first, p.last, std::cmp::Reverse(p.height), p.align, p.limit, p.item));
    for i in 0..pieces.len() {
        let piece = pieces[i];
        if i > 0 && same(&pieces[i - 1], &piece) {
            pieces[i].is_twin = true;
        }
        for cap in &mut caps[piece.first as usize..=piece.last as usize] {
            *cap = piece.limit.max(*cap);
        }
    }
    let one_limit = pieces.windows(2).all(|p| p[0].limit == p[1].limit);
    let plain = one_limit && obstacles.iter().all(Vec::is_empty) && pieces.iter().all(|p| p.align == 1);
    let begin = (0..=count).map(|s| pieces.partition_point(|p| (p.first as usize) < s) as u32).collect();
    Model { unit, pieces, caps, obstacles, begin, plain }
}

fn same(a: &Piece, b: &Piece) -> bool {
    (a.height, a.first, a.last, a.align, a.limit) == (b.height, b.first, b.last, b.align, b.limit)
}

/// The steps at which a maximal set of rectangles lives: one that is the latest birth before a death.
struct Sections {
    births: Vec<u32>,
}

impl Sections {
    fn new(items: &[Item], free: &[usize], pinned: &[usize]) -> Self {
        // Obstacles are cut to where a free rectangle is.
        let begin = free.iter().map(|i| items[*i].first).min().unwrap_or(0);
        let mut events: Vec<(u64, bool)> = Vec::new();
        for item in free.iter().chain(pinned).map(|i| &items[*i]) {
            events.push((u64::from(item.first.max(begin)), true));
            events.push((u64::from(item.last) + 1, false));
        }
        // Deaths first: an interval that ends at a step does not meet one that begins there.
        events.sort_unstable();
        let mut births = Vec::new();
        let mut newest = None;
        for (step, is_birth) in events {
            if is_birth {
                newest = Some(step as u32);
            } else if let Some(birth) = newest.take() {
                births.push(birth);
            }
        }
        let end = free.iter().map(|i| items[*i].last).max().unwrap_or(0);
        births.retain(|b| *b <= end);
        Sections { births }
    }

    fn count(&self) -> usize {
        self.births.len()
    }

    /// The first section at or after a step.
    fn first(&self, step: u32) -> u32 {
        self.births.partition_point(|b| *b < step) as u32
    }

    /// The last section at or before a step.
    fn last(&self, step: u32) -> u32 {
        self.births.partition_point(|b| *b <= step) as u32 - 1
    }
}

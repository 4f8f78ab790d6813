//! The search against all ways to deal out.

use super::*;

fn block(size_bytes: u64, first: u32, last: u32) -> Block {
    Block { size_bytes, align_bytes: 1, first, last, pin: None }
}

/// The least total over every assignment of blocks to objects.
fn least(blocks: &[Block]) -> u64 {
    fn deal(blocks: &[Block], at: usize, objects: &mut Vec<Vec<usize>>) -> u64 {
        if at == blocks.len() {
            return objects.iter().map(|o| o.iter().map(|i| blocks[*i].size_bytes).max().unwrap_or(0)).sum();
        }
        let mut least = u64::MAX;
        for object in 0..=objects.len() {
            if object == objects.len() {
                objects.push(Vec::new());
            }
            if objects[object].iter().all(|i| !blocks[*i].meets(&blocks[at])) {
                objects[object].push(at);
                least = least.min(deal(blocks, at + 1, objects));
                objects[object].pop();
            }
            if objects.last().is_some_and(Vec::is_empty) {
                objects.pop();
            }
        }
        least
    }
    deal(blocks, 0, &mut Vec::new())
}

#[test]
fn small_problems_get_the_least_total_and_a_proof() {
    let mut random = 7u64;
    let mut below = |n: u64| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) % n
    };
    let mut above_the_bound = 0;
    for _ in 0..400 {
        let blocks: Vec<Block> = (0..1 + below(7))
            .map(|_| {
                let first = below(6) as u32;
                block(1 + below(30), first, first + below(4) as u32)
            })
            .collect();
        let searched = assign(&blocks);
        let total: u64 = searched.objects.sizes_bytes.iter().sum();
        assert_eq!(total, least(&blocks), "{blocks:?}");
        assert_eq!(searched.lower_bound_bytes, total, "not proven: {blocks:?}");
        above_the_bound += usize::from(total > positional_maxima_of(&blocks).iter().sum());
    }
    assert!(above_the_bound > 5, "the search itself proved nothing: {above_the_bound}");
}

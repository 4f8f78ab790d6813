//! Every kind of collision: the check names it in the plain kernel, and finds nothing in the merged one.
#![cfg(feature = "legal")]

mod support;

use sublet::legal::{BindingLimits, MergeError, PlainKernel, Rule, check};
use support::collisions::{Collision, all};

fn limits(collision: &Collision) -> BindingLimits {
    BindingLimits {
        storage_alignment_bytes: collision.limits.alignment_bytes,
        uniform_alignment_bytes: 256,
        max_storage_binding_bytes: collision.limits.max_window_bytes,
        max_uniform_binding_bytes: 65_536,
        max_storage_bindings: collision.limits.max_windows,
        max_workgroups: 65_535,
    }
}

fn kernel(collision: &Collision) -> PlainKernel {
    let kernel = PlainKernel::new(collision.name, &collision.wgsl).unwrap();
    if collision.bases { kernel.with_bases() } else { kernel }
}

#[test]
fn the_check_names_each_collision_and_merging_mends_it() {
    for collision in all() {
        let kernel = kernel(&collision);
        let limits = limits(&collision);
        let plain = check(collision.name, &kernel.plain_ranges(&collision.operands), [1; 3], &limits);
        assert!(!plain.is_empty(), "{}: the check found nothing", collision.name);
        assert!(
            plain
                .iter()
                .all(|v| v.dispatch == collision.name && v.detail.contains('\'')
                    || v.rule == Rule::BindingCount)
        );
        let lawful = kernel.lawful(&collision.operands, &collision.limits).unwrap();
        let ranges: Vec<_> = lawful.ranges().into_iter().map(|(_, range)| range).collect();
        assert_eq!(check(collision.name, &ranges, [1; 3], &limits), [], "{}", collision.name);
        let text = lawful.wgsl().unwrap();
        assert_eq!(text.matches("var<storage").count(), ranges.len(), "{}: {text}", collision.name);
    }
}

/// What merging cannot do it says, and does not half do.
#[test]
fn kernels_without_bases_are_refused_what_needs_them() {
    let mut refused = 0;
    for collision in all().iter().filter(|c| c.bases) {
        let kernel = PlainKernel::new(collision.name, &collision.wgsl).unwrap();
        match kernel.lawful(&collision.operands, &collision.limits) {
            Err(MergeError::NeedsBase { .. } | MergeError::Unaligned { .. }) => refused += 1,
            // Eleven aligned inputs need slots, not bases: the check still names the count.
            Ok(lawful) => {
                let ranges: Vec<_> = lawful.ranges().into_iter().map(|(_, r)| r).collect();
                let left = check(collision.name, &ranges, [1; 3], &limits(collision));
                assert!(left.iter().any(|v| v.rule == Rule::BindingCount), "{}: {left:?}", collision.name);
            }
            Err(other) => panic!("{}: {other}", collision.name),
        }
    }
    assert_eq!(refused, 3);
}

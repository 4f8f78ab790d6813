//! Every kind of collision: the check names it in the plain kernel, and finds nothing in the merged one.
#![cfg(feature = "legal")]

mod support;

use std::collections::HashSet;
use sublet::legal::{MergeError, Operand, PlainKernel, Rule, Violation, check};
use support::collisions::{Collision, LIMITS, all, controls};
use support::launches::Launch;

fn broken(collision: &Collision, launch: &Launch) -> HashSet<Rule> {
    let found = check(collision.name, &launch.ranges(), launch.workgroups, &collision.binding_limits());
    for violation in &found {
        assert_eq!(violation.dispatch, collision.name);
        // The tensors are told by name, but for a rule that is about their number.
        let names = violation.detail.contains('\'');
        assert!(names || violation.rule == Rule::BindingCount, "{violation}");
    }
    found.iter().map(|v| v.rule).collect()
}

#[test]
fn the_check_names_each_collision_and_merging_mends_it() {
    for collision in all().into_iter().chain(controls()) {
        let wanted: HashSet<Rule> = collision.rules.iter().copied().collect();
        assert_eq!(broken(&collision, &collision.plain()), wanted, "{}", collision.name);
        for launch in collision.lawful() {
            assert_eq!(broken(&collision, &launch), HashSet::new(), "{}", collision.name);
            let (text, bound) = (&launch.wgsl, launch.bindings.len());
            assert_eq!(text.matches("var<storage").count(), bound, "{}: {text}", collision.name);
        }
    }
    assert!(all().iter().all(|c| !c.rules.is_empty()) && controls().iter().all(|c| c.rules.is_empty()));
}

/// A tensor over the binding limit is told with both numbers.
#[test]
fn case_13_names_the_tensor_its_bytes_and_the_limit() {
    let over = all().into_iter().find(|c| c.name.contains("stable-diffusion-webgpu#1")).unwrap();
    let plain = over.plain();
    let found = check(over.name, &plain.ranges(), plain.workgroups, &over.binding_limits());
    let text = found[0].to_string();
    for part in ["'x0'", "151781376", "134217728"] {
        assert!(text.contains(part), "{text}");
    }
}

/// What merging cannot do it says, and does not half do.
#[test]
fn kernels_without_bases_are_refused_what_needs_them() {
    let (mut refused, mut left) = (0, 0);
    for collision in all().iter().filter(|c| c.bases) {
        let kernel = PlainKernel::new(collision.name, &collision.wgsl).unwrap();
        match kernel.lawful(&collision.operands, &collision.limits) {
            Err(MergeError::NeedsBase { .. } | MergeError::Unaligned { .. }) => refused += 1,
            // Slots and sizes need no bases, but are not mended without: the check still names them.
            Ok(lawful) => {
                let ranges: Vec<_> = lawful.ranges().into_iter().map(|(_, r)| r).collect();
                let found = check(collision.name, &ranges, [1; 3], &collision.binding_limits());
                let named = |v: &Violation| matches!(v.rule, Rule::BindingCount | Rule::BindingSize);
                assert!(!found.is_empty() && found.iter().all(named), "{}: {found:?}", collision.name);
                left += 1;
            }
            Err(other) => panic!("{}: {other}", collision.name),
        }
    }
    assert_eq!((refused, left), (4, 3));
}

/// A row of a table by an index of another element type: one buffer is fair as long as no two of them meet.
#[test]
fn different_element_types_that_meet_are_refused_with_the_way_out() {
    const GATHER: &str = "
        struct Params { table_base: u32, rows_base: u32, y_base: u32, count: u32 }
        @group(0) @binding(0) var<uniform> p: Params;
        @group(0) @binding(1) var<storage, read> table: array<f32>;
        @group(0) @binding(2) var<storage, read> rows: array<u32>;
        @group(0) @binding(3) var<storage, read_write> y: array<f32>;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            if id.x < p.count { y[p.y_base + id.x] = table[p.table_base + rows[p.rows_base + id.x]]; }
        }";
    let kernel = PlainKernel::new("gather", GATHER).unwrap().with_bases();
    let at = |buffer, start: u64| Operand { buffer, bytes: start..start + 256 };
    let apart = kernel.lawful(&[at(0, 0), at(0, 256), at(0, 512)], &LIMITS).unwrap();
    assert_eq!(apart.ranges().len(), 3);
    // Off the alignment, the windows of the table and of its indices overlap.
    let error = kernel.lawful(&[at(0, 64), at(0, 320), at(0, 1024)], &LIMITS).unwrap_err();
    let text = error.to_string();
    for part in ["'gather'", "'table'", "'rows'", "same array type", "different buffers"] {
        assert!(text.contains(part), "{text}");
    }
    // The two ways out.
    assert!(kernel.lawful(&[at(0, 64), at(1, 320), at(0, 1024)], &LIMITS).is_ok());
    let words = GATHER.replace("rows: array<u32>", "rows: array<f32>");
    let words = words.replace("rows[p.rows_base + id.x]", "bitcast<u32>(rows[p.rows_base + id.x])");
    let kernel = PlainKernel::new("gather", &words).unwrap().with_bases();
    assert_eq!(kernel.lawful(&[at(0, 64), at(0, 320), at(0, 1024)], &LIMITS).unwrap().ranges().len(), 2);
}

//! The library's own rules against wgpu's validation, on random dispatches: wgpu is right in whatever it
//! refuses, and what it lets pass beyond that is one rule, which browsers check and it does not.
#![cfg(feature = "cli")]

#[path = "support/native_judge.rs"]
mod native_judge;
#[path = "support/random_dispatches.rs"]
mod random_dispatches;

use native_judge::NativeJudge;
use random_dispatches::{WEBGPU, cases};
use sublet::device::DeviceLimits;
use sublet::legal::Rule;

#[test]
fn the_limits_are_those_of_webgpu() {
    assert_eq!(DeviceLimits::new(&wgpu::Limits::default()).binding_limits(), WEBGPU);
}

#[test]
fn wgpu_and_check_differ_in_writable_aliasing_alone() {
    let judge = NativeJudge::new();
    let (mut lawful, mut refused, mut aliasing) = (0, 0, 0);
    for case in cases(1, 1050) {
        let found = case.violations(&WEBGPU);
        let Some(answer) = judge.refusal(&case) else { continue };
        let beyond_wgpu = !found.is_empty() && found.iter().all(|v| v.rule == Rule::WritableAliasing);
        match (answer, beyond_wgpu) {
            (Ok(()), true) => aliasing += 1,
            (Ok(()), false) => {
                assert_eq!(found, [], "wgpu accepts {case:?}");
                lawful += 1;
            }
            (Err(text), _) => {
                assert!(!found.is_empty() && !beyond_wgpu, "wgpu refuses {case:?}: {text}");
                refused += 1;
            }
        }
    }
    assert!(lawful > 200 && refused > 300 && aliasing > 80, "{lawful} {refused} {aliasing}");
}

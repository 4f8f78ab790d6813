//! Limits of devices one does not own: the WebGPU defaults, what Chromium shows, and wgpu's limit buckets.

use super::DeviceLimits;
use wgpu::Limits;

/// Named limits to plan for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Profile {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it stands for.
    pub about: &'static str,
    /// The limits.
    pub limits: DeviceLimits,
}

const GIB: u64 = 1 << 30;
const MIB: u64 = 1 << 20;

/// Largest buffer and binding in bytes, storage bindings in one stage. Alignment 256 and 65,535 workgroups
/// are common to all (wgpu-core 30, `limits.rs`: buckets; wgpu-types 30: defaults).
const TABLE: [(&str, &str, u64, u64, u32); 11] = [
    ("default", "WebGPU's default limits", 256 * MIB, 128 * MIB, 8),
    ("chrome", "Chromium's adapter over SwiftShader", GIB, GIB, 10),
    ("m1", "bucket: Apple M series", GIB, GIB, 9),
    ("a1", "bucket: Radeon RX 6000 and later", GIB, GIB, 16),
    ("a2", "bucket: Radeon Vega", GIB, GIB, 16),
    ("n1", "bucket: GeForce GTX 1650, RTX 20 and later", GIB, GIB, 16),
    ("i1", "bucket: Intel Arc, UHD 600, Iris Xe", GIB, 512 * MIB, 16),
    ("llvmpipe", "bucket: Mesa's software driver", GIB, 128 * MIB, 16),
    ("warp", "bucket: Microsoft Basic Render Driver", GIB, 128 * MIB, 16),
    ("fallback", "bucket: whatever meets WebGPU's defaults only", 256 * MIB, 128 * MIB, 8),
    ("downlevel", "wgpu's downlevel defaults (OpenGL ES 3.1)", 256 * MIB, 128 * MIB, 4),
];

impl Profile {
    /// Every profile, in the order of reports.
    pub fn all() -> impl Iterator<Item = Profile> {
        TABLE.iter().map(|(name, about, max_buffer_bytes, max_binding_bytes, max_storage_bindings)| Profile {
            name,
            about,
            limits: DeviceLimits {
                storage_alignment_bytes: 256,
                uniform_alignment_bytes: 256,
                max_buffer_bytes: *max_buffer_bytes,
                max_binding_bytes: *max_binding_bytes,
                max_uniform_binding_bytes: if *name == "downlevel" { 16 << 10 } else { 64 << 10 },
                max_storage_bindings: *max_storage_bindings,
                max_workgroups: 65_535,
            },
        })
    }

    /// The profile of that name.
    pub fn find(name: &str) -> Option<Profile> {
        Self::all().find(|p| p.name == name)
    }

    /// The limits to request so that a device behaves like the profile, on an adapter that offers at least
    /// these.
    pub fn wgpu_limits(&self) -> Limits {
        Limits {
            max_buffer_size: self.limits.max_buffer_bytes,
            max_storage_buffer_binding_size: self.limits.max_binding_bytes,
            max_storage_buffers_per_shader_stage: self.limits.max_storage_bindings,
            max_uniform_buffer_binding_size: self.limits.max_uniform_binding_bytes,
            ..Limits::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers that wgpu itself exposes must be wgpu's.
    #[test]
    fn defaults_are_wgpus() {
        let (default, downlevel) = (Limits::default(), Limits::downlevel_defaults());
        let of = |name| Profile::find(name).expect("listed").limits;
        assert_eq!(of("default"), DeviceLimits::new(&default));
        assert_eq!(of("downlevel"), DeviceLimits::new(&downlevel));
        assert_eq!(Profile::all().count(), TABLE.len());
        assert!(Profile::find("nope").is_none());
    }
    #[test]
    fn limits_cover_what_is_stricter_and_themselves() {
        let of = |name| Profile::find(name).expect("listed").limits;
        for profile in Profile::all() {
            assert!(profile.limits.cover(&profile.limits), "{}", profile.name);
            assert!(profile.limits.cover(&of("downlevel")), "{}", profile.name);
        }
        assert!(of("chrome").cover(&of("default")) && !of("default").cover(&of("chrome")));
        assert!(!of("m1").cover(&of("chrome")), "nine slots are fewer than ten");
        let fine = DeviceLimits { storage_alignment_bytes: 32, ..of("default") };
        assert!(fine.cover(&of("default")) && !of("default").cover(&fine));
    }
}

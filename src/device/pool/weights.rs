//! What a session says of its weights, and when two of them are the same.

use crate::device::{DeviceError, DeviceLimits};
use std::borrow::Cow;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// Where a weight's bytes come from. They are asked for when a session joins, when a weight that may be equal
/// joins, and after a device was lost: the pool keeps no copy on the host.
pub trait WeightSource: Send + Sync {
    /// The bytes, always the same ones.
    fn bytes(&self) -> Cow<'_, [u8]>;
}

impl WeightSource for Vec<u8> {
    fn bytes(&self) -> Cow<'_, [u8]> {
        Cow::Borrowed(self)
    }
}

impl WeightSource for Vec<f32> {
    fn bytes(&self) -> Cow<'_, [u8]> {
        Cow::Borrowed(bytemuck::cast_slice(self))
    }
}

impl<T: WeightSource + ?Sized> WeightSource for Arc<T> {
    fn bytes(&self) -> Cow<'_, [u8]> {
        (**self).bytes()
    }
}

/// A weight that a session brings.
#[derive(Clone)]
pub struct Weight {
    pub(super) label: String,
    key: Option<String>,
    pub(super) size_bytes: u64,
    pub(super) source: Arc<dyn WeightSource>,
}

impl Weight {
    /// A weight known by its bytes: held once with every other weight of the same bytes.
    pub fn new(label: impl Into<String>, source: impl WeightSource + 'static) -> Self {
        let size_bytes = source.bytes().len() as u64;
        Weight { label: label.into(), key: None, size_bytes, source: Arc::new(source) }
    }

    /// A weight known by a key of the caller's, say a file's digest and a name in it: its bytes are not
    /// hashed or compared, and not even read where the key is held already. Equal keys must mean equal bytes.
    pub fn keyed(
        label: impl Into<String>,
        key: impl Into<String>,
        size_bytes: u64,
        source: impl WeightSource + 'static,
    ) -> Self {
        Weight { label: label.into(), key: Some(key.into()), size_bytes, source: Arc::new(source) }
    }

    /// What it is known by.
    pub(super) fn content(&self) -> Content {
        match &self.key {
            Some(key) => Content::Key(key.clone()),
            None => {
                let mut hasher = DefaultHasher::new();
                self.source.bytes().hash(&mut hasher);
                Content::Hash(hasher.finish())
            }
        }
    }

    /// Whether both are the same weight, given that their content looks the same.
    pub(super) fn is(&self, other: &Weight) -> Result<bool, DeviceError> {
        if self.key.is_none() {
            return Ok(self.size_bytes == other.size_bytes && self.source.bytes() == other.source.bytes());
        }
        if self.size_bytes != other.size_bytes {
            let key = self.key.as_deref().unwrap_or_default();
            let (now, held) = (self.size_bytes, other.size_bytes);
            return Err(DeviceError::Refused {
                what: format!("weight '{}'", self.label),
                reason: format!("key '{key}' stands for {held} bytes in '{}', here {now}", other.label),
            });
        }
        Ok(true)
    }

    /// Bytes that it takes on a device.
    pub(super) fn padded_bytes(&self, limits: &DeviceLimits) -> Result<u64, DeviceError> {
        let needed_bytes = self.size_bytes.next_multiple_of(4).max(4);
        if needed_bytes > limits.max_binding_bytes {
            let (what, limit) = (self.label.clone(), "max_storage_buffer_binding_size");
            let available_bytes = limits.max_binding_bytes;
            return Err(DeviceError::OverLimit { what, needed_bytes, limit, available_bytes });
        }
        Ok(needed_bytes)
    }
}

impl std::fmt::Debug for Weight {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Weight({} {:?} {} bytes)", self.label, self.key, self.size_bytes)
    }
}

/// Equal for equal weights; for others as good as never, unless the caller gave them one key.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Content {
    Hash(u64),
    Key(String),
}

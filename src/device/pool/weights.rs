//! Weights: equal ones lie on the device once, whoever brings them, for as long as a session uses them.

use super::ledger::{InUse, Label, OwnedBuffer};
use super::{Context, lock};
use crate::device::{DeviceError, Uploader};
use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, Weak};
use wgpu::BufferUsages;

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
    label: String,
    key: Option<String>,
    size_bytes: u64,
    source: Arc<dyn WeightSource>,
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

    fn content(&self) -> Content {
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
    fn is(&self, other: &Weight) -> Result<bool, DeviceError> {
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
}

impl std::fmt::Debug for Weight {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Weight({} {:?} {} bytes)", self.label, self.key, self.size_bytes)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Content {
    Hash(u64),
    Key(String),
}

/// A weight on the device.
#[derive(Debug)]
pub(super) struct HeldWeight {
    pub(super) block: Arc<OwnedBuffer>,
    pub(super) offset_bytes: u64,
    weight: Weight,
    content: Content,
    _used: InUse,
}

impl HeldWeight {
    pub(super) fn size_bytes(&self) -> u64 {
        self.weight.size_bytes
    }
}

/// Weights of a session before anything is made: held already, or to be placed.
#[derive(Debug)]
pub(super) struct Sorted {
    each: Vec<Found>,
    fresh: Vec<(Content, Weight)>,
    pub(super) places: Places,
}

#[derive(Debug)]
enum Found {
    Held(Arc<HeldWeight>),
    Fresh(usize),
}

/// Where new weights go: in as few buffers as the device's limit allows.
#[derive(Debug, Default)]
pub(super) struct Places {
    /// Block and offset of each.
    each: Vec<(usize, u64)>,
    /// Bytes of each block.
    pub(super) blocks: Vec<u64>,
}

impl Places {
    fn new(fresh: &[(Content, Weight)], context: &Context) -> Result<Self, DeviceError> {
        let limits = &context.limits;
        let mut places = Places::default();
        for (_, weight) in fresh {
            let size = weight.size_bytes.next_multiple_of(4).max(4);
            if size > limits.max_binding_bytes {
                return Err(DeviceError::OverLimit {
                    what: weight.label.clone(),
                    needed_bytes: size,
                    limit: "max_storage_buffer_binding_size",
                    available_bytes: limits.max_binding_bytes,
                });
            }
            let start = places.blocks.last().map(|end| end.next_multiple_of(limits.storage_alignment_bytes));
            let start = match start {
                Some(start) if start + size <= limits.max_buffer_bytes => start,
                _ => {
                    places.blocks.push(0);
                    0
                }
            };
            let block = places.blocks.len() - 1;
            places.blocks[block] = start + size;
            places.each.push((block, start));
        }
        Ok(places)
    }
}

/// The weights that some session uses.
#[derive(Debug, Default)]
pub(super) struct Store(Mutex<HashMap<Content, Vec<Weak<HeldWeight>>>>);

impl Store {
    fn candidates(&self, content: &Content) -> Vec<Arc<HeldWeight>> {
        lock(&self.0).get(content).into_iter().flatten().filter_map(Weak::upgrade).collect()
    }

    /// Finds which weights are held already, comparing bytes with bytes.
    pub(super) fn sort(&self, weights: &[Weight], context: &Context) -> Result<Sorted, DeviceError> {
        let (mut each, mut fresh) = (Vec::with_capacity(weights.len()), Vec::<(Content, Weight)>::new());
        let mut among_fresh: HashMap<Content, Vec<usize>> = HashMap::new();
        for weight in weights {
            let content = weight.content();
            let mut found = None;
            for held in self.candidates(&content) {
                if weight.is(&held.weight)? {
                    found = Some(Found::Held(held));
                    break;
                }
            }
            let twins = among_fresh.entry(content.clone()).or_default();
            for twin in twins.iter() {
                if found.is_none() && weight.is(&fresh[*twin].1)? {
                    found = Some(Found::Fresh(*twin));
                }
            }
            each.push(found.unwrap_or_else(|| {
                twins.push(fresh.len());
                fresh.push((content, weight.clone()));
                Found::Fresh(fresh.len() - 1)
            }));
        }
        let places = Places::new(&fresh, context)?;
        Ok(Sorted { each, fresh, places })
    }

    /// Makes what is not held yet and uploads it; in the order in which they were brought.
    pub(super) async fn hold(
        &self,
        sorted: Sorted,
        context: &Context,
    ) -> Result<Vec<Arc<HeldWeight>>, DeviceError> {
        let made = place(sorted.fresh, &sorted.places, context).await?;
        let mut index = lock(&self.0);
        for held in &made {
            let twins = index.entry(held.content.clone()).or_default();
            twins.retain(|twin| twin.strong_count() > 0);
            twins.push(Arc::downgrade(held));
        }
        index.retain(|_, twins| twins.iter().any(|twin| twin.strong_count() > 0));
        let pick = |found| match found {
            Found::Held(held) => held,
            Found::Fresh(i) => Arc::clone(&made[i]),
        };
        Ok(sorted.each.into_iter().map(pick).collect())
    }

    /// Uploads weights again, to another device; `old` without repetitions. The store does not know them
    /// until [`Store::adopt`].
    pub(super) async fn again(
        old: &[Arc<HeldWeight>],
        context: &Context,
    ) -> Result<Vec<Arc<HeldWeight>>, DeviceError> {
        let fresh: Vec<_> = old.iter().map(|held| (held.content.clone(), held.weight.clone())).collect();
        let places = Places::new(&fresh, context)?;
        place(fresh, &places, context).await
    }

    /// Forgets all weights but these.
    pub(super) fn adopt(&self, all: &[Arc<HeldWeight>]) {
        let mut index = HashMap::<Content, Vec<Weak<HeldWeight>>>::new();
        for held in all {
            index.entry(held.content.clone()).or_default().push(Arc::downgrade(held));
        }
        *lock(&self.0) = index;
    }
}

async fn place(
    fresh: Vec<(Content, Weight)>,
    places: &Places,
    context: &Context,
) -> Result<Vec<Arc<HeldWeight>>, DeviceError> {
    let usage = BufferUsages::STORAGE | BufferUsages::COPY_SRC | BufferUsages::COPY_DST;
    let mut blocks = Vec::with_capacity(places.blocks.len());
    for bytes in &places.blocks {
        let block = OwnedBuffer::new(context, Label::Weights, "sublet pool weights", *bytes, usage).await?;
        blocks.push(Arc::new(block));
    }
    let mut uploader = Uploader::new(&context.device, &context.queue);
    let mut held = Vec::with_capacity(fresh.len());
    for ((content, weight), (block, offset_bytes)) in fresh.into_iter().zip(&places.each) {
        let (block, offset_bytes) = (blocks[*block].clone(), *offset_bytes);
        let bytes = weight.source.bytes();
        if bytes.len() as u64 != weight.size_bytes {
            let (needed_bytes, given_bytes) = (weight.size_bytes, bytes.len() as u64);
            return Err(DeviceError::TooSmall { what: weight.label.clone(), needed_bytes, given_bytes });
        }
        let written = uploader.write(&block.buffer, offset_bytes, &bytes).await;
        written.map_err(|error| context.watch.explain(&context.device, error))?;
        drop(bytes);
        let _used = InUse::new(&context.ledger, Label::Weights, weight.size_bytes);
        held.push(Arc::new(HeldWeight { block, offset_bytes, weight, content, _used }));
    }
    if !held.is_empty() {
        uploader.flush().await;
    }
    Ok(held)
}

//! Weights on the device: in buffers that every session which holds them uses whole, so that none stays for
//! the sake of a part. A large weight is a parcel of its own; a session's small ones are one together, shared
//! with sessions whose small ones are the same.

use super::ledger::{InUse, Label, OwnedBuffer};
use super::weights::{Content, Weight};
use super::{Context, lock};
use crate::device::{DeviceError, DeviceLimits, Uploader, View};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, Weak};
use wgpu::BufferUsages;

/// Weights from this size on are shared one by one.
const ALONE_BYTES: u64 = 64 << 10;

/// Weights that go together.
#[derive(Debug, Clone, Default)]
struct Parcel {
    weights: Vec<Weight>,
    contents: Vec<Content>,
    /// First byte of each.
    offsets: Vec<u64>,
    bytes: u64,
}

impl Parcel {
    fn add(&mut self, content: Content, weight: &Weight, start: u64, bytes: u64) {
        self.contents.push(content);
        self.weights.push(weight.clone());
        self.offsets.push(start);
        self.bytes = start + bytes;
    }

    /// Whether both hold the same weights in the same places, given that their contents look the same.
    fn is(&self, other: &Parcel) -> Result<bool, DeviceError> {
        for (ours, theirs) in self.weights.iter().zip(&other.weights) {
            if !ours.is(theirs)? {
                return Ok(false);
            }
        }
        Ok(self.offsets == other.offsets)
    }
}

/// A parcel on the device.
#[derive(Debug)]
pub(super) struct HeldParcel {
    block: OwnedBuffer,
    parcel: Parcel,
    _used: InUse,
}

impl HeldParcel {
    /// Bytes of its weights.
    pub(super) fn size_bytes(&self) -> u64 {
        self.parcel.weights.iter().map(|w| w.size_bytes).sum()
    }
}

/// One weight of a session: which of its parcels, and which weight in that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Place {
    parcel: usize,
    index: usize,
}

/// A session's weights on the device.
#[derive(Debug)]
pub(super) struct HeldWeights {
    pub(super) parcels: Vec<Arc<HeldParcel>>,
    places: Vec<Place>,
}

impl HeldWeights {
    /// Where one lies, in the order in which the session brought them.
    pub(super) fn view(&self, weight: usize) -> Option<View<'_>> {
        let Place { parcel, index } = *self.places.get(weight)?;
        let held = &self.parcels[parcel];
        let start = held.parcel.offsets[index];
        let end = (start + held.parcel.weights[index].size_bytes).next_multiple_of(4);
        Some(View { buffer: &held.block.buffer, bytes: start..end })
    }

    /// The same weights in other parcels, one for one.
    pub(super) fn moved(&self, parcels: Vec<Arc<HeldParcel>>) -> Self {
        HeldWeights { parcels, places: self.places.clone() }
    }
}

/// Weights of a session before anything is made.
#[derive(Debug)]
pub(super) struct Sorted {
    parcels: Vec<Found>,
    places: Vec<Place>,
}

#[derive(Debug)]
enum Found {
    Held(Arc<HeldParcel>),
    Fresh(Parcel),
}

impl Sorted {
    /// Bytes of what is not held yet.
    pub(super) fn fresh_bytes(&self) -> u64 {
        let bytes = |found: &Found| match found {
            Found::Held(_) => 0,
            Found::Fresh(parcel) => parcel.bytes,
        };
        self.parcels.iter().map(bytes).sum()
    }
}

/// The parcels that some session uses.
#[derive(Debug, Default)]
pub(super) struct Store(Mutex<HashMap<Vec<Content>, Vec<Weak<HeldParcel>>>>);

impl Store {
    /// Finds which weights are held already, comparing bytes with bytes.
    pub(super) fn sort(&self, weights: &[Weight], limits: &DeviceLimits) -> Result<Sorted, DeviceError> {
        let (parcels, places) = pack(weights, limits)?;
        let find = |parcel: Parcel| -> Result<Found, DeviceError> {
            for held in self.candidates(&parcel.contents) {
                if parcel.is(&held.parcel)? {
                    return Ok(Found::Held(held));
                }
            }
            Ok(Found::Fresh(parcel))
        };
        Ok(Sorted { parcels: parcels.into_iter().map(find).collect::<Result<_, _>>()?, places })
    }

    fn candidates(&self, contents: &[Content]) -> Vec<Arc<HeldParcel>> {
        lock(&self.0).get(contents).into_iter().flatten().filter_map(Weak::upgrade).collect()
    }

    /// Makes what is not held yet and uploads it.
    pub(super) async fn hold(&self, sorted: Sorted, context: &Context) -> Result<HeldWeights, DeviceError> {
        let mut parcels = Vec::with_capacity(sorted.parcels.len());
        for found in sorted.parcels {
            parcels.push(match found {
                Found::Held(held) => held,
                Found::Fresh(parcel) => {
                    let held = Arc::new(place(parcel, context).await?);
                    let mut index = lock(&self.0);
                    index.retain(|_, twins| twins.iter().any(|twin| twin.strong_count() > 0));
                    index.entry(held.parcel.contents.clone()).or_default().push(Arc::downgrade(&held));
                    held
                }
            });
        }
        Ok(HeldWeights { parcels, places: sorted.places })
    }

    /// Uploads a parcel again, to another device. The store does not know it until [`Store::adopt`].
    pub(super) async fn again(old: &HeldParcel, context: &Context) -> Result<Arc<HeldParcel>, DeviceError> {
        Ok(Arc::new(place(old.parcel.clone(), context).await?))
    }

    /// Forgets all parcels but these.
    pub(super) fn adopt<'a>(&self, all: impl Iterator<Item = &'a Arc<HeldParcel>>) {
        let mut index = HashMap::<Vec<Content>, Vec<Weak<HeldParcel>>>::new();
        for held in all {
            index.entry(held.parcel.contents.clone()).or_default().push(Arc::downgrade(held));
        }
        *lock(&self.0) = index;
    }
}

/// Puts weights into parcels, equal ones of the session once.
fn pack(weights: &[Weight], limits: &DeviceLimits) -> Result<(Vec<Parcel>, Vec<Place>), DeviceError> {
    let (mut parcels, mut places) = (Vec::<Parcel>::new(), Vec::<Place>::with_capacity(weights.len()));
    let mut known: HashMap<Content, Vec<Place>> = HashMap::new();
    let mut bundle = None;
    for weight in weights {
        let bytes = weight.padded_bytes(limits)?;
        let content = weight.content();
        let twins = known.entry(content.clone()).or_default();
        let mut found = None;
        for twin in twins.iter() {
            if found.is_none() && weight.is(&parcels[twin.parcel].weights[twin.index])? {
                found = Some(*twin);
            }
        }
        places.push(match found {
            Some(twin) => twin,
            None => {
                let place = settle(&mut parcels, &mut bundle, content, weight, bytes, limits);
                twins.push(place);
                place
            }
        });
    }
    Ok((parcels, places))
}

/// Adds a weight to the parcel where it belongs; `bundle` is the one for small ones that has room.
fn settle(
    parcels: &mut Vec<Parcel>,
    bundle: &mut Option<usize>,
    content: Content,
    weight: &Weight,
    bytes: u64,
    limits: &DeviceLimits,
) -> Place {
    let start = |parcel: &Parcel| parcel.bytes.next_multiple_of(limits.storage_alignment_bytes);
    let small = bytes < ALONE_BYTES;
    let room = |i: &usize| start(&parcels[*i]) + bytes <= limits.max_buffer_bytes;
    let parcel = bundle.filter(|_| small).filter(room).unwrap_or_else(|| {
        parcels.push(Parcel::default());
        parcels.len() - 1
    });
    if small {
        *bundle = Some(parcel);
    }
    let at = start(&parcels[parcel]);
    parcels[parcel].add(content, weight, at, bytes);
    Place { parcel, index: parcels[parcel].weights.len() - 1 }
}

async fn place(parcel: Parcel, context: &Context) -> Result<HeldParcel, DeviceError> {
    let usage = BufferUsages::STORAGE | BufferUsages::COPY_SRC | BufferUsages::COPY_DST;
    let block = OwnedBuffer::new(context, Label::Weights, "sublet pool weights", parcel.bytes, usage).await?;
    let mut uploader = Uploader::new(&context.device, &context.queue);
    for (weight, offset_bytes) in parcel.weights.iter().zip(&parcel.offsets) {
        let bytes = weight.source.bytes();
        if bytes.len() as u64 != weight.size_bytes {
            let (needed_bytes, given_bytes) = (weight.size_bytes, bytes.len() as u64);
            return Err(DeviceError::TooSmall { what: weight.label.clone(), needed_bytes, given_bytes });
        }
        let written = uploader.write(&block.buffer, *offset_bytes, &bytes).await;
        written.map_err(|error| context.watch.explain(&context.device, error))?;
    }
    uploader.flush().await;
    let used: u64 = parcel.weights.iter().map(|w| w.size_bytes).sum();
    let _used = InUse::new(&context.ledger, Label::Weights, used);
    Ok(HeldParcel { block, parcel, _used })
}

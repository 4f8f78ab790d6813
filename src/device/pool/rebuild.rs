//! Another device after one was lost.

use super::lane::{Made, raise, sizes};
use super::parcel::{HeldParcel, HeldWeights, Store};
use super::{ArenaPool, Context, DeviceError, DeviceWatch, Lane, Own};
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use wgpu::{Device, Queue};

impl ArenaPool {
    /// Moves the pool to another device: the same sessions under the same keys, with arenas, state and
    /// weights of their own there. State starts with zeros again; weights are uploaded from where sessions
    /// said that their bytes come from. Bind groups, pipelines and whatever else an engine made itself it
    /// makes anew; [`super::Generation::same_device`] tells it to.
    ///
    /// # Errors
    /// A plan does not fit the new device's limits or alignment, memory is out, or the new device is lost
    /// too. The pool stays on the old device then.
    pub async fn rebuild(
        &self,
        device: &Device,
        queue: &Queue,
        watch: &DeviceWatch,
    ) -> Result<(), DeviceError> {
        let _turn = self.0.growing.enter().await;
        self.state().arriving = Some(device.clone());
        let moved = self.move_to(device, queue, watch).await;
        self.state().arriving = None;
        moved
    }

    async fn move_to(&self, device: &Device, queue: &Queue, watch: &DeviceWatch) -> Result<(), DeviceError> {
        let (epoch, options, sessions) = {
            let state = self.state();
            let session = |(key, entry): (_, &super::Entry)| (key, entry.spec.clone(), entry.own.clone());
            let sessions: Vec<_> = state.sessions.iter().map(session).collect();
            (state.context.epoch + 1, state.options.clone(), sessions)
        };
        let context = Context::new(device, queue, watch, &self.0.ledger, epoch);
        context.check()?;
        let mut lanes = BTreeMap::<Lane, Vec<u64>>::new();
        let mut needs = Vec::with_capacity(sessions.len());
        for (_, spec, _) in &sessions {
            let need = spec.required(&context.limits)?.arenas;
            raise(lanes.entry(spec.lane).or_default(), &need);
            needs.push(need);
        }
        let mut made = Vec::with_capacity(lanes.len());
        for (lane, need) in &lanes {
            let sizes = sizes(need, &options, &context)?;
            made.push((*lane, Made::new(&context, *lane, &sizes, None).await?));
        }
        let moved =
            Moved::new(sessions.iter().flat_map(|(_, _, own)| &own.weights.parcels), &context).await?;
        let mut owns = Vec::with_capacity(sessions.len());
        for (_, spec, own) in &sessions {
            owns.push(Arc::new(Own::new(&context, spec, moved.of(&own.weights)).await?));
        }
        context.check()?;
        // The buffers of the lost device are dropped after the lock.
        let mut old = Vec::new();
        let mut state = self.state();
        state.context = context;
        for ((key, _, _), (own, need)) in sessions.iter().zip(owns.into_iter().zip(needs)) {
            if let Some(entry) = state.sessions.get_mut(*key) {
                (entry.own, entry.need) = (own, need);
            }
        }
        let all: Vec<Lane> = state.lanes.keys().copied().collect();
        old.extend(all.into_iter().filter_map(|lane| state.retire(lane)));
        for (lane, made) in made {
            state.install(lane, made, &self.0.ledger);
            // Somebody may have left meanwhile.
            old.extend(state.settle(lane, &self.0.ledger));
        }
        drop(state);
        self.0.store.adopt(moved.0.values());
        Ok(())
    }
}

/// Parcels of weights on the new device, by the address of the old.
struct Moved(HashMap<*const HeldParcel, Arc<HeldParcel>>);

impl Moved {
    async fn new(
        old: impl Iterator<Item = &Arc<HeldParcel>>,
        context: &Context,
    ) -> Result<Self, DeviceError> {
        let mut moved = HashMap::new();
        for held in old {
            if let Entry::Vacant(entry) = moved.entry(Arc::as_ptr(held)) {
                entry.insert(Store::again(held, context).await?);
            }
        }
        Ok(Moved(moved))
    }

    fn of(&self, old: &HeldWeights) -> HeldWeights {
        old.moved(old.parcels.iter().map(|held| self.0[&Arc::as_ptr(held)].clone()).collect())
    }
}

//! Joining: everything that can be refused is, before a byte is allocated.

use super::lane::{LaneArenas, Made, raise, sizes};
use super::parcel::{HeldWeights, Sorted};
use super::{
    ArenaPool, Context, DeviceError, Entry, InUse, Label, Lane, Own, OwnedBuffer, Session, SessionSpec, State,
};
use std::sync::Arc;

impl ArenaPool {
    /// Adds a session: its lane grows where it must, its state is made, its weights are uploaded unless equal
    /// ones are held. A lane grows by a new buffer beside the old one, which goes when the run that holds it
    /// has submitted; views of the old one are [`DeviceError::Gone`] from then on.
    ///
    /// # Errors
    /// The plan is not valid, something is over a limit, the budget would be passed, memory is out or the
    /// device lost. What was there before stays as it was and works on.
    pub async fn join(&self, spec: SessionSpec) -> Result<Session, DeviceError> {
        let _turn = self.0.growing.enter().await;
        let context = self.context();
        context.check()?;
        let need = spec.required(&context.limits)?.arenas;
        let sorted = self.0.store.sort(&spec.weights, &context.limits)?;
        let (sizes, held) = self.state().admit(&spec, &need, &sorted)?;
        let made = Made::new(&context, spec.lane, &sizes, held.as_deref()).await?;
        let weights = self.0.store.hold(sorted, &context).await?;
        let own = Arc::new(Own::new(&context, &spec, weights).await?);
        context.check()?;
        let (lane, spec) = (spec.lane, Arc::new(spec));
        let (key, _old) = {
            let mut state = self.state();
            let key = state.sessions.insert(Entry { spec, need, own, runs: 0 });
            (key, state.install(lane, made, &self.0.ledger))
        };
        Ok(Session::new(self, key))
    }
}

impl State {
    /// Sizes of the lane's arenas with one that wants to join, and what they are now; or why it may not.
    fn admit(
        &self,
        spec: &SessionSpec,
        need: &[u64],
        sorted: &Sorted,
    ) -> Result<(Vec<u64>, Option<Arc<LaneArenas>>), DeviceError> {
        let mut most = self.need(spec.lane);
        raise(&mut most, need);
        let wanted = sizes(&most, &self.options, &self.context)?;
        let held_bytes: u64 = self.committed();
        let lane_bytes = self.lane_bytes(spec.lane);
        let grown_bytes = wanted.iter().sum::<u64>().max(lane_bytes) - lane_bytes;
        let state_bytes: u64 = spec.state.iter().map(|s| s.bytes.next_multiple_of(4).max(4)).sum();
        let needed_bytes = grown_bytes + state_bytes + sorted.fresh_bytes();
        let budget_bytes = self.options.budget_bytes;
        match (held_bytes + needed_bytes).checked_sub(budget_bytes) {
            None | Some(0) => {}
            Some(over_bytes) => {
                let (session, largest) = (spec.label.clone(), spec.largest());
                return Err(DeviceError::OverBudget {
                    session,
                    needed_bytes,
                    held_bytes,
                    budget_bytes,
                    over_bytes,
                    largest,
                });
            }
        }
        Ok((wanted, self.lanes.get(&spec.lane).and_then(|l| l.arenas.clone())))
    }

    /// What is held, or comes back with the next lease.
    fn committed(&self) -> u64 {
        let ledger = &self.context.ledger;
        let lanes: u64 = self.lanes.keys().map(|lane| self.lane_bytes(*lane)).sum();
        lanes + ledger.of(Label::Weights).reserved_bytes + ledger.of(Label::State).reserved_bytes
    }

    fn lane_bytes(&self, lane: Lane) -> u64 {
        let held = self.lanes.get(&lane).and_then(|l| l.arenas.as_ref()).map_or(0, |a| a.bytes());
        let back = sizes(&self.need(lane), &self.options, &self.context);
        back.map(|sizes| sizes.iter().sum()).unwrap_or(0u64).max(held)
    }
}

impl Own {
    /// Makes a session's state.
    pub(super) async fn new(
        context: &Context,
        spec: &SessionSpec,
        weights: HeldWeights,
    ) -> Result<Self, DeviceError> {
        let (mut state, mut _used) = (Vec::with_capacity(spec.state.len()), Vec::new());
        for one in &spec.state {
            let name = format!("{}: {}", spec.label, one.label);
            state.push(OwnedBuffer::new(context, Label::State, &name, one.bytes, one.usage).await?);
            _used.push(InUse::new(&context.ledger, Label::State, one.bytes));
        }
        Ok(Own { state, weights, _used })
    }
}

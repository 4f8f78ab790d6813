//! A line to stand in: one at a time, first come first served, without blocking a thread.

use super::lock;
use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

/// Admits one holder at a time.
#[derive(Debug, Default)]
pub(crate) struct Gate(Mutex<Line>);

#[derive(Debug, Default)]
struct Line {
    taken: bool,
    tickets: u64,
    waiting: VecDeque<(u64, Waker)>,
}

/// Being inside; dropping it lets the next one in.
#[derive(Debug)]
pub(crate) struct Turn(Arc<Gate>);

/// Standing in line; dropping it gives up the place.
#[derive(Debug)]
pub(crate) struct Waiting {
    gate: Arc<Gate>,
    ticket: Option<u64>,
}

impl Gate {
    /// Resolves when it is one's turn.
    pub(crate) fn enter(self: &Arc<Self>) -> Waiting {
        Waiting { gate: self.clone(), ticket: None }
    }
}

impl Line {
    fn call_next(&self) {
        if let (false, Some((_, waker))) = (self.taken, self.waiting.front()) {
            waker.wake_by_ref();
        }
    }
}

impl Future for Waiting {
    type Output = Turn;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Turn> {
        let gate = self.gate.clone();
        let mut line = lock(&gate.0);
        let place = self.ticket.and_then(|ticket| line.waiting.iter().position(|(t, _)| *t == ticket));
        let first = place.map_or(line.waiting.is_empty(), |place| place == 0);
        if first && !line.taken {
            line.taken = true;
            if place.is_some() {
                line.waiting.pop_front();
            }
            self.ticket = None;
            return Poll::Ready(Turn(gate.clone()));
        }
        match place {
            Some(place) => line.waiting[place].1.clone_from(context.waker()),
            None => {
                let ticket = line.tickets;
                line.tickets += 1;
                line.waiting.push_back((ticket, context.waker().clone()));
                self.ticket = Some(ticket);
            }
        }
        Poll::Pending
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket {
            let mut line = lock(&self.gate.0);
            line.waiting.retain(|(t, _)| *t != ticket);
            line.call_next();
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut line = lock(&self.0.0);
        line.taken = false;
        line.call_next();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::pin;

    /// Polls once; wakers are not asked for anything here.
    fn poll(waiting: Pin<&mut Waiting>) -> Option<Turn> {
        match waiting.poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(turn) => Some(turn),
            Poll::Pending => None,
        }
    }

    #[test]
    fn one_at_a_time_in_the_order_of_coming() {
        let gate = Arc::new(Gate::default());
        let (mut a, mut b, mut c) = (pin!(gate.enter()), pin!(gate.enter()), pin!(gate.enter()));
        let turn = poll(a.as_mut()).expect("nobody is inside");
        assert!(poll(b.as_mut()).is_none() && poll(c.as_mut()).is_none());
        drop(turn);
        assert!(poll(c.as_mut()).is_none(), "b came before");
        let turn = poll(b.as_mut()).expect("its turn");
        assert!(poll(c.as_mut()).is_none());
        drop(turn);
        assert!(poll(c.as_mut()).is_some());
    }

    #[test]
    fn who_leaves_the_line_holds_up_nobody() {
        let gate = Arc::new(Gate::default());
        let turn = poll(pin!(gate.enter())).expect("nobody is inside");
        let mut behind = pin!(gate.enter());
        {
            let mut gives_up = pin!(gate.enter());
            assert!(poll(gives_up.as_mut()).is_none() && poll(behind.as_mut()).is_none());
        }
        drop(turn);
        assert!(poll(behind.as_mut()).is_some());
    }
}

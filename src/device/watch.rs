//! Whether a device is lost. wgpu swallows calls on a lost device without a word, so somebody has to keep
//! what its callback said.

use super::DeviceError;
use std::sync::{Arc, OnceLock};
use wgpu::{Device, PollType};

/// Remembers that a device was lost. Copies share what they know.
#[derive(Debug, Clone, Default)]
pub struct DeviceWatch(Arc<OnceLock<String>>);

impl DeviceWatch {
    /// A watch that nobody tells yet: for an engine that has a callback of its own and calls
    /// [`DeviceWatch::tell`] from it.
    pub fn new() -> Self {
        DeviceWatch::default()
    }

    /// A watch that takes the device's one callback for loss; a callback set before is replaced.
    pub fn install(device: &Device) -> Self {
        let watch = DeviceWatch::new();
        let told = watch.clone();
        device.set_device_lost_callback(move |reason, message| {
            told.tell(format!("{reason:?} {message}").trim_end());
        });
        watch
    }

    /// Notes that the device is lost; the first reason stays.
    pub fn tell(&self, reason: &str) {
        if self.0.set(reason.to_owned()).is_ok() {
            log::warn!("device lost: {reason}");
        }
    }

    /// Why the device is lost, where it is known to be.
    pub fn reason(&self) -> Option<&str> {
        self.0.get().map(String::as_str)
    }

    /// Lets the device tell what is due, without waiting, and says whether it is lost. The callback for a
    /// destroyed device comes with a poll and no sooner.
    ///
    /// # Errors
    /// [`DeviceError::Lost`].
    pub fn check(&self, device: &Device) -> Result<(), DeviceError> {
        if self.reason().is_none()
            && let Err(error) = device.poll(PollType::Poll)
        {
            log::debug!("poll: {error}");
        }
        match self.reason() {
            None => Ok(()),
            Some(reason) => Err(DeviceError::Lost { reason: reason.to_owned() }),
        }
    }

    /// What an error really means: where the device is lost, that.
    pub fn explain(&self, device: &Device, error: DeviceError) -> DeviceError {
        self.check(device).err().unwrap_or(error)
    }
}

use std::marker::PhantomData;
use std::thread::JoinHandle;

use crate::{Error, QosClass};

/// Raises another thread's class until dropped, so that one who waits for it is not held up by its low class (Apple).
///
/// An override only raises: the thread runs at the higher of its own class and this one, and its own request still reads
/// as before. There is no way to *set* another thread's class.
#[derive(Debug)]
#[must_use = "dropping the override ends it at once"]
pub struct Override<'a> {
    #[cfg(target_vendor = "apple")]
    started: Option<crate::sys::apple::RawOverride>,
    /// The thread can't be joined meanwhile, so its handle stays valid.
    thread: PhantomData<&'a ()>,
}

impl<'a> Override<'a> {
    /// Raises a thread to a class.
    ///
    /// # Errors
    /// When the system refuses; always elsewhere than on Apple systems.
    #[cfg_attr(not(target_vendor = "apple"), expect(unused_variables, reason = "no other system has overrides"))]
    pub fn start<T>(thread: &'a JoinHandle<T>, class: QosClass) -> Result<Self, Error> {
        #[cfg(target_vendor = "apple")]
        {
            use std::os::unix::thread::JoinHandleExt;
            let class = crate::apple::class_to_raw(class);
            let started = crate::sys::apple::start_override(thread.as_pthread_t() as libc::pthread_t, class, 0)
                .ok_or(Error::NotAvailable { what: "an override", reason: "the system refused it for this thread" })?;
            Ok(Override { started: Some(started), thread: PhantomData })
        }
        #[cfg(not(target_vendor = "apple"))]
        Err(Error::NotAvailable { what: "an override of another thread's class", reason: super::APPLE_ONLY })
    }
}

#[cfg(target_vendor = "apple")]
impl Drop for Override<'_> {
    fn drop(&mut self) {
        if let Some(started) = self.started.take() {
            // An error here means that the thread has ended, and its override with it.
            let _ = crate::sys::apple::end_override(started);
        }
    }
}

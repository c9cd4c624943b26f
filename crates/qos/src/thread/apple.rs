//! Apple: `pthread_set_qos_class_self_np` on the calling thread, and three ways to read back.

use std::io;

use crate::apple::{QOS_CLASS_UNSPECIFIED, class_from_raw, class_of_tier, class_to_raw, parse_extended_info};
use crate::sys::apple as sys;
use crate::{AppleThread, Applied, Attribute, Effective, Error, Outcome, Request, Step};

/// What to put back: the class as a number, since it may be one outside the five.
#[derive(Debug, Clone)]
pub(crate) struct Saved {
    class: u32,
    relative_priority: i32,
}

pub(crate) fn apply(request: &Request, undo: bool) -> Result<(Applied, Saved), Error> {
    let (class, relative_priority) = sys::class()?;
    if undo && class == QOS_CLASS_UNSPECIFIED {
        let reason = "the thread has no class now, and no call takes a class away again";
        return Err(Error::Irreversible { class: request.class, attribute: Attribute::Class, reason });
    }
    let before = describe(class, relative_priority);
    set(class_to_raw(request.class), request.relative_priority)?;
    let (new_class, new_priority) = sys::class()?;
    let outcome = |same| if same { Outcome::Unchanged } else { Outcome::Changed };
    let mut steps = vec![
        Step { attribute: Attribute::Class, outcome: outcome(class == new_class) },
        Step { attribute: Attribute::RelativePriority, outcome: outcome(relative_priority == new_priority) },
    ];
    if request.cpus.is_some() {
        let outcome = Outcome::NotAvailable("Apple silicon has no thread affinity");
        steps.push(Step { attribute: Attribute::Affinity, outcome });
    }
    let after = describe(new_class, new_priority);
    let applied = Applied { request: request.clone(), before: Effective::Apple(before), after: Effective::Apple(after), steps };
    Ok((applied, Saved { class, relative_priority }))
}

pub(crate) fn restore(saved: &Saved) -> Result<(), Error> {
    set(saved.class, saved.relative_priority)
}

pub(crate) fn effective() -> Result<Effective, Error> {
    let (class, relative_priority) = sys::class()?;
    Ok(Effective::Apple(describe(class, relative_priority)))
}

fn set(class: u32, relative_priority: i32) -> Result<(), Error> {
    match sys::set_class(class, relative_priority) {
        0 => Ok(()),
        // The kernel's answer for a thread from which another call has stripped quality of service.
        libc::EPERM => Err(Error::NoQosThread),
        errno => Err(Error::System { attempted: "set the thread's class", source: io::Error::from_raw_os_error(errno) }),
    }
}

fn describe(class: u32, relative_priority: i32) -> AppleThread {
    let priorities = sys::extended_info().and_then(|bytes| parse_extended_info(&bytes));
    AppleThread::new(
        class_from_raw(class),
        relative_priority,
        sys::kernel_policy().and_then(|policy| class_of_tier(policy[0])),
        priorities.map(|priorities| priorities.base),
        priorities.map(|priorities| priorities.current),
        priorities.map(|priorities| priorities.max),
    )
}

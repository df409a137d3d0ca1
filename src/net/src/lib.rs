//! Batched UDP sockets.
//!
//! One system call moves many datagrams: [`RecvBatch`] wraps `recvmmsg`, [`send_batch`] wraps `sendmmsg` and gathers
//! each datagram from up to two slices, so a header and a payload need not be joined first; [`send_runs`] has the kernel
//! cut runs of equal datagrams apart. [`bind`] opens a non-blocking socket with large buffers and says what the kernel
//! granted; [`interfaces`] lists local addresses.
//!
//! ```
//! use rostrans_net::{BindOptions, Datagram, RecvBatch, bind, send_batch, wait_readable};
//! let (socket, _granted) = bind(([127, 0, 0, 1], 0).into(), &BindOptions::default())?;
//! let to = socket.local_addr()?;
//! send_batch(&socket, &[Datagram::new(b"one", Some(to)), Datagram::gather(b"tw", b"o", Some(to))])?;
//! wait_readable(&[&socket], None)?;
//! let mut batch = RecvBatch::new(8, 2048);
//! batch.recv(&socket)?;
//! assert_eq!(batch.iter().next().map(|d| d.bytes), Some(&b"one"[..]));
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! All `unsafe` of the socket path is in [`mod@mmsg`], `run` and [`mod@interface`]; the crate knows no protocol.

pub mod interface;
pub mod mmsg;
mod run;
mod socket;

pub use interface::{Interface, interfaces};
pub use mmsg::{Datagram, Received, RecvBatch, send_batch};
pub use run::send_runs;
pub use socket::{
    BindOptions, Granted, bind, join_multicast, leave_multicast, multicast_through, readable,
    set_multicast_if, wait_readable,
};

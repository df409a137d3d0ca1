use std::io;

use thiserror::Error;

/// Why a participant or endpoint could not be created.
#[derive(Debug, Error)]
pub enum RtpsError {
    /// The domain id leaves no room for the standard ports.
    #[error("domain {0} is out of range; use 0 to 232")]
    Domain(u16),
    /// All standard port pairs of the domain are taken.
    #[error(
        "no free participant id in domain {domain}; {taken} participants run on this host, end some or set another \
         ROS_DOMAIN_ID"
    )]
    NoFreeParticipant {
        /// The domain searched.
        domain: u16,
        /// How many ids it has.
        taken: u16,
    },
    /// A socket could not be opened or configured.
    #[error("cannot open the RTPS sockets")]
    Socket(#[source] io::Error),
    /// A thread could not be started.
    #[error("cannot start an RTPS thread")]
    Thread(#[source] io::Error),
    /// The topic or type name is empty, has a NUL byte or is longer than 255 bytes.
    #[error("invalid {what} name '{name}'")]
    Name {
        /// Which name: `topic` or `type`.
        what: &'static str,
        /// The name given.
        name: String,
    },
    /// User data beyond what a discovery announcement can carry.
    #[error("user data has {0} bytes; at most 8192 fit")]
    UserData(usize),
    /// More than 64 partitions, or a name with a NUL byte or longer than 255 bytes.
    #[error("invalid partitions; at most 64 names of up to 255 bytes without NUL")]
    Partitions,
    /// A period of the QoS or the lease of the participant is zero, which nothing can meet, or longer than DDS can say.
    #[error("the {0} must be more than zero and less than 68 years; leave it out for none")]
    Period(&'static str),
    /// The participant is closed.
    #[error("the participant is closed")]
    Closed,
}

/// Why a sample was not accepted for sending.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum WriteError {
    /// The payload lacks its 4-byte encapsulation header.
    #[error("payload of {have} bytes has no encapsulation header")]
    TooShort {
        /// Bytes given.
        have: usize,
    },
    /// The payload is larger than RTPS can carry.
    #[error("payload of {have} bytes exceeds {max}")]
    TooLong {
        /// Bytes given.
        have: usize,
        /// Bytes possible.
        max: usize,
    },
    /// A keep-all history is full of samples that a reader has not acknowledged.
    #[error("history is full; a reader is too slow")]
    HistoryFull,
    /// The reader named in `only_to` is not matched.
    #[error("the reader is not matched")]
    NotMatched,
    /// The participant or endpoint is closed.
    #[error("the writer is closed")]
    Closed,
}

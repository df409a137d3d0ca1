//! What the system lets a process have.

/// Raises the limit on open files to what the system allows: each rule may need a socket, and the usual 1024 is from
/// a time when programs kept sets of file numbers in bits.
#[cfg(unix)]
pub(crate) fn raise_open_files() {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    if let Err(error) = setrlimit(Resource::Nofile, limit) {
        // Some systems name no number as the highest and then take none.
        tracing::debug!(%error, "limit on open files not raised");
    }
}

/// Nothing to raise here.
#[cfg(not(unix))]
pub(crate) fn raise_open_files() {}

#[cfg(all(test, unix))]
mod tests {
    use rustix::process::{Resource, getrlimit};

    #[test]
    fn open_files_may_be_as_many_as_the_system_allows() {
        super::raise_open_files();
        let limit = getrlimit(Resource::Nofile);
        assert_eq!(limit.current, limit.maximum);
    }
}

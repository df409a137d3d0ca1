//! A pseudo terminal in the place of a serial line.

use super::*;

pub(super) struct Pty {
    pub(super) master: c_int,
    pub(super) _slave: c_int,
    pub(super) link: String,
    pub(super) pending: Vec<u8>,
    pub(super) rx: Vec<u8>,
}

impl Pty {
    pub(super) fn open(link: &str) -> io::Result<Pty> {
        unsafe {
            let m = libc::posix_openpt(libc::O_RDWR | libc::O_NOCTTY | libc::O_NONBLOCK | libc::O_CLOEXEC);
            if m < 0 || libc::grantpt(m) < 0 || libc::unlockpt(m) < 0 {
                return Err(io::Error::last_os_error());
            }
            let mut name = [0 as libc::c_char; 128];
            if libc::ptsname_r(m, name.as_mut_ptr(), name.len()) != 0 {
                return Err(io::Error::last_os_error());
            }
            // kept open: the master sees no hang-up while the router starts
            let s = libc::open(name.as_ptr(), libc::O_RDWR | libc::O_NOCTTY | libc::O_CLOEXEC);
            let mut t: libc::termios = std::mem::zeroed();
            libc::tcgetattr(s, &mut t);
            libc::cfmakeraw(&mut t);
            libc::tcsetattr(s, libc::TCSANOW, &t);
            let cl = CString::new(link).unwrap();
            libc::unlink(cl.as_ptr());
            if libc::symlink(name.as_ptr(), cl.as_ptr()) < 0 {
                return Err(io::Error::last_os_error());
            }
            Ok(Pty { master: m, _slave: s, link: link.into(), pending: Vec::new(), rx: Vec::new() })
        }
    }

    /// Writes what is pending; true when all of it is gone.
    pub(super) fn push(&mut self) -> bool {
        while !self.pending.is_empty() {
            let r = unsafe { libc::write(self.master, self.pending.as_ptr() as *const c_void, self.pending.len()) };
            if r <= 0 {
                return false;
            }
            self.pending.drain(..r as usize);
        }
        true
    }
}

impl Drop for Pty {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.link);
        unsafe { libc::close(self.master) };
    }
}

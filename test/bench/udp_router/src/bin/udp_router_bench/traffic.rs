//! Sending frames, and taking in what arrives.

use super::*;

impl Engine {
    pub(super) fn new(o: &Opt) -> io::Result<Engine> {
        let mix = Mix::new(o.signed);
        let epoll = unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) };
        let mut vehicles = Vec::new();
        let mut fcu_addr = Vec::new();
        let pty = match &o.serial {
            Some(link) => Some(Pty::open(link)?),
            None => None,
        };
        if pty.is_none() {
            for i in 0..o.vehicles {
                let s = Udp::bind(SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0), true, false)?;
                s.set_rcvbuf(1 << 20);
                let to = SocketAddrV4::new(*o.fcu.ip(), o.fcu.port() + o.fcu_step * i as u16);
                fcu_addr.push(urb::net::to_sockaddr(to));
                let mut ev = libc::epoll_event { events: libc::EPOLLIN as u32, u64: i as u64 };
                unsafe { libc::epoll_ctl(epoll, libc::EPOLL_CTL_ADD, s.fd, &mut ev) };
                vehicles.push(s);
            }
        }
        let mut sinks = Vec::new();
        for &e in &o.endpoints {
            let sock = Udp::bind(e, true, false)
                .map_err(|x| io::Error::new(x.kind(), format!("endpoint {e}: {x}")))?;
            sock.set_rcvbuf(32 << 20);
            sinks.push(Sink {
                sock,
                peer: None,
                seen: Vec::new(),
                unique: 0,
                dup: 0,
                reorder: 0,
                bad: 0,
                datagrams: 0,
                last: vec![-1; 256],
                up_seq: 0,
            });
        }
        Ok(Engine {
            mix,
            vehicles,
            fcu_addr,
            vseq: vec![0; o.vehicles],
            epoll,
            sinks,
            pty,
            rb: RecvBatch::new(BATCH, SLOT, true),
            sb: SendBatch::new(BATCH),
            frames: vec![0u8; BATCH * SLOT].into_boxed_slice(),
            tag: (now_ns() as u32) | 1,
            up: Up::default(),
            up_seen: Vec::new(),
            lat: Hist::default(),
            up_lat: Hist::default(),
            check_every: 1,
            arrived: 0,
            watch: None,
            samples: Vec::new(),
            keep_samples: false,
            o: o.clone(),
        })
    }

    /// Heartbeats both ways until each endpoint heard of the router.
    pub(super) fn wait_ready(&mut self, limit: Duration) -> bool {
        let start = Instant::now();
        while start.elapsed() < limit {
            self.heartbeats();
            let t = Instant::now();
            while t.elapsed() < Duration::from_millis(50) {
                self.poll_sinks(u32::MAX, now_ns());
                self.poll_up(u32::MAX);
                std::thread::sleep(Duration::from_millis(1));
            }
            if self.sinks.iter().all(|s| s.datagrams > 0) {
                // let the router learn the ground stations too
                self.gcs_heartbeats();
                std::thread::sleep(Duration::from_millis(50));
                self.poll_up(u32::MAX);
                return true;
            }
        }
        false
    }

    pub(super) fn heartbeats(&mut self) {
        let mut b = [0u8; mav::MAX_FRAME];
        if let Some(p) = &mut self.pty {
            let n = mav::heartbeat(&mut b, 1, 1, self.vseq[0], false);
            self.vseq[0] = self.vseq[0].wrapping_add(1);
            p.pending.extend_from_slice(&b[..n]);
            p.push();
            return;
        }
        for i in 0..self.vehicles.len() {
            let n = mav::heartbeat(&mut b, i as u8 + 1, 1, self.vseq[i], false);
            self.vseq[i] = self.vseq[i].wrapping_add(1);
            self.vehicles[i].send_to(&b[..n], &self.fcu_addr[i]);
        }
    }

    pub(super) fn gcs_heartbeats(&mut self) {
        let mut b = [0u8; mav::MAX_FRAME];
        for (j, s) in self.sinks.iter_mut().enumerate() {
            if let Some(p) = &s.peer {
                let n = mav::heartbeat(&mut b, 255 - j as u8, 190, s.up_seq, true);
                s.up_seq = s.up_seq.wrapping_add(1);
                s.sock.send_to(&b[..n], p);
            }
        }
    }

    /// Reads all endpoint sockets once.
    pub(super) fn poll_sinks(&mut self, tag: u32, _now: u64) -> u64 {
        let mut got = 0;
        for s in self.sinks.iter_mut() {
            let n = self.rb.recv(s.sock.fd, libc::MSG_DONTWAIT);
            if n == 0 {
                continue;
            }
            let t = now_ns();
            s.datagrams += n as u64;
            s.peer = Some(*self.rb.addr(n - 1));
            for i in 0..n {
                let mut d = self.rb.data(i);
                loop {
                    match mav::next_frame(d) {
                        Ok(Some((f, len))) => {
                            d = &d[len..];
                            let Some((ts, seq, ftag)) = f.stamp() else { continue };
                            if ftag != tag || f.msgid() == mav::MSG_COMMAND_LONG {
                                continue;
                            }
                            let (w, bit) = (seq as usize >> 6, 1u64 << (seq & 63));
                            if w >= s.seen.len() {
                                s.bad += 1;
                                continue;
                            }
                            if s.seen[w] & bit != 0 {
                                s.dup += 1;
                                continue;
                            }
                            s.seen[w] |= bit;
                            s.unique += 1;
                            got += 1;
                            let v = f.sysid() as usize;
                            if (seq as i64) < s.last[v] {
                                s.reorder += 1;
                            } else {
                                s.last[v] = seq as i64;
                            }
                            let l = t.saturating_sub(ts);
                            self.lat.add(l);
                            if self.keep_samples {
                                self.samples.push((ts, l.min(u32::MAX as u64) as u32));
                            }
                            if seq % self.check_every == 0 && f.crc_ok() == Some(false) {
                                s.bad += 1;
                            }
                        }
                        Ok(None) => {
                            if !d.is_empty() {
                                s.bad += 1; // a frame cut in two
                            }
                            break;
                        }
                        Err(skip) => {
                            if d[0] != 0xFE {
                                s.bad += 1;
                            }
                            d = &d[skip.min(d.len())..];
                        }
                    }
                }
            }
        }
        self.arrived += got;
        got
    }

    pub(super) fn take_up(up: &mut Up, seen: &mut [u64], lat: &mut Hist, f: &mav::Frame, vehicle: u8, tag: u32, t: u64) {
        let Some((ts, seq, ftag)) = f.stamp() else { return };
        if ftag != tag {
            return;
        }
        if f.msgid() != mav::MSG_COMMAND_LONG {
            up.leaked += 1;
            return;
        }
        if f.payload()[30] != vehicle {
            up.wrong += 1;
            return;
        }
        let (w, bit) = (seq as usize >> 6, 1u64 << (seq & 63));
        if w < seen.len() {
            if seen[w] & bit != 0 {
                up.dup += 1;
                return;
            }
            seen[w] |= bit;
        }
        up.right += 1;
        lat.add(t.saturating_sub(ts));
    }

    /// Reads what came back to the vehicles.
    pub(super) fn poll_up(&mut self, tag: u32) {
        if let Some(p) = &mut self.pty {
            let mut b = [0u8; 4096];
            let r = unsafe { libc::read(p.master, b.as_mut_ptr() as *mut c_void, b.len()) };
            if r <= 0 {
                return;
            }
            let t = now_ns();
            p.rx.extend_from_slice(&b[..r as usize]);
            let mut at = 0;
            loop {
                match mav::next_frame(&p.rx[at..]) {
                    Ok(Some((f, n))) => {
                        Self::take_up(&mut self.up, &mut self.up_seen, &mut self.up_lat, &f, 1, tag, t);
                        at += n;
                    }
                    Ok(None) => break,
                    Err(skip) => at += skip.min(p.rx.len() - at).max(1),
                }
            }
            p.rx.drain(..at);
            return;
        }
        let mut evs: [libc::epoll_event; 16] = unsafe { std::mem::zeroed() };
        let n = unsafe { libc::epoll_wait(self.epoll, evs.as_mut_ptr(), 16, 0) };
        for e in evs.iter().take(n.max(0) as usize) {
            let v = e.u64 as usize;
            let k = self.rb.recv(self.vehicles[v].fd, libc::MSG_DONTWAIT);
            let t = now_ns();
            for i in 0..k {
                let mut d = self.rb.data(i);
                while let Ok(Some((f, len))) = mav::next_frame(d) {
                    Self::take_up(&mut self.up, &mut self.up_seen, &mut self.up_lat, &f, v as u8 + 1, tag, t);
                    d = &d[len..];
                }
            }
        }
    }

    /// Telemetry frames of other vehicles that lie in the vehicles' sockets.
    pub(super) fn leaked(&mut self, tag: u32) -> u64 {
        let mut n = 0;
        for v in 0..self.vehicles.len() {
            loop {
                let k = self.rb.recv(self.vehicles[v].fd, libc::MSG_DONTWAIT);
                if k == 0 {
                    break;
                }
                for i in 0..k {
                    let mut d = self.rb.data(i);
                    while let Ok(Some((f, len))) = mav::next_frame(d) {
                        if f.msgid() != mav::MSG_COMMAND_LONG && f.stamp().is_some_and(|s| s.2 == tag) {
                            n += 1;
                        }
                        d = &d[len..];
                    }
                }
            }
        }
        n
    }

    /// Sends frames `seq..seq + n` of the run; returns how many left.
    pub(super) fn send(&mut self, seq: u64, n: usize, tag: u32) -> usize {
        let t = now_ns();
        if let Some(p) = self.pty.as_mut() {
            if !p.push() {
                return 0;
            }
            let mut b = [0u8; mav::MAX_FRAME];
            for i in 0..n {
                let len = self.mix.write(&mut b, 1, self.vseq[0], t, (seq + i as u64) as u32, tag);
                self.vseq[0] = self.vseq[0].wrapping_add(1);
                p.pending.extend_from_slice(&b[..len]);
            }
            p.push();
            return n;
        }
        let nv = self.vehicles.len();
        let run = self.o.burst * self.o.per_datagram;
        let mut i = 0;
        while i < n {
            // frames of one vehicle in a row
            let v = if nv == 1 { 0 } else { ((seq + i as u64) / run as u64) as usize % nv };
            let left = if nv == 1 { n - i } else { run - ((seq + i as u64) as usize % run) };
            let k = left.min(n - i).min(BATCH);
            let mut slot = 0;
            let mut used = 0;
            let mut in_dg = 0;
            self.sb.clear();
            for j in 0..k {
                let base = slot * SLOT;
                used += self.mix.write(
                    &mut self.frames[base + used..base + SLOT],
                    v as u8 + 1,
                    self.vseq[v],
                    t,
                    (seq + (i + j) as u64) as u32,
                    tag,
                );
                self.vseq[v] = self.vseq[v].wrapping_add(1);
                in_dg += 1;
                if in_dg == self.o.per_datagram || j + 1 == k {
                    unsafe { self.sb.push(self.frames[base..].as_ptr(), used, &self.fcu_addr[v]) };
                    slot += 1;
                    used = 0;
                    in_dg = 0;
                }
            }
            self.sb.flush(self.vehicles[v].fd);
            i += k;
        }
        n
    }

    pub(super) fn send_up(&mut self, seq: u64, tag: u32) {
        let ns = self.sinks.len() as u64;
        let j = (seq % ns) as usize;
        let nv = self.o.vehicles as u64;
        let mut b = [0u8; mav::MAX_FRAME];
        let s = &mut self.sinks[j];
        if let Some(p) = s.peer {
            let target = (seq / ns % nv) as u8 + 1;
            let n = mav::command_long(&mut b, 255 - j as u8, s.up_seq, target, now_ns(), seq as u32, tag);
            s.up_seq = s.up_seq.wrapping_add(1);
            if s.sock.send_to(&b[..n], &p) > 0 {
                self.up.sent += 1;
            }
        }
    }

}

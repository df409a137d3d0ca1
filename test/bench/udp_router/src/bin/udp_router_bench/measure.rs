//! One measurement at a rate, in a closed loop, or flat out.

use super::*;

impl Engine {
    pub(super) fn measure(&mut self, load: Load, pid: Option<i32>) -> Value {
        self.tag = self.tag.wrapping_add(2);
        let tag = self.tag;
        let secs = self.o.duration;
        let cap = match load {
            Load::Rate(r) => ((r * secs) as usize + 1024).min(MAX_FRAMES),
            _ => MAX_FRAMES,
        };
        for s in &mut self.sinks {
            s.seen.clear();
            s.seen.resize(cap.div_ceil(64) + 1, 0);
            s.unique = 0;
            s.dup = 0;
            s.reorder = 0;
            s.bad = 0;
            s.datagrams = 0;
            s.last.fill(-1);
        }
        self.up = Up::default();
        self.up_seen.clear();
        self.up_seen.resize((self.o.upstream * secs) as usize / 64 + 2, 0);
        self.lat = Hist::default();
        self.up_lat = Hist::default();
        self.arrived = 0;
        self.check_every = match load {
            Load::Rate(r) if r <= 60_000.0 => 1,
            _ => 16,
        };
        let m = self.sinks.len() as u64;
        let up_on = self.o.upstream > 0.0;
        self.samples.clear();
        self.keep_samples = matches!(load, Load::Rate(r) if r * secs * m as f64 <= 4e6);
        if self.keep_samples {
            self.samples.reserve(cap * m as usize);
        }
        let mut own_stalls: Stalls = Vec::new();
        let mut prev = 0u64;
        // frames delivered in each millisecond
        let mut windows: Vec<u32> = Vec::with_capacity((secs * 1000.0) as usize + 8);
        let (mut win_end, mut win_base) = (0u64, 0u64);

        let cpu0 = pid.and_then(procfs::cpu);
        let steal0 = procfs::steal_s();
        let self0 = procfs::cpu(std::process::id() as i32);
        let t0 = now_ns();
        let dur = (secs * 1e9) as u64;
        let mut seq = 0u64;
        let mut up_seq = 0u64;
        let mut hb_at = t0 + 1_000_000_000;
        let mut late_max = 0u64;
        // closed loop: what was written off as lost, and when something last came
        let mut lost = 0u64;
        let mut moved = t0;
        let mut t_last = t0;
        loop {
            let now = now_ns();
            if now - t0 >= dur || seq as usize + BATCH >= cap {
                break;
            }
            if prev != 0 && now - prev > STALL_NS {
                own_stalls.push((prev, now));
            }
            prev = now;
            if now >= win_end {
                // only windows of about the right length count
                if win_end != 0 && now - win_end < 200_000 {
                    windows.push((self.arrived - win_base) as u32);
                }
                win_end = now + 1_000_000;
                win_base = self.arrived;
            }
            if now > hb_at {
                self.heartbeats();
                hb_at += 1_000_000_000;
            }
            let want = match load {
                Load::Rate(r) => {
                    let due = ((now - t0) as f64 * r / 1e9) as u64;
                    late_max = late_max.max(due.saturating_sub(seq));
                    (due.saturating_sub(seq)).min(BATCH as u64)
                }
                Load::Closed(w) => {
                    let low = self.sinks.iter().map(|s| s.unique).min().unwrap() + lost;
                    let out = seq.saturating_sub(low);
                    if out >= w && now - moved > 20_000_000 {
                        lost += out;
                        moved = now;
                    }
                    w.saturating_sub(out).min(BATCH as u64)
                }
                Load::Flood => BATCH as u64,
            };
            // whole datagrams and bursts only
            let unit = (self.o.burst * self.o.per_datagram) as u64;
            let want = if want >= unit { want - want % unit } else { 0 };
            if want > 0 {
                seq += self.send(seq, want as usize, tag) as u64;
            }
            if self.poll_sinks(tag, now) > 0 {
                moved = now;
                t_last = now;
            }
            if up_on {
                let due = ((now - t0) as f64 * self.o.upstream / 1e9) as u64;
                if up_seq < due {
                    self.send_up(up_seq, tag);
                    up_seq += 1;
                }
                self.poll_up(tag);
            }
        }
        let t_end = now_ns();
        let in_time: u64 = self.arrived;
        // what is still on its way
        let mut quiet = t_end;
        loop {
            let now = now_ns();
            if let Some(p) = &mut self.pty {
                p.push();
            }
            if self.poll_sinks(tag, now) > 0 {
                quiet = now;
                t_last = now;
            }
            if up_on {
                self.poll_up(tag);
            }
            let done = self.arrived == seq * m && now - t_end > 2_000_000;
            if done || now - quiet > 150_000_000 || now - t_end > 2_000_000_000 {
                break;
            }
        }
        let mut stalls = self.watch.as_ref().map(|w| w.take()).unwrap_or_default();
        stalls.retain(|s| s.1 > t0 && s.0 < t_end);
        let watched: u64 = stalls.iter().map(|s| s.1 - s.0).sum();
        let own: u64 = own_stalls.iter().map(|s| s.1 - s.0).sum();
        let n_stalls = (stalls.len(), own_stalls.len());
        stalls.extend_from_slice(&own_stalls);
        let stalls = merge(stalls, 300_000);
        let mut clean = Hist::default();
        for &(ts, l) in &self.samples {
            if !overlaps(&stalls, ts, ts + l as u64) {
                clean.add(l as u64);
            }
        }
        windows.sort_unstable();
        let win = |q: f64| {
            windows.get(((windows.len() as f64 * q) as usize).min(windows.len().saturating_sub(1))).copied().unwrap_or(0)
                as f64 * 1000.0 / m as f64
        };
        let cpu1 = pid.and_then(procfs::cpu);
        let self1 = procfs::cpu(std::process::id() as i32);
        let steal = procfs::steal_s() - steal0;
        let sec = (t_end - t0) as f64 / 1e9;
        let unique: Vec<u64> = self.sinks.iter().map(|s| s.unique).collect();
        let delivered: u64 = unique.iter().sum();
        let expect = seq * m;
        let loss = if expect == 0 { 0.0 } else { 1.0 - delivered as f64 / expect as f64 };
        let leak = self.up.leaked + if self.vehicles.len() > 1 { self.leaked(tag) } else { 0 };
        let sum = |f: fn(&Sink) -> u64| self.sinks.iter().map(f).sum::<u64>();
        let r2 = |x: f64| (x * 100.0).round() / 100.0;
        let mut v = json!({
            "load": match load {
                Load::Rate(r) => json!({"kind": "rate", "rate": r}),
                Load::Closed(w) => json!({"kind": "closed", "window": w}),
                Load::Flood => json!({"kind": "flood"}),
            },
            "seconds": r2(sec),
            "sent": seq,
            "sent_per_s": (seq as f64 / sec).round(),
            "delivered": delivered,
            "delivered_per_s": (in_time as f64 / sec).round(),
            "per_endpoint": unique,
            "loss": (loss * 1e6).round() / 1e6,
            "duplicates": sum(|s| s.dup),
            "reordered": sum(|s| s.reorder),
            "corrupt_or_cut": sum(|s| s.bad),
            "datagrams_out": sum(|s| s.datagrams),
            "leaked_to_vehicles": leak,
            "in_per_s_of_ms": {"p50": win(0.5), "p75": win(0.75), "p90": win(0.9)},
            "latency": self.lat.json_us(),
            "latency_clean": clean.json_us(),
            "machine_stalls": {
                "router_cpu": n_stalls.0, "router_cpu_share": r2(watched as f64 / 1e9 / sec),
                "load_cpu": n_stalls.1, "load_cpu_share": r2(own as f64 / 1e9 / sec),
            },
            "backlog_max": late_max,
            "drain_ms": r2(t_last.saturating_sub(t_end) as f64 / 1e6),
            "steal_s": r2(steal),
        });
        if up_on {
            v["upstream"] = json!({
                "sent": self.up.sent,
                "to_target": self.up.right,
                "to_another_vehicle": self.up.wrong,
                "duplicates": self.up.dup,
                "loss": 1.0 - self.up.right as f64 / self.up.sent.max(1) as f64,
                "latency": self.up_lat.json_us(),
            });
        }
        if let (Some(a), Some(b), Some(pid)) = (cpu0, cpu1, pid) {
            let stat = b.stat_s - a.stat_s;
            let exact = b.sched_s - a.sched_s;
            let cpu = if exact > 0.0 { exact } else { stat };
            let wall = (now_ns() - t0) as f64 / 1e9;
            let (rss, hwm) = procfs::rss_kib(pid);
            let per = |x: f64, n: u64| if n == 0 { 0.0 } else { (x * 1e9 / n as f64).round() / 1e3 };
            v["router"] = json!({
                "cpu_s": (cpu * 1e4).round() / 1e4,
                "cpu_s_stat": r2(stat),
                "user_share": if stat > 0.0 { r2((b.user_s - a.user_s) / stat) } else { 0.0 },
                "cpu_busy": r2(cpu / wall),
                "cpu_s_per_million_in": per(cpu, seq),
                "cpu_s_per_million_out": per(cpu, delivered),
                "out_per_cpu_s": if cpu > 0.0 { (delivered as f64 / cpu).round() } else { 0.0 },
                "voluntary_switches": b.vcsw - a.vcsw,
                "involuntary_switches": b.ivcsw - a.ivcsw,
                "rss_kib": rss,
                "peak_rss_kib": hwm,
                "threads": procfs::threads(pid),
            });
        }
        if let (Some(a), Some(b)) = (self0, self1) {
            v["load_cpu_s"] = json!(r2(b.sched_s - a.sched_s));
        }
        v
    }
}

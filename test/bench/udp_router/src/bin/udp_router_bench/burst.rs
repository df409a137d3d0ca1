//! Bursts, and the search for the highest rate without loss.

use super::*;

impl Engine {
    /// One burst: the time from before its first send to its last delivery.
    pub(super) fn burst_once(&mut self, k: usize, tag: u32, seq: &mut u64) -> Option<u64> {
        let m = self.sinks.len() as u64;
        let want = self.arrived + k as u64 * m;
        let t0 = now_ns();
        let mut left = k;
        while left > 0 {
            let n = self.send(*seq, left.min(BATCH), tag);
            *seq += n as u64;
            left -= n;
            if n == 0 {
                self.poll_sinks(tag, t0);
            }
            if now_ns() - t0 > 50_000_000 {
                return None;
            }
        }
        loop {
            if let Some(p) = &mut self.pty {
                p.push();
            }
            self.poll_sinks(tag, t0);
            let t = now_ns();
            if self.arrived >= want {
                return Some(t - t0);
            }
            if t - t0 > 50_000_000 {
                self.arrived = want;
                return None;
            }
        }
    }

    pub(super) fn bursts(&mut self, pid: Option<i32>) -> Value {
        self.tag = self.tag.wrapping_add(2);
        let tag = self.tag;
        for s in &mut self.sinks {
            s.seen.clear();
            s.seen.resize(MAX_FRAMES / 64, 0);
            s.unique = 0;
            s.dup = 0;
            s.bad = 0;
            s.last.fill(-1);
        }
        self.arrived = 0;
        self.check_every = 64;
        self.keep_samples = false;
        let m = self.sinks.len() as f64;
        let (small, big) = (16usize, 128usize);
        let mut times: [Vec<u64>; 2] = [Vec::new(), Vec::new()];
        let mut failed = 0u64;
        let mut seq = 0u64;
        let cpu0 = pid.and_then(procfs::cpu);
        let t0 = now_ns();
        let dur = (self.o.duration * 1e9) as u64;
        let mut turn = 0usize;
        while now_ns() - t0 < dur && (seq as usize) < MAX_FRAMES - 1024 {
            let k = if turn.is_multiple_of(2) { small } else { big };
            match self.burst_once(k, tag, &mut seq) {
                Some(t) => times[turn % 2].push(t),
                None => failed += 1,
            }
            turn += 1;
            // the router falls asleep again, at varying times
            let gap = now_ns() + 100_000 + (turn as u64 * 7919 % 150_000);
            while now_ns() < gap {
                self.poll_sinks(tag, 0);
            }
        }
        let sec = (now_ns() - t0) as f64 / 1e9;
        let q = |v: &mut Vec<u64>, f: f64| {
            v.sort_unstable();
            v.get((v.len() as f64 * f) as usize).copied().unwrap_or(0) as f64 / 1e3
        };
        let us = |x: f64| (x * 1e3).round() / 1e3;
        let [mut a, mut b] = times;
        let slope = |a: f64, b: f64| (b - a) / (big - small) as f64;
        let s50 = slope(q(&mut a, 0.5), q(&mut b, 0.5));
        let s25 = slope(q(&mut a, 0.25), q(&mut b, 0.25));
        let mut v = json!({
            "load": {"kind": "burst", "sizes": [small, big]},
            "seconds": us(sec),
            "bursts": a.len() + b.len(),
            "failed": failed,
            "small_us": {"p10": q(&mut a, 0.1), "p50": q(&mut a, 0.5), "p90": q(&mut a, 0.9)},
            "big_us": {"p10": q(&mut b, 0.1), "p50": q(&mut b, 0.5), "p90": q(&mut b, 0.9)},
            "service_us_per_in": us(s50),
            "service_us_per_in_p25": us(s25),
            "service_us_per_out": us(s50 / m),
            "burst_in_per_s": if q(&mut b, 0.5) > 0.0 { (big as f64 * 1e6 / q(&mut b, 0.5)).round() } else { 0.0 },
        });
        if let (Some(x), Some(y)) = (cpu0, pid.and_then(procfs::cpu)) {
            v["router"] = json!({
                "cpu_s": us(y.sched_s - x.sched_s),
                "cpu_s_per_million_in": us((y.sched_s - x.sched_s) * 1e6 / seq.max(1) as f64),
                "voluntary_switches": y.vcsw - x.vcsw,
                "rss_kib": procfs::rss_kib(pid.unwrap()).0,
            });
        }
        v
    }

    pub(super) fn search(&mut self, pid: Option<i32>) -> Value {
        let mut trials = Vec::new();
        let mut best: Option<Value> = None;
        let mut generator_bound = false;
        let (mut lo, mut hi) = (0.0f64, f64::INFINITY);
        let mut r = self.o.lo;
        for _ in 0..40 {
            let mut ok = false;
            let mut last = Value::Null;
            for _ in 0..=self.o.retries {
                let v = self.measure(Load::Rate(r), pid);
                let loss = v["loss"].as_f64().unwrap();
                let kept = v["sent_per_s"].as_f64().unwrap() >= 0.98 * r;
                trials.push(json!({"rate": r.round(), "loss": loss, "sent_per_s": v["sent_per_s"]}));
                ok = loss <= self.o.max_loss && kept;
                if loss <= self.o.max_loss && !kept {
                    generator_bound = true;
                }
                last = v;
                if ok {
                    break;
                }
            }
            if ok {
                lo = r;
                best = Some(last);
            } else {
                hi = r;
            }
            if hi.is_finite() && (hi - lo) / hi < self.o.precision {
                break;
            }
            if lo >= self.o.hi || (hi.is_finite() && hi <= self.o.lo) {
                break;
            }
            r = if hi.is_finite() { (lo + hi) / 2.0 } else { (r * 1.6).min(self.o.hi) };
        }
        json!({"kind": "search", "max_loss": self.o.max_loss, "rate": lo.round(),
               "generator_bound": generator_bound, "best": best, "trials": trials})
    }
}

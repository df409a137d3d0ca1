//! One conversation with a vehicle's file server; no I/O, and time is an argument.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use super::{
    read::Read,
    task::{Done, Job, Task, list, with_bytes, with_path, write},
    wire::{ACK, MAX_DATA, Opcode, Payload, Refusal, errno},
};

/// The client's side.
#[derive(Default)]
pub(super) struct Client {
    /// Sequence number of the next request.
    seq: u16,
    /// Open files by path.
    files: HashMap<String, File>,
    task: Option<Task>,
    asked: Option<Asked>,
    /// How long an answer takes.
    round_trip: Option<Duration>,
}

#[derive(Clone, Copy)]
struct File {
    session: u8,
    /// As the server said; 0 when it does not know.
    size: u32,
}

/// The request that waits for its answer.
struct Asked {
    request: Payload,
    first_sent: Instant,
    sent: Instant,
    /// Sends of it.
    tries: u32,
    /// It is given up so long after the first send, or the last sign of progress.
    patience: Duration,
}

impl Client {
    /// Begins a job; the request to send, or what came of it at once.
    pub(super) fn begin(&mut self, job: Job, now: Instant) -> Result<Payload, Done> {
        if self.task.is_some() {
            return Err(Done::Failed(errno::BUSY));
        }
        let (task, request) = self.plan(job).map_err(Done::Failed)?;
        let Some(request) = request else { return Err(self.finish(task, None)) };
        self.task = Some(task);
        Ok(self.ask(request, now))
    }

    fn plan(&mut self, job: Job) -> Result<(Task, Option<Payload>), i32> {
        Ok(match job {
            Job::List(path) => {
                let request = with_path(Opcode::List, 0, &path)?;
                (Task::List { path, entries: Vec::new(), seen: 0 }, Some(request))
            }
            Job::Open { path, how } => {
                // One that was left open would use up a session; many vehicles have one only.
                let request = match self.files.remove(&path) {
                    Some(file) => Payload::request(Opcode::Terminate, file.session, 0, &[]),
                    None => with_path(how, 0, &path)?,
                };
                (Task::Open { path, how }, Some(request))
            }
            Job::Close(path) => {
                let file = self.file(&path)?;
                (Task::Close(path), Some(Payload::request(Opcode::Terminate, file.session, 0, &[])))
            }
            Job::Read { path, offset, size } => {
                let file = self.file(&path)?;
                let start = u32::try_from(offset).map_err(|_| errno::FBIG)?;
                let rest = if file.size > 0 { u64::from(file.size).saturating_sub(offset) } else { size };
                let want = usize::try_from(size.min(rest)).ok().filter(|want| *want <= MAX_READ);
                let read = Read::new(file.session, start, want.ok_or(errno::FBIG)?);
                let request = read.next();
                (Task::Read { path, read }, request)
            }
            Job::Write { path, offset, data } => {
                let session = self.file(&path)?.session;
                let offset = u32::try_from(offset).map_err(|_| errno::FBIG)?;
                u32::try_from(data.len()).ok().and_then(|len| offset.checked_add(len)).ok_or(errno::FBIG)?;
                let request = write(session, offset, &data, 0);
                (Task::Write { path, session, offset, data, done: 0 }, request)
            }
            Job::Truncate { path, length } => {
                let length = u32::try_from(length).map_err(|_| errno::FBIG)?;
                (Task::Plain, Some(with_path(Opcode::Truncate, length, &path)?))
            }
            Job::Rename { from, to } => {
                let both = [from.as_bytes(), &[0], to.as_bytes()].concat();
                (Task::Plain, Some(with_bytes(Opcode::Rename, 0, &both)?))
            }
            Job::Checksum(path) => (Task::Checksum, Some(with_path(Opcode::Checksum, 0, &path)?)),
            Job::Path { path, how } => (Task::Plain, Some(with_path(how, 0, &path)?)),
            Job::Reset => (Task::Reset, Some(Payload::request(Opcode::Reset, 0, 0, &[]))),
        })
    }

    fn file(&self, path: &str) -> Result<File, i32> {
        self.files.get(path).copied().ok_or(errno::BADF)
    }

    /// Takes a reply; the next request to send, or what came of the job. `None` when there is nothing to do.
    pub(super) fn reply(&mut self, reply: &Payload, now: Instant) -> Option<Result<Payload, Done>> {
        let asked = self.asked.as_mut()?;
        let task = self.task.as_mut()?;
        let expected = reply.seq == asked.request.seq.wrapping_add(1) && reply.answers(asked.request.opcode);
        if let Task::Read { .. } = task
            && reply.answers(Opcode::BurstRead as u8)
        {
            return self.burst(reply, now);
        }
        if !expected {
            return None;
        }
        if asked.tries == 1 {
            let took = now.saturating_duration_since(asked.sent);
            self.round_trip = Some(self.round_trip.map_or(took, |known| (7 * known + took) / 8));
        }
        self.seq = reply.seq;
        let (asked, task) = (self.asked.take()?, self.task.take()?);
        Some(self.go_on(task, &asked.request, reply, now))
    }

    /// A block of a burst, or its end. Late ones of an earlier burst hold good data too.
    fn burst(&mut self, reply: &Payload, now: Instant) -> Option<Result<Payload, Done>> {
        let (Some(Task::Read { read, .. }), Some(asked)) = (&mut self.task, &mut self.asked) else {
            return None;
        };
        // Replies to a request count on from its number.
        let current = asked.request.opcode == Opcode::BurstRead as u8
            && (1..=u16::MAX / 2).contains(&reply.seq.wrapping_sub(asked.request.seq));
        if reply.session != read.session() {
            return None;
        }
        let mut over = reply.burst_complete;
        if reply.opcode == ACK {
            if read.take(reply.offset, reply.data()) && current {
                // The burst goes on: its patience starts anew.
                (asked.first_sent, asked.sent, asked.tries) = (now, now, 1);
            }
        } else if current {
            over = true;
            match Refusal::of(reply) {
                Refusal::End => read.end(reply.offset, true),
                Refusal::Unknown => read.without_bursts(),
                refusal @ Refusal::Failed(_) => return Some(Err(self.fail(refusal))),
            }
        }
        if !current {
            // A plain read's gap may be filled by now.
            return None;
        }
        self.seq = reply.seq;
        let next = read.next();
        if !over && next.as_ref().is_some_and(|next| next.opcode == Opcode::BurstRead as u8) {
            return None;
        }
        if next.is_some_and(|next| next.same_as(&asked.request)) {
            // It ended without a block; another one would too.
            read.without_bursts();
        }
        self.asked = None;
        let task = self.task.take()?;
        Some(self.step(task, now))
    }

    /// Does with a task what the answer to its request says.
    fn go_on(
        &mut self,
        mut task: Task,
        request: &Payload,
        reply: &Payload,
        now: Instant,
    ) -> Result<Payload, Done> {
        let refusal = (reply.opcode != ACK).then(|| Refusal::of(reply));
        match (&mut task, refusal) {
            (Task::List { .. }, Some(Refusal::End)) => return Err(self.finish(task, None)),
            (Task::List { path, entries, seen }, None) => {
                let Some(count) = list(reply.data(), entries) else {
                    return Err(Done::Failed(errno::BADMSG));
                };
                if count == 0 || *seen > MAX_ENTRIES {
                    return Err(self.finish(task, None));
                }
                *seen += count;
                let request = with_path(Opcode::List, *seen, path).map_err(Done::Failed)?;
                self.task = Some(task);
                return Ok(self.ask(request, now));
            }
            (Task::Open { path, how }, refusal) if reply.req_opcode == Opcode::Terminate as u8 => {
                // The old session is closed, or was gone already.
                debug_assert!(refusal.is_none_or(|r| r != Refusal::End));
                let request = with_path(*how, 0, path).map_err(Done::Failed)?;
                self.task = Some(task);
                return Ok(self.ask(request, now));
            }
            (Task::Open { path, .. }, None) => {
                let file = File { session: reply.session, size: reply.number().unwrap_or(0) };
                self.files.insert(path.clone(), file);
            }
            (Task::Read { read, .. }, None) => {
                read.take(reply.offset, reply.data());
                // A server that sends nothing, or another place, would be asked for ever.
                if read.next().is_some_and(|next| next.same_as(request)) {
                    return Err(Done::Failed(errno::BADMSG));
                }
                return self.step(task, now);
            }
            (Task::Read { read, .. }, Some(Refusal::End)) => {
                // Not every server repeats the place in a refusal.
                read.end(request.offset, false);
                return self.step(task, now);
            }
            (Task::Write { done, data, .. }, None) => {
                let written = reply.number().and_then(|n| usize::try_from(n).ok()).unwrap_or(MAX_DATA);
                // A server that writes nothing would be asked for ever.
                if written == 0 {
                    return Err(Done::Failed(errno::FAULT));
                }
                *done = (*done + written.min(MAX_DATA)).min(data.len());
                return self.step(task, now);
            }
            (_, Some(refusal)) => {
                self.task = Some(task);
                return Err(self.fail(refusal));
            }
            (Task::Close(_) | Task::Checksum | Task::Plain | Task::Reset, None) => {}
        }
        Err(self.finish(task, reply.number()))
    }

    /// The next request of a transfer, or its end.
    fn step(&mut self, task: Task, now: Instant) -> Result<Payload, Done> {
        let request = match &task {
            Task::Read { read, .. } => read.next(),
            Task::Write { session, offset, data, done, .. } => write(*session, *offset, data, *done),
            _ => None,
        };
        match request {
            Some(request) => {
                self.task = Some(task);
                Ok(self.ask(request, now))
            }
            None => Err(self.finish(task, None)),
        }
    }

    fn finish(&mut self, task: Task, number: Option<u32>) -> Done {
        match task {
            Task::List { entries, .. } => Done::Entries(entries),
            Task::Open { path, .. } => Done::Number(self.files.get(&path).map_or(0, |file| file.size)),
            Task::Close(path) => {
                self.files.remove(&path);
                Done::Nothing
            }
            Task::Read { read, .. } => Done::Data(read.into_data()),
            Task::Write { path, offset, data, .. } => {
                let end = u32::try_from(data.len()).unwrap_or(u32::MAX).saturating_add(offset);
                if let Some(file) = self.files.get_mut(&path) {
                    file.size = file.size.max(end);
                }
                Done::Nothing
            }
            Task::Checksum => Done::Number(number.unwrap_or(0)),
            Task::Plain => Done::Nothing,
            Task::Reset => {
                self.files.clear();
                Done::Nothing
            }
        }
    }

    /// Ends the job with a refusal.
    fn fail(&mut self, refusal: Refusal) -> Done {
        self.asked = None;
        let errno = refusal.errno();
        match self.task.take() {
            // The vehicle forgot the session, as after a restart.
            Some(Task::Read { path, .. } | Task::Write { path, .. } | Task::Close(path))
                if errno == errno::BADFD =>
            {
                self.files.remove(&path);
            }
            _ => {}
        }
        Done::Failed(if errno == 0 { errno::FAULT } else { errno })
    }

    fn ask(&mut self, mut request: Payload, now: Instant) -> Payload {
        request.seq = self.seq;
        let patience = match request.opcode {
            opcode if opcode == Opcode::Checksum as u8 || opcode == Opcode::Truncate as u8 => LONG_PATIENCE,
            _ => PATIENCE,
        };
        self.asked = Some(Asked { request: request.clone(), first_sent: now, sent: now, tries: 1, patience });
        request
    }

    /// When [`Client::late`] has something to do.
    pub(super) fn next_due(&self) -> Option<Instant> {
        self.asked.as_ref().map(|asked| asked.sent + self.wait(asked))
    }

    /// How long the answer to the last send is waited for.
    fn wait(&self, asked: &Asked) -> Duration {
        if asked.patience == LONG_PATIENCE {
            return LONG_WAIT;
        }
        let usual = self.round_trip.map_or(FIRST_WAIT, |took| (4 * took).clamp(SHORTEST_WAIT, LONGEST_WAIT));
        (usual * (1 + asked.tries / 4)).min(LONGEST_WAIT)
    }

    /// The request to send again, or that the job failed; `None` while it is too early for both.
    pub(super) fn late(&mut self, now: Instant) -> Option<Result<Payload, Done>> {
        if self.next_due().is_none_or(|due| due > now) {
            return None;
        }
        let asked = self.asked.as_mut()?;
        if let Some(Task::Read { read, .. }) = &mut self.task
            && asked.request.opcode == Opcode::BurstRead as u8
        {
            // Blocks were lost, or the vehicle has stopped: goes on where it stopped. One that never sends a block
            // may not know bursts.
            if asked.tries >= BURST_TRIES && read.bursts() {
                read.without_bursts();
            }
            let waited = now.saturating_duration_since(asked.first_sent) < asked.patience;
            let next = read.next().filter(|next| waited && !next.same_as(&asked.request));
            if let Some(next) = next {
                // Another request needs a number of its own; replies to the old one may still come.
                if self.seq == asked.request.seq {
                    self.seq = self.seq.wrapping_add(1);
                }
                let (first_sent, tries) = (asked.first_sent, asked.tries);
                let request = self.ask(next, now);
                if let Some(asked) = &mut self.asked {
                    (asked.first_sent, asked.tries) = (first_sent, tries);
                }
                return Some(Ok(request));
            }
        }
        if now.saturating_duration_since(asked.first_sent) >= asked.patience {
            return Some(Err(self.fail(Refusal::Failed(errno::TIMEDOUT))));
        }
        asked.tries += 1;
        asked.sent = now;
        Some(Ok(asked.request.clone()))
    }

    /// Gives up the job at hand; true when there was one.
    pub(super) fn cancel(&mut self) -> bool {
        self.asked = None;
        self.task.take().is_some()
    }
}

/// Most bytes of one read: an answer is one message.
const MAX_READ: usize = 64 << 20;
/// Entries of a directory after which a server is not believed any more.
const MAX_ENTRIES: u32 = 65_536;
/// Without an answer for so long, a request has failed.
const PATIENCE: Duration = Duration::from_secs(5);
/// The same for what the vehicle works on: it reads a whole file.
const LONG_PATIENCE: Duration = Duration::from_secs(25);
const LONG_WAIT: Duration = Duration::from_secs(5);
/// Before a request is sent again.
const SHORTEST_WAIT: Duration = Duration::from_millis(100);
/// The same while it is not known how long answers take.
const FIRST_WAIT: Duration = Duration::from_millis(400);
const LONGEST_WAIT: Duration = Duration::from_secs(1);
/// Sends of a burst without a block, after which blocks are asked for one by one.
const BURST_TRIES: u32 = 3;

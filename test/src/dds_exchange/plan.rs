//! The plan file: kinds of samples, and who publishes or subscribes what.

use std::{collections::BTreeMap, fs, ops::Range, sync::Arc};

use anyhow::{Context, Result};
use rostrans_cdr::CdrBytes;
use serde_json::Value;

/// What all peers of a test read.
pub(crate) struct Plan {
    kinds: BTreeMap<String, Arc<Kind>>,
    pub(crate) endpoints: Vec<Endpoint>,
}

/// One publisher or subscription.
#[derive(Clone)]
pub(crate) struct Endpoint {
    /// The node it belongs to.
    pub(crate) peer: String,
    /// A publisher, else a subscription.
    pub(crate) publishes: bool,
    pub(crate) topic: String,
    pub(crate) kind: String,
    pub(crate) reliable: bool,
    pub(crate) latched: bool,
    pub(crate) depth: u16,
}

/// A message type and how its samples are numbered.
pub(crate) struct Kind {
    pub(crate) msg_type: String,
    /// One sample; only the number differs between samples.
    sample: Vec<u8>,
    /// Offset of the number in bytes.
    at: usize,
    /// Eight decimal digits, else a little-endian u32.
    text: bool,
    /// Numbers that belong to the test, if it says so.
    valid: Option<Range<u32>>,
}

impl Plan {
    /// Reads the plan and the sample of every kind.
    pub(crate) fn load(path: &str) -> Result<Self> {
        let text = fs::read_to_string(path).with_context(|| format!("cannot read '{path}'"))?;
        let plan: Value = serde_json::from_str(&text)?;
        let kinds = plan["kinds"].as_object().context("the plan has no kinds")?;
        let kinds = kinds.iter().map(|(name, spec)| Ok((name.clone(), Arc::new(Kind::load(spec)?))));
        let endpoints = plan["endpoints"].as_array().context("the plan has no endpoints")?;
        Ok(Self {
            kinds: kinds.collect::<Result<_>>()?,
            endpoints: endpoints.iter().map(Endpoint::read).collect::<Result<_>>()?,
        })
    }

    pub(crate) fn kind(&self, name: &str) -> Result<Arc<Kind>> {
        self.kinds.get(name).cloned().with_context(|| format!("no kind '{name}' in the plan"))
    }
}

impl Endpoint {
    fn read(spec: &Value) -> Result<Self> {
        let flag = |key: &str| spec[key].as_bool().with_context(|| format!("endpoint without '{key}'"));
        Ok(Self {
            peer: text(spec, "peer")?,
            publishes: text(spec, "side")? == "pub",
            topic: text(spec, "topic")?,
            kind: text(spec, "kind")?,
            reliable: flag("reliable")?,
            latched: flag("latched")?,
            depth: spec["depth"]
                .as_u64()
                .and_then(|d| d.try_into().ok())
                .context("endpoint without depth")?,
        })
    }
}

impl Kind {
    fn load(spec: &Value) -> Result<Self> {
        let file = text(spec, "file")?;
        let sample = fs::read(&file).with_context(|| format!("cannot read '{file}'"))?;
        let at = spec["at"].as_u64().and_then(|at| at.try_into().ok()).context("a kind has no 'at'")?;
        let text_number = spec["text"].as_bool().unwrap_or_default();
        let least = spec["from"].as_u64().and_then(|n| u32::try_from(n).ok()).filter(|n| *n > 0);
        let valid = least.map(|n| n..n.saturating_mul(2));
        let kind = Self { msg_type: text(spec, "type")?, sample, at, text: text_number, valid };
        anyhow::ensure!(
            kind.at >= 4 && kind.after() <= kind.sample.len(),
            "the number lies outside '{file}'"
        );
        Ok(kind)
    }

    /// Sample `number`.
    pub(crate) fn build(&self, number: u32) -> CdrBytes {
        let mut sample = self.sample.clone();
        let digits =
            if self.text { format!("{number:08}").into_bytes() } else { number.to_le_bytes().to_vec() };
        if let Some(place) = sample.get_mut(self.at..self.after()) {
            place.copy_from_slice(digits.get(..place.len()).expect("invariant: 8 digits or 4 bytes"));
        }
        CdrBytes::new(sample).expect("invariant: the number comes after 4 header bytes")
    }

    /// The number of a sample; `None` when it is not what was sent.
    pub(crate) fn read(&self, data: &[u8]) -> Option<u32> {
        let len = self.sample.len();
        // Bytes 2 and 3 tell the padding at the end, which may differ.
        let same = data.get(..2)? == self.sample.get(..2)?
            && data.get(4..self.at)? == self.sample.get(4..self.at)?
            && data.get(self.after()..len)? == self.sample.get(self.after()..)?
            && data.len() < len + 4;
        let digits = data.get(self.at..self.after()).filter(|_| same)?;
        let number = if self.text {
            std::str::from_utf8(digits).ok()?.parse().ok()?
        } else {
            u32::from_le_bytes(digits.try_into().ok()?)
        };
        self.valid.as_ref().is_none_or(|valid| valid.contains(&number)).then_some(number)
    }

    fn after(&self) -> usize {
        self.at + if self.text { 8 } else { 4 }
    }
}

fn text(spec: &Value, key: &str) -> Result<String> {
    Ok(spec[key].as_str().with_context(|| format!("the plan lacks '{key}' in {spec}"))?.to_owned())
}

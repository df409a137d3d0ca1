//! Generates one struct per MAVLink message from `config/interfaces/mavlink_fields.tsv`.

use std::{env, error::Error, fmt::Write as _, fs, path::Path};

fn main() -> Result<(), Box<dyn Error>> {
    let table = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("../config/interfaces/mavlink_fields.tsv");
    println!("cargo:rerun-if-changed={}", table.display());
    let text = fs::read_to_string(&table)?;
    let rows: Vec<Row<'_>> = text.lines().skip(1).map(Row::parse).collect::<Result<_, _>>()?;
    let mut out = String::new();
    for message in rows.chunk_by(|a, b| a.msgid == b.msgid) {
        write_message(&mut out, message)?;
    }
    write_describe(&mut out, &rows)?;
    fs::write(Path::new(&env::var("OUT_DIR")?).join("dialect.rs"), out)?;
    Ok(())
}

/// The look-up from ids to types.
fn write_describe(out: &mut String, rows: &[Row<'_>]) -> Result<(), Box<dyn Error>> {
    writeln!(
        out,
        "/// A payload in words, e.g. `Attitude {{ time_boot_ms: 5, roll: 0.1, .. }}`, for logs and tools.\n///"
    )?;
    writeln!(out, "/// `None` for a message that is not in the table.")?;
    writeln!(
        out,
        "pub fn describe(msgid: u32, payload: &[u8]) -> Option<String> {{\n    Some(match msgid {{"
    )?;
    for message in rows.chunk_by(|a, b| a.msgid == b.msgid) {
        let Some(first) = message.first() else { continue };
        let name = type_name(first.message);
        writeln!(out, "        {name}::ID => format!(\"{{:?}}\", {name}::decode(payload)),")?;
    }
    writeln!(out, "        _ => return None,\n    }})\n}}\n")?;
    writeln!(
        out,
        "/// A payload taken apart and put together again: in full length, with what is not known cut off.\n///"
    )?;
    writeln!(out, "/// `None` for a message that is not in the table.")?;
    writeln!(
        out,
        "pub fn repack(msgid: u32, payload: &[u8]) -> Option<BytesMut> {{\n    let mut out = BytesMut::new();"
    )?;
    writeln!(out, "    match msgid {{")?;
    for message in rows.chunk_by(|a, b| a.msgid == b.msgid) {
        let Some(first) = message.first() else { continue };
        let name = type_name(first.message);
        writeln!(out, "        {name}::ID => {name}::decode(payload).encode(&mut out),")?;
    }
    writeln!(out, "        _ => return None,\n    }}\n    Some(out)\n}}\n")?;
    writeln!(out, "/// Whether a message is in the table, with its checksum seed.")?;
    writeln!(out, "pub fn crc_extra(msgid: u32) -> Option<u8> {{\n    Some(match msgid {{")?;
    for message in rows.chunk_by(|a, b| a.msgid == b.msgid) {
        let Some(first) = message.first() else { continue };
        let name = type_name(first.message);
        writeln!(out, "        {name}::ID => {name}::CRC_EXTRA,")?;
    }
    writeln!(out, "        _ => return None,\n    }})\n}}")?;
    Ok(())
}

/// One line of the table.
struct Row<'a> {
    msgid: u32,
    message: &'a str,
    crc_extra: u8,
    len_base: usize,
    len_full: usize,
    offset: usize,
    field: String,
    rust_type: &'static str,
    count: usize,
    wire_type: &'a str,
    part: &'a str,
    units: &'a str,
}

impl<'a> Row<'a> {
    fn parse(line: &'a str) -> Result<Self, Box<dyn Error>> {
        let columns: Vec<&str> = line.split('\t').collect();
        let [msgid, message, crc, base, full, offset, field, wire_type, count, part, units, _] = columns[..]
        else {
            return Err(format!("mavlink_fields.tsv: expected 12 columns in '{line}'").into());
        };
        Ok(Self {
            msgid: msgid.parse()?,
            message,
            crc_extra: crc.parse()?,
            len_base: base.parse()?,
            len_full: full.parse()?,
            offset: offset.parse()?,
            field: field_name(field),
            rust_type: rust_type(wire_type)?,
            count: count.parse()?,
            wire_type,
            part,
            units,
        })
    }

    fn field_type(&self) -> String {
        match self.count {
            1 => self.rust_type.to_owned(),
            n => format!("[{}; {n}]", self.rust_type),
        }
    }
}

fn rust_type(wire: &str) -> Result<&'static str, Box<dyn Error>> {
    Ok(match wire {
        "char" | "uint8_t" => "u8",
        "int8_t" => "i8",
        "uint16_t" => "u16",
        "int16_t" => "i16",
        "uint32_t" => "u32",
        "int32_t" => "i32",
        "uint64_t" => "u64",
        "int64_t" => "i64",
        "float" => "f32",
        "double" => "f64",
        other => return Err(format!("mavlink_fields.tsv: unknown type '{other}'").into()),
    })
}

fn field_name(field: &str) -> String {
    match field {
        "type" => "kind".to_owned(),
        other => other.to_ascii_lowercase(),
    }
}

fn type_name(message: &str) -> String {
    let word = |w: &str| match w.split_at_checked(1) {
        Some((head, tail)) => head.to_owned() + &tail.to_ascii_lowercase(),
        None => String::new(),
    };
    message.split('_').map(word).collect()
}

fn write_message(out: &mut String, rows: &[Row<'_>]) -> Result<(), Box<dyn Error>> {
    let Some(first) = rows.first() else { return Ok(()) };
    let name = type_name(first.message);
    writeln!(out, "/// Message {} ({}).\n///", first.message, first.msgid)?;
    writeln!(out, "/// **Layout**: {} bytes, {} with extensions.", first.len_base, first.len_full)?;
    writeln!(out, "#[derive(Clone, Copy, Debug, PartialEq)]\npub struct {name} {{")?;
    for row in rows {
        write!(out, "    /// `{}`, offset {}", row.wire_type, row.offset)?;
        if row.units != "-" {
            write!(out, ", in {}", row.units)?;
        }
        let part = if row.part == "ext" { "; extension" } else { "" };
        writeln!(out, "{part}.\n    pub {}: {},", row.field, row.field_type())?;
    }
    writeln!(out, "}}\n\nimpl Message for {name} {{")?;
    writeln!(out, "    const ID: u32 = {};", first.msgid)?;
    writeln!(out, "    const CRC_EXTRA: u8 = {};", first.crc_extra)?;
    writeln!(out, "    const BASE_LEN: usize = {};", first.len_base)?;
    writeln!(out, "    const FULL_LEN: usize = {};\n", first.len_full)?;
    writeln!(out, "    fn decode(payload: &[u8]) -> Self {{")?;
    writeln!(out, "        let b: [u8; {}] = padded(payload);\n        Self {{", first.len_full)?;
    for Row { field, rust_type, offset, count, .. } in rows {
        match count {
            1 => writeln!(out, "            {field}: {rust_type}::from_le_bytes(at(&b, {offset})),")?,
            _ => writeln!(out, "            {field}: array(&b, {offset}, {rust_type}::from_le_bytes),")?,
        }
    }
    writeln!(out, "        }}\n    }}\n\n    fn encode(&self, out: &mut BytesMut) {{")?;
    writeln!(out, "        let mut b = [0_u8; {}];", first.len_full)?;
    for Row { field, rust_type, offset, count, .. } in rows {
        match count {
            1 => writeln!(out, "        put(&mut b, {offset}, self.{field}.to_le_bytes());")?,
            _ => {
                writeln!(out, "        put_array(&mut b, {offset}, self.{field}, {rust_type}::to_le_bytes);")?
            }
        }
    }
    writeln!(out, "        out.extend_from_slice(&b);\n    }}\n}}\n")?;
    Ok(())
}

//! Texts at vehicles: `CopterMsg`.

use rostrans_msgs::rflysim_msgs::msg::UeLabel;
use rostrans_rflysim::{Packet as _, Text, ue::CopterMsg};

use super::{Packets, Refusal, To};

/// Source: rflysim spec 5.
pub(super) fn packets(label: &UeLabel) -> Result<Packets, Refusal> {
    let text = Text::new(&label.text).ok_or(Refusal::TooLong {
        what: "the label, which must not contain NUL,",
        len: label.text.len(),
        room: 119,
    })?;
    let packet = CopterMsg {
        copter_id: label.copter_id,
        disp_flag: label.line,
        rgb: label.rgb.map(i32::from),
        disp_time: label.duration,
        font_size: if label.font_size == 0.0 { FONT_SIZE } else { label.font_size },
        text,
    };
    Ok((To::window(label.window), vec![packet.encode()]))
}

const FONT_SIZE: f32 = 30.0;

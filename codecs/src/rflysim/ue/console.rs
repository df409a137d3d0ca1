//! Console commands: `Ue4CMD0`, `Ue4CMD`, `Ue4CMDNet`.

use rostrans_rflysim::{
    Packet as _, Text,
    ue::{CMD_MAX, Ue4Cmd, Ue4Cmd0, Ue4CmdNet},
};

use super::{Packets, Refusal, To};

/// To the windows of one computer; the shorter of two packets that has room. `@1 t.MaxFPS 30` is for window 1 alone.
///
/// Source: rflysim spec 5.
pub(super) fn local(text: &str) -> Result<Packets, Refusal> {
    let (to, command) = addressed(text)?;
    let packet = match Text::new(command) {
        Some(cmd) => Ue4Cmd0 { cmd }.encode(),
        None if command.len() <= CMD_MAX => Ue4Cmd { cmd: clean(command)? }.encode(),
        None => return Err(Refusal::TooLong { what: "the command", len: command.len(), room: CMD_MAX }),
    };
    Ok((to, vec![packet]))
}

/// To all of a network.
///
/// Source: rflysim spec 5.
pub(super) fn net(text: &str) -> Result<Packets, Refusal> {
    const ROOM: usize = 91;
    if text.len() > ROOM {
        return Err(Refusal::TooLong { what: "the command", len: text.len(), room: ROOM });
    }
    Ok((To::Net, vec![Ue4CmdNet { cmd: clean(text)? }.encode()]))
}

/// A command, packed; it may be longer than what one of the short packets holds.
pub(super) fn command(to: To, text: &str) -> Result<Packets, Refusal> {
    local(text).map(|(_, packets)| (to, packets))
}

fn clean<const N: usize>(text: &str) -> Result<Text<N>, Refusal> {
    Text::new(text).ok_or(Refusal::Field("a command must not contain NUL"))
}

/// Takes `@w ` off; no command of RflySim3D begins with that sign.
fn addressed(text: &str) -> Result<(To, &str), Refusal> {
    let Some(rest) = text.strip_prefix('@') else { return Ok((To::All, text)) };
    let (number, command) = rest.split_once(' ').unwrap_or((rest, ""));
    let window = number
        .parse::<i8>()
        .map_err(|_| Refusal::Field("write '@', a window's number, a space and the command"))?;
    Ok((To::window(window), command.trim_start()))
}

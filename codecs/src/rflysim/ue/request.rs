//! Requests for reports: the console commands `RflyReqObjData` and `RflyReqVehicleData`.

use rostrans_msgs::rflysim_msgs::msg::UeRequest;

use super::{Packets, Refusal, To, console};

/// Source: rflysim spec 5, console commands.
pub(super) fn packets(request: &UeRequest) -> Result<Packets, Refusal> {
    let to = To::window(request.window);
    let name = request.name.as_str();
    if name.contains(char::is_whitespace) {
        return Err(Refusal::Field(
            "a name must not contain spaces, they separate the arguments of a command",
        ));
    }
    let UeRequest { kind, stop, .. } = *request;
    let command = match (kind, stop) {
        (UeRequest::COLLISIONS, stop) => format!("RflyReqVehicleData {}", u8::from(!stop)),
        (kind, _) if kind > UeRequest::OBJECT => {
            return Err(Refusal::Field("kind of a request must be from 0 to 3"));
        }
        (_, false) if name.is_empty() => {
            return Err(Refusal::Field(
                "a request needs the name of an object, or the number of a camera or vehicle",
            ));
        }
        (kind, false) => format!("RflyReqObjData {kind} {name}"),
        (kind, true) if name.is_empty() => format!("RflyReqObjData {}", STOP_ALL + kind),
        (kind, true) => format!("RflyReqObjData {} {name}", STOP + kind),
    };
    console::command(to, &command)
}

/// Added to a kind.
const STOP: u8 = 10;
const STOP_ALL: u8 = 20;

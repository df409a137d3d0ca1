//! `mavlink.debug_value`: numbers with a name.

use rostrans_core::{
    codec::{CodecError, CodecInfo, Decoder, EncodeError, Interest, PortInfo},
    topic::Qos,
};
use rostrans_msgs::mavros_msgs::msg::DebugValue;

use crate::mavlink::{
    DecodeOnly,
    dialect::{Debug, DebugFloatArray, DebugVect, Message, NamedValueFloat, NamedValueInt},
    relay::{Relay, TALKS, Wire, input, topic},
    ros,
    uas::MavContext,
    value::{chars, set_text, time_boot_ms, time_usec},
};

/// DEBUG, DEBUG_VECT, DEBUG_FLOAT_ARRAY, NAMED_VALUE_FLOAT and NAMED_VALUE_INT, each to its own topic, and
/// `debug_value/send` to the one that `type` names.
///
/// `index` and `array_id` are -1 where the message has none. Of `data`, as much is sent as the message has room for.
///
/// Source: MAVLink common, DEBUG (254), DEBUG_VECT (250), DEBUG_FLOAT_ARRAY (350), NAMED_VALUE_FLOAT (251),
/// NAMED_VALUE_INT (252).
pub(super) const CODEC: DecodeOnly = DecodeOnly::new(&INFO, build);

const INFO: CodecInfo = CodecInfo {
    name: "mavlink.debug_value",
    doc: "debug values, both ways",
    ports: &[
        value("debug"),
        value("debug_vector"),
        value("debug_float_array"),
        value("named_value_float"),
        value("named_value_int"),
    ],
    inputs: &[input::<DebugValue>("send", 10)],
    interest: Interest::Tags(&[
        Debug::ID,
        DebugVect::ID,
        DebugFloatArray::ID,
        NamedValueFloat::ID,
        NamedValueInt::ID,
    ]),
    ..TALKS
};

const fn value(name: &'static str) -> PortInfo {
    topic::<DebugValue>(name, Qos::reliable())
}

fn build(cx: &MavContext<'_>) -> Result<Box<dyn Decoder>, CodecError> {
    let of = |kind: u8| DebugValue { r#type: kind, index: -1, array_id: -1, ..DebugValue::default() };
    Relay::new(cx, &INFO)?
        .tell("debug", of(DebugValue::TYPE_DEBUG), |m: &Debug, value, at| {
            ros::stamp(&mut value.header, at.ms(m.time_boot_ms));
            value.index = m.ind.into();
            value.value_float = m.value;
        })
        .tell("debug_vector", of(DebugValue::TYPE_DEBUG_VECT), |m: &DebugVect, value, at| {
            ros::stamp(&mut value.header, at.us(m.time_usec));
            set_text(&mut value.name, &m.name);
            value.data.clear();
            value.data.extend([m.x, m.y, m.z]);
        })
        .tell(
            "debug_float_array",
            of(DebugValue::TYPE_DEBUG_FLOAT_ARRAY),
            |m: &DebugFloatArray, value, at| {
                ros::stamp(&mut value.header, at.us(m.time_usec));
                set_text(&mut value.name, &m.name);
                value.array_id = m.array_id.into();
                value.data.clear();
                value.data.extend(m.data);
            },
        )
        .tell(
            "named_value_float",
            of(DebugValue::TYPE_NAMED_VALUE_FLOAT),
            |m: &NamedValueFloat, value, at| {
                ros::stamp(&mut value.header, at.ms(m.time_boot_ms));
                set_text(&mut value.name, &m.name);
                value.value_float = m.value;
            },
        )
        .tell("named_value_int", of(DebugValue::TYPE_NAMED_VALUE_INT), |m: &NamedValueInt, value, at| {
            ros::stamp(&mut value.header, at.ms(m.time_boot_ms));
            set_text(&mut value.name, &m.name);
            value.value_int = m.value;
        })
        .hear(send)
        .done()
}

fn send(value: &DebugValue, to: &mut Wire<'_, '_>) -> Result<(), EncodeError> {
    let (time_boot_ms, time_usec) = (time_boot_ms(&value.header), time_usec(&value.header));
    let name = chars(&value.name);
    match value.r#type {
        DebugValue::TYPE_DEBUG => {
            let ind = u8::try_from(value.index).map_err(|_| EncodeError::OutOfRange("index"))?;
            to.send(&Debug { time_boot_ms, value: value.value_float, ind });
        }
        DebugValue::TYPE_DEBUG_VECT => {
            let [x, y, z, ..] = value.data[..] else { return Err(EncodeError::OutOfRange("data")) };
            to.send(&DebugVect { time_usec, x, y, z, name });
        }
        DebugValue::TYPE_DEBUG_FLOAT_ARRAY => {
            let array_id = match value.array_id {
                // As it is received when there is none.
                -1 => 0,
                id => u16::try_from(id).map_err(|_| EncodeError::OutOfRange("array_id"))?,
            };
            let mut data = [0.0; 58];
            data.iter_mut().zip(&value.data).for_each(|(to, from)| *to = *from);
            to.send(&DebugFloatArray { time_usec, array_id, name, data });
        }
        DebugValue::TYPE_NAMED_VALUE_FLOAT => {
            to.send(&NamedValueFloat { time_boot_ms, value: value.value_float, name });
        }
        DebugValue::TYPE_NAMED_VALUE_INT => {
            to.send(&NamedValueInt { time_boot_ms, value: value.value_int, name });
        }
        _ => return Err(EncodeError::OutOfRange("type")),
    }
    Ok(())
}

//! Values of parameters: as ROS has them, as the vehicle keeps them, as they travel.

use rostrans_msgs::rcl_interfaces::msg::ParameterValue;

/// `MAV_PARAM_TYPE`, as far as autopilots use it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    U8,
    I8,
    U16,
    I16,
    U32,
    I32,
    F32,
}

/// How whole numbers are put into the float field of PARAM_VALUE and PARAM_SET.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    /// The field's octets are the number's, least significant first (PX4).
    Bytewise,
    /// The float has the number's value (ArduPilot).
    Cast,
}

/// What ROS sees.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Value {
    Integer(i64),
    Double(f64),
}

impl Kind {
    /// The type of a PARAM_VALUE; `None` for one of 8 octets, which do not fit the field, and unknown ones.
    pub(super) fn of(param_type: u8) -> Option<Self> {
        Some(match param_type {
            1 => Self::U8,
            2 => Self::I8,
            3 => Self::U16,
            4 => Self::I16,
            5 => Self::U32,
            6 => Self::I32,
            9 => Self::F32,
            _ => return None,
        })
    }

    /// `MAV_PARAM_TYPE`.
    pub(super) fn number(self) -> u8 {
        match self {
            Self::U8 => 1,
            Self::I8 => 2,
            Self::U16 => 3,
            Self::I16 => 4,
            Self::U32 => 5,
            Self::I32 => 6,
            Self::F32 => 9,
        }
    }

    /// The value in the float field.
    pub(super) fn decode(self, field: f32, encoding: Encoding) -> Value {
        if self == Self::F32 {
            return Value::Double(field.into());
        }
        #[expect(
            clippy::cast_possible_truncation,
            reason = "saturates: no such number, or the octets in use"
        )]
        let whole = match encoding {
            Encoding::Cast => field.round() as i64,
            Encoding::Bytewise => {
                let bits = field.to_bits();
                match self {
                    Self::U8 => (bits as u8).into(),
                    Self::I8 => (bits as u8).cast_signed().into(),
                    Self::U16 => (bits as u16).into(),
                    Self::I16 => (bits as u16).cast_signed().into(),
                    Self::U32 => bits.into(),
                    Self::I32 | Self::F32 => bits.cast_signed().into(),
                }
            }
        };
        Value::Integer(whole)
    }

    /// The float field for a value.
    ///
    /// **Errors**: the type cannot have the value; why.
    pub(super) fn encode(self, value: Value, encoding: Encoding) -> Result<f32, &'static str> {
        if self == Self::F32 {
            return Ok(match value {
                Value::Integer(whole) => to_f32(whole),
                #[expect(clippy::cast_possible_truncation, reason = "the vehicle has single precision")]
                Value::Double(double) => double as f32,
            });
        }
        let whole = match value {
            Value::Integer(whole) => whole,
            #[expect(
                clippy::cast_possible_truncation,
                reason = "checked to be whole; the range is checked below"
            )]
            Value::Double(double) if double.fract() == 0.0 => double as i64,
            Value::Double(_) => return Err("The parameter is a whole number"),
        };
        let (min, max): (i64, i64) = match self {
            Self::U8 => (0, u8::MAX.into()),
            Self::I8 => (i8::MIN.into(), i8::MAX.into()),
            Self::U16 => (0, u16::MAX.into()),
            Self::I16 => (i16::MIN.into(), i16::MAX.into()),
            Self::U32 => (0, u32::MAX.into()),
            Self::I32 | Self::F32 => (i32::MIN.into(), i32::MAX.into()),
        };
        if !(min..=max).contains(&whole) {
            return Err("The number is out of the parameter's range");
        }
        Ok(match encoding {
            Encoding::Cast => to_f32(whole),
            Encoding::Bytewise => {
                let mask = if max > u16::MAX.into() { u32::MAX } else { u32::from(self.low_octets()) };
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "the low octets are meant"
                )]
                f32::from_bits(whole as u32 & mask)
            }
        })
    }

    /// The bits of a type of one or two octets.
    fn low_octets(self) -> u16 {
        match self {
            Self::U8 | Self::I8 => 0xff,
            _ => u16::MAX,
        }
    }
}

impl Value {
    /// A value from ROS, with the type it has when the vehicle's is not known; truth values are 0 and 1.
    ///
    /// **Errors**: it is no number.
    pub(super) fn from_ros(value: &ParameterValue) -> Result<(Self, Kind), &'static str> {
        match value.r#type {
            BOOL => Ok((Self::Integer(value.bool_value.into()), Kind::U8)),
            INTEGER => Ok((Self::Integer(value.integer_value), Kind::I32)),
            DOUBLE => Ok((Self::Double(value.double_value), Kind::F32)),
            _ => Err("Parameters of vehicles are numbers"),
        }
    }

    pub(super) fn to_ros(self) -> ParameterValue {
        match self {
            Self::Integer(integer_value) => {
                ParameterValue { r#type: INTEGER, integer_value, ..ParameterValue::default() }
            }
            Self::Double(double_value) => {
                ParameterValue { r#type: DOUBLE, double_value, ..ParameterValue::default() }
            }
        }
    }

    /// `rcl_interfaces/msg/ParameterType`.
    pub(super) fn ros_type(self) -> u8 {
        match self {
            Self::Integer(_) => INTEGER,
            Self::Double(_) => DOUBLE,
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "the field has single precision")]
fn to_f32(whole: i64) -> f32 {
    whole as f32
}

/// `rcl_interfaces/msg/ParameterType`.
const BOOL: u8 = 1;
const INTEGER: u8 = 2;
const DOUBLE: u8 = 3;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const KINDS: [Kind; 7] = [Kind::U8, Kind::I8, Kind::U16, Kind::I16, Kind::U32, Kind::I32, Kind::F32];

    #[test]
    fn px4_numbers_are_octets_and_ardupilot_ones_floats() {
        let field = Kind::I32.encode(Value::Integer(-5), Encoding::Bytewise).unwrap();
        assert_eq!(field.to_bits(), 0xffff_fffb);
        assert_eq!(Kind::I16.encode(Value::Integer(-300), Encoding::Bytewise).unwrap().to_bits(), 0xfed4);
        assert_eq!(Kind::I16.encode(Value::Integer(-300), Encoding::Cast), Ok(-300.0));
        // Octets above a short type's own do not count.
        let field = f32::from_bits(0xdead_fed4);
        assert_eq!(Kind::I16.decode(field, Encoding::Bytewise), Value::Integer(-300));
        assert_eq!(Kind::U8.decode(f32::from_bits(200), Encoding::Bytewise), Value::Integer(200));
    }

    #[test]
    fn what_the_type_cannot_have_is_refused() {
        for (kind, value) in
            [(Kind::U8, 256), (Kind::I8, -129), (Kind::U16, -1), (Kind::I32, 1 << 31), (Kind::U32, 1 << 32)]
        {
            for encoding in [Encoding::Bytewise, Encoding::Cast] {
                assert!(kind.encode(Value::Integer(value), encoding).is_err(), "{kind:?} {value}");
            }
        }
        for value in [0.5, f64::NAN, f64::INFINITY, 1e300] {
            assert!(Kind::I32.encode(Value::Double(value), Encoding::Bytewise).is_err(), "{value}");
        }
        assert_eq!(Kind::I32.encode(Value::Double(7.0), Encoding::Cast), Ok(7.0));
        assert_eq!(Kind::F32.encode(Value::Integer(9), Encoding::Bytewise), Ok(9.0));
        assert!(Value::from_ros(&ParameterValue { r#type: 4, ..Default::default() }).is_err());
    }

    proptest! {
        #[test]
        fn every_field_is_read_and_octets_survive(bits: u32, kind in 0..7_usize) {
            let kind = KINDS[kind];
            let field = f32::from_bits(bits);
            kind.decode(field, Encoding::Cast);
            let value = kind.decode(field, Encoding::Bytewise);
            let back = kind.encode(value, Encoding::Bytewise).unwrap();
            if !field.is_nan() || kind != Kind::F32 {
                prop_assert_eq!(kind.decode(back, Encoding::Bytewise), value);
            }
            prop_assert_eq!(Kind::of(kind.number()), Some(kind));
        }
    }
}

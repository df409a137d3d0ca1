//! Comparing two types.

use super::{Elements, Step};
use crate::{
    definition::{Arity, Primitive},
    error::SchemaError,
    shape::{Field, FieldType, Flat, Shape},
};

/// The steps for a message.
pub(super) fn message(ros2: &Shape, ros1: &Shape) -> Result<Box<[Step]>, SchemaError> {
    let mut steps = Vec::new();
    add_message(ros2, ros1, &mut steps)?;
    Ok(steps.into())
}

fn add_message(ros2: &Shape, ros1: &Shape, steps: &mut Vec<Step>) -> Result<(), SchemaError> {
    if ros2.fields().is_empty() {
        steps.push(Step::Empty);
    }
    let mut ours = ros2.fields().iter();
    for theirs in ros1.fields() {
        if is_seq(ros1, theirs) {
            steps.push(Step::Seq);
            continue;
        }
        loop {
            let Some(our) = ours.next() else {
                let field = theirs.name.to_string();
                return Err(SchemaError::Mismatch { type_name: ros2.name().to_string(), field });
            };
            if our.name.eq_ignore_ascii_case(&theirs.name) {
                add_field(ros2, our, theirs, steps)?;
                break;
            }
            steps.push(Step::Ros2Only(our.clone()));
        }
    }
    steps.extend(ours.cloned().map(Step::Ros2Only));
    Ok(())
}

fn is_seq(ros1: &Shape, field: &Field) -> bool {
    ros1.name().as_str() == "std_msgs/msg/Header" && *field.name == *"seq"
}

fn add_field(owner: &Shape, ours: &Field, theirs: &Field, steps: &mut Vec<Step>) -> Result<(), SchemaError> {
    let mismatch =
        || SchemaError::Mismatch { type_name: owner.name().to_string(), field: ours.name.to_string() };
    let mut inner = Vec::new();
    add_single(&ours.field_type, &theirs.field_type, &mut inner)?.ok_or_else(mismatch)?;
    match (ours.arity, theirs.arity) {
        (Arity::One, Arity::One) => inner.into_iter().for_each(|step| push(steps, step)),
        (Arity::Array(len), Arity::Array(other)) if len == other => {
            match (ours.field_type.is_primitive(), inner.as_slice()) {
                (true, [Step::Numbers(flat)]) => {
                    let count = flat.count.saturating_mul(len as usize);
                    push(steps, Step::Numbers(Flat { count, ..*flat }));
                }
                (true, [Step::Bools(1)]) => push(steps, Step::Bools(len as usize)),
                _ => push(steps, Step::Array(len, elements(ours, theirs, inner))),
            }
        }
        (Arity::Sequence(bound), Arity::Sequence(_)) => {
            push(steps, Step::Sequence(bound, elements(ours, theirs, inner)));
        }
        _ => return Err(mismatch()),
    }
    Ok(())
}

fn elements(ours: &Field, theirs: &Field, steps: Vec<Step>) -> Elements {
    let flat = match steps.as_slice() {
        [Step::Numbers(flat)] => Some(*flat),
        _ => None,
    };
    Elements {
        steps: steps.into(),
        primitive: ours.field_type.is_primitive(),
        flat,
        ros2_min_size: ours.field_type.min_size(),
        ros1_min_size: theirs.field_type.min_size(),
    }
}

/// Adds the steps for one value; `None` when the types differ.
fn add_single(
    ours: &FieldType,
    theirs: &FieldType,
    steps: &mut Vec<Step>,
) -> Result<Option<()>, SchemaError> {
    match (ours, theirs) {
        (FieldType::Primitive(a), FieldType::Primitive(b)) if wire_equal(*a, *b) => {
            steps.push(match a {
                Primitive::Bool => Step::Bools(1),
                _ => Step::Numbers(Flat { unit: a.size(), count: 1 }),
            });
        }
        (FieldType::String(bound), FieldType::String(_)) => steps.push(Step::String(*bound)),
        // Names may differ: `uuid_msgs/UniqueID` became `unique_identifier_msgs/UUID`.
        (FieldType::Message(a), FieldType::Message(b)) => {
            let mut inner = Vec::new();
            add_message(a, b, &mut inner)?;
            inner.into_iter().for_each(|step| push(steps, step));
        }
        _ => return Ok(None),
    }
    Ok(Some(()))
}

/// Whether two primitives have the same octets. `builtin_interfaces/Time` has a signed second where ROS 1 has an
/// unsigned one, `byte` is signed in ROS 1 alone: the sign is not looked at.
fn wire_equal(a: Primitive, b: Primitive) -> bool {
    let float = |p| matches!(p, Primitive::F32 | Primitive::F64);
    let is_bool = |p| p == Primitive::Bool;
    a.size() == b.size() && float(a) == float(b) && is_bool(a) == is_bool(b)
}

/// Adds a step, joined with the one before where both copy numbers of one size.
fn push(steps: &mut Vec<Step>, step: Step) {
    match (steps.last_mut(), &step) {
        (Some(Step::Numbers(last)), Step::Numbers(next)) if last.unit == next.unit => {
            last.count = last.count.saturating_add(next.count);
        }
        (Some(Step::Bools(last)), Step::Bools(next)) => *last = last.saturating_add(*next),
        _ => steps.push(step),
    }
}

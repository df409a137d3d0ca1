//! The services that set parameters.

use std::time::Instant;

use rostrans_core::{codec::CallId, emit::Emit};
use rostrans_msgs::{
    mavros_msgs::srv::{ParamSetV2Request, ParamSetV2Response},
    rcl_interfaces::{
        msg::{ParameterValue, SetParametersResult},
        srv::{SetParametersRequest, SetParametersResponse},
    },
};

use super::{
    codec::ParamDecoder,
    sets::{Setting, Step},
    table,
    value::Value,
};
use crate::mavlink::dialect::ParamSet;

/// What a setting is for.
pub(super) enum Wish {
    /// The answer to one call.
    One(CallId),
    /// One of several of a call.
    OfBatch(CallId, usize),
}

pub(super) struct Batch {
    results: Vec<SetParametersResult>,
    open: usize,
}

impl ParamDecoder {
    pub(super) fn set_one(
        &mut self,
        call: CallId,
        request: ParamSetV2Request,
        now: Instant,
        out: &mut Emit<'_>,
    ) {
        let wish = self.wish(Wish::One(call), request.param_id, &request.value, request.force_set, now);
        match wish {
            Ok(setting) => {
                self.sets.push(setting);
                self.send_sets(now, out);
            }
            Err((problem, name)) => {
                tracing::warn!(rule = %self.rule, name, problem, "parameter not set");
                let value = self.table.get(&name).map(|param| param.value.to_ros()).unwrap_or_default();
                out.answer(call, &ParamSetV2Response { success: false, value });
            }
        }
    }

    pub(super) fn set_many(
        &mut self,
        call: CallId,
        request: SetParametersRequest,
        now: Instant,
        out: &mut Emit<'_>,
    ) {
        let mut batch = Batch { results: Vec::with_capacity(request.parameters.len()), open: 0 };
        for (place, parameter) in request.parameters.into_iter().enumerate() {
            let wish = self.wish(Wish::OfBatch(call, place), parameter.name, &parameter.value, false, now);
            let reason = match wish {
                Ok(setting) => {
                    self.sets.push(setting);
                    batch.open += 1;
                    String::new()
                }
                Err((problem, _)) => problem.to_owned(),
            };
            batch.results.push(SetParametersResult { successful: false, reason });
        }
        if batch.open == 0 {
            return out.answer(call, &SetParametersResponse { results: batch.results });
        }
        self.batches.insert(call, batch);
        self.send_sets(now, out);
    }

    /// What to send for a value from ROS.
    ///
    /// **Errors**: why not, and the name.
    fn wish(
        &self,
        tag: Wish,
        name: String,
        value: &ParameterValue,
        force: bool,
        now: Instant,
    ) -> Result<Setting<Wish>, (&'static str, String)> {
        let known = self.table.get(&name).map(|param| param.kind);
        let encoding = self.encoding();
        let outcome = if table::is_read_only(&name) && !force {
            Err("Parameter excluded. The vehicle counts or measures it; param/set with force_set sends it")
        } else if known.is_none() && !force {
            Err("Undeclared parameter")
        } else if table::id(&name).is_none() {
            Err("Names have 1 to 16 octets")
        } else if !self.vehicle.is_connected(now) {
            Err("The vehicle is not connected")
        } else if self.sets.room() == 0 {
            Err("Too many parameters at once")
        } else {
            Value::from_ros(value).and_then(|(value, usual)| {
                let kind = known.unwrap_or(usual);
                Ok((kind, kind.encode(value, encoding)?))
            })
        };
        match outcome {
            // A double is rounded on its way; what comes back is compared with that.
            Ok((kind, field)) => Ok(Setting { tag, name, kind, field, want: kind.decode(field, encoding) }),
            Err(problem) => Err((problem, name)),
        }
    }

    fn send_sets(&mut self, now: Instant, out: &mut Emit<'_>) {
        let mut steps = Vec::new();
        self.sets.tick(now, &mut steps);
        self.carry_out(steps, out);
    }

    pub(super) fn carry_out(&mut self, steps: Vec<Step<Wish>>, out: &mut Emit<'_>) {
        for step in steps {
            match step {
                Step::Send { name, kind, field } => {
                    let Some(param_id) = table::id(&name) else { continue };
                    let set = ParamSet {
                        param_value: field,
                        target_system: self.uas.target_system(),
                        target_component: self.uas.target_component(),
                        param_id,
                        param_type: kind.number(),
                    };
                    self.talker.send(&set, out);
                }
                Step::Done { tag: Wish::One(call), success, told } => {
                    let value = told.map(Value::to_ros).unwrap_or_default();
                    out.answer(call, &ParamSetV2Response { success, value });
                }
                Step::Done { tag: Wish::OfBatch(call, place), success, told } => {
                    self.one_of_batch(call, place, success, told, out);
                }
            }
        }
    }

    fn one_of_batch(
        &mut self,
        call: CallId,
        place: usize,
        success: bool,
        told: Option<Value>,
        out: &mut Emit<'_>,
    ) {
        let Some(batch) = self.batches.get_mut(&call) else { return };
        if let Some(result) = batch.results.get_mut(place) {
            result.successful = success;
            result.reason = match told {
                _ if success => String::new(),
                Some(Value::Integer(value)) => format!("The vehicle keeps {value}"),
                Some(Value::Double(value)) => format!("The vehicle keeps {value}"),
                None => "The vehicle does not answer".to_owned(),
            };
        }
        batch.open -= 1;
        if batch.open == 0
            && let Some(Batch { results, .. }) = self.batches.remove(&call)
        {
            out.answer(call, &SetParametersResponse { results });
        }
    }
}

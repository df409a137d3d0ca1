//! The topics that tell of parameters.

use rostrans_core::{clock::RosTime, codec::Port, emit::Emit};
use rostrans_msgs::{
    mavros_msgs::msg::ParamEvent,
    rcl_interfaces::msg::{Parameter, ParameterEvent},
};

use super::table::Param;
use crate::mavlink::ros;

/// `param/event` and `/parameter_events`.
pub(super) struct Events {
    /// Whose parameters they are, for ROS.
    node: String,
}

impl Events {
    pub(super) fn new(node: &str) -> Self {
        Self { node: node.to_owned() }
    }

    /// The vehicle has told a value, the same one perhaps.
    pub(super) fn told(&self, name: &str, param: &Param, is_new: bool, out: &mut Emit<'_>) {
        let stamp = out.stamp();
        if out.wants(EVENT) {
            let mut event = ParamEvent {
                param_id: name.to_owned(),
                value: param.value.to_ros(),
                param_index: param.index,
                param_count: param.count,
                ..ParamEvent::default()
            };
            ros::stamp(&mut event.header, stamp);
            out.publish(EVENT, stamp, &event);
        }
        if out.wants(PARAMETER_EVENTS) {
            let mut event = self.event(stamp);
            let list = if is_new { &mut event.new_parameters } else { &mut event.changed_parameters };
            list.push(Parameter { name: name.to_owned(), value: param.value.to_ros() });
            out.publish(PARAMETER_EVENTS, stamp, &event);
        }
    }

    /// The vehicle is gone, or does not have them any more.
    pub(super) fn deleted(&self, params: Vec<(String, Param)>, out: &mut Emit<'_>) {
        if params.is_empty() || !out.wants(PARAMETER_EVENTS) {
            return;
        }
        let stamp = out.stamp();
        let mut event = self.event(stamp);
        let parameter = |(name, param): (String, Param)| Parameter { name, value: param.value.to_ros() };
        event.deleted_parameters = params.into_iter().map(parameter).collect();
        out.publish(PARAMETER_EVENTS, stamp, &event);
    }

    fn event(&self, stamp: RosTime) -> ParameterEvent {
        let mut event = ParameterEvent { node: self.node.clone(), ..ParameterEvent::default() };
        event.stamp.sec = stamp.sec();
        event.stamp.nanosec = stamp.nanosec();
        event
    }
}

/// Ports of `mavlink.param`.
const EVENT: Port = Port(0);
const PARAMETER_EVENTS: Port = Port(1);

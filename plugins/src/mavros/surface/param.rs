//! The vehicle's parameters.

use rostrans_core::param::ParamDef;

use super::Surface;

pub(super) const SURFACES: &[Surface] = &[Surface {
    topics: &[("event", "param/event"), ("parameter_events", "/parameter_events")],
    services: &[
        ("pull", "param/pull"),
        ("set", "param/set"),
        ("get", "param/get"),
        ("get_parameters", "param/get_parameters"),
        ("get_parameter_types", "param/get_parameter_types"),
        ("set_parameters", "param/set_parameters"),
        ("set_parameters_atomically", "param/set_parameters_atomically"),
        ("describe_parameters", "param/describe_parameters"),
        ("list_parameters", "param/list_parameters"),
    ],
    ..Surface::of("mavlink.param")
}];

pub(super) const PARAMS: &[ParamDef] = &[];

//! Requests and responses of the services that need only what is known.

use rostrans_cdr::{CdrBytes, CdrDecode, from_cdr};
use rostrans_core::codec::EncodeError;
use rostrans_msgs::{
    mavros_msgs::{msg::ParamValue, srv::ParamGetResponse},
    rcl_interfaces::{
        msg::{ListParametersResult, ParameterDescriptor, ParameterValue},
        srv::{
            DescribeParametersResponse, GetParameterTypesResponse, GetParametersResponse,
            ListParametersResponse,
        },
    },
};

use super::{
    table::{self, Table},
    value::Value,
};

/// **Errors**: the request is another one.
pub(super) fn read<M: CdrDecode>(request: &CdrBytes) -> Result<M, EncodeError> {
    from_cdr(request).map_err(|_| EncodeError::Cdr("not the service's request"))
}

/// A parameter that is not known has the type "not set".
pub(super) fn values(table: &Table, names: &[String]) -> GetParametersResponse {
    let value = |name: &String| table.get(name).map_or_else(ParameterValue::default, |p| p.value.to_ros());
    GetParametersResponse { values: names.iter().map(value).collect() }
}

pub(super) fn types(table: &Table, names: &[String]) -> GetParameterTypesResponse {
    let of = |name: &String| table.get(name).map_or(0, |p| p.value.ros_type());
    GetParameterTypesResponse { types: names.iter().map(of).collect() }
}

pub(super) fn descriptors(table: &Table, names: Vec<String>) -> DescribeParametersResponse {
    let describe = |name: String| ParameterDescriptor {
        r#type: table.get(&name).map_or(0, |p| p.value.ros_type()),
        read_only: table::is_read_only(&name),
        dynamic_typing: true,
        name,
        ..ParameterDescriptor::default()
    };
    DescribeParametersResponse { descriptors: names.into_iter().map(describe).collect() }
}

/// All names; MAVROS does not look at the request's prefixes, and the names have no levels.
pub(super) fn names(table: &Table) -> ListParametersResponse {
    let names = table.iter().map(|(name, _)| name.clone()).collect();
    ListParametersResponse { result: ListParametersResult { names, prefixes: Vec::new() } }
}

/// ROS 1's way to read one.
pub(super) fn one(table: &Table, name: &str) -> ParamGetResponse {
    let value = match table.get(name).map(|p| p.value) {
        Some(Value::Integer(integer)) => ParamValue { integer, real: 0.0 },
        Some(Value::Double(real)) => ParamValue { integer: 0, real },
        None => return ParamGetResponse::default(),
    };
    ParamGetResponse { success: true, value }
}

//! Which ROS graphs to join, and joining them.
//!
//! [`choose`] is a pure function of settings, environment and what is built in; [`open`] opens what it chose. A way into ROS is
//! one file here and one line in [`BUILT_IN`] and [`open`].

mod dds;
#[cfg(feature = "r2r")]
mod r2r;
mod ros1;
#[cfg(feature = "zenoh")]
mod zenoh;

use std::sync::Arc;

use rostrans_core::{
    adapter::{AdapterError, Fabric, RosAdapter},
    diag::{Diagnostic, Origin},
    param::Settings,
    suggest::did_you_mean,
    text::excerpt,
};
use rostrans_schema::TypeRegistry;

use crate::load::Env;

/// Those of this build.
pub(crate) const BUILT_IN: &[Fabric] = &[
    Fabric::Ros1,
    Fabric::Dds,
    #[cfg(feature = "zenoh")]
    Fabric::Zenoh,
    #[cfg(feature = "r2r")]
    Fabric::R2r,
];

/// Those of ROS 2 by the name that `ros2_transport` has for them.
const ROS2: [(&str, Fabric); 3] = [("dds", Fabric::Dds), ("zenoh", Fabric::Zenoh), ("r2r", Fabric::R2r)];

/// How to get a build that has it.
fn remedy(fabric: Fabric) -> &'static str {
    match fabric {
        Fabric::Ros1 => "write ros_version=ros2",
        Fabric::Zenoh => "build it with the feature 'zenoh', or write ros2_transport=dds",
        Fabric::R2r => "source ROS 2 and build it with '--features r2r', or write ros2_transport=dds",
        Fabric::Dds => "write ros2_transport=dds",
    }
}

/// What to join.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Choice {
    /// In the order in which they are asked where only one can answer.
    pub(crate) fabrics: Vec<Fabric>,
    /// Why, for the log; empty when the user said so or nothing speaks for anything else.
    pub(crate) why: String,
}

/// Chooses by `ros_version` and `ros2_transport`; `auto` goes by `ROS_VERSION` and `RMW_IMPLEMENTATION`.
pub(crate) fn choose(
    settings: &Settings,
    env: Env<'_>,
    built_in: &[Fabric],
    problems: &mut Vec<Diagnostic>,
) -> Choice {
    let mut why = Vec::new();
    let (ros1, ros2) = match settings.text("ros_version") {
        "ros1" => (true, false),
        "ros2" => (false, true),
        "all" => (true, true),
        // Who has sourced ROS 1 and nothing else means it.
        _ if env("ROS_VERSION").as_deref() == Some("1") => {
            why.push("ROS_VERSION=1");
            (true, false)
        }
        _ => (false, true),
    };
    let mut fabrics = Vec::new();
    if ros1 {
        let said = settings.text("ros_version") != "auto";
        let origin = if said { settings.origin("ros_version") } else { Origin::Environment };
        admit(Fabric::Ros1, built_in, origin, &mut fabrics, problems);
        ros1::check(settings, env, problems);
    }
    if ros2 {
        transports(settings, env, built_in, &mut fabrics, &mut why, problems);
        #[cfg(feature = "zenoh")]
        if fabrics.contains(&Fabric::Zenoh) {
            zenoh::check(settings, env, problems);
        }
        #[cfg(feature = "r2r")]
        if fabrics.contains(&Fabric::R2r) {
            r2r::check(env, problems);
        }
    }
    Choice { fabrics, why: why.join(", ") }
}

/// Those that `ros2_transport` names.
fn transports(
    settings: &Settings,
    env: Env<'_>,
    built_in: &[Fabric],
    fabrics: &mut Vec<Fabric>,
    why: &mut Vec<&'static str>,
    problems: &mut Vec<Diagnostic>,
) {
    let origin = || settings.origin("ros2_transport");
    let text = settings.text("ros2_transport").trim();
    if text.is_empty() || text.eq_ignore_ascii_case("auto") {
        let rmw = env("RMW_IMPLEMENTATION").unwrap_or_default();
        if !rmw.contains("zenoh") {
            fabrics.push(Fabric::Dds);
        } else if built_in.contains(&Fabric::Zenoh) {
            why.push("RMW_IMPLEMENTATION names Zenoh");
            fabrics.push(Fabric::Zenoh);
        } else {
            let message = format!(
                "RMW_IMPLEMENTATION={}, but this rostrans has no Zenoh and joins over DDS: Zenoh nodes will not see it",
                excerpt(&rmw)
            );
            problems.push(Diagnostic::warning(Origin::Environment, message, remedy(Fabric::Zenoh)));
            fabrics.push(Fabric::Dds);
        }
        return;
    }
    if text.eq_ignore_ascii_case("all") {
        let all = ROS2.iter().map(|(_, fabric)| *fabric);
        // A sourced ROS is DDS or Zenoh itself; both at once would show every topic twice.
        fabrics.extend(all.filter(|fabric| built_in.contains(fabric) && *fabric != Fabric::R2r));
        return;
    }
    for word in text.split(',').map(str::trim) {
        match ROS2.iter().find(|(name, _)| name.eq_ignore_ascii_case(word)) {
            Some((_, fabric)) => admit(*fabric, built_in, origin(), fabrics, problems),
            None => {
                let message = format!("invalid value '{}' for 'ros2_transport'", excerpt(word));
                let names = ROS2.iter().map(|(name, _)| *name);
                let help = did_you_mean(
                    word,
                    names,
                    "write auto, all, or some of dds, zenoh, r2r separated by commas".to_owned(),
                );
                problems.push(Diagnostic::error(origin(), message, help));
            }
        }
    }
}

/// Adds a fabric that is built in, once; complains about one that is not.
fn admit(
    fabric: Fabric,
    built_in: &[Fabric],
    origin: Origin,
    fabrics: &mut Vec<Fabric>,
    problems: &mut Vec<Diagnostic>,
) {
    if !built_in.contains(&fabric) {
        let what = match fabric {
            Fabric::Ros1 => "ROS 1".to_owned(),
            other => format!("ros2_transport={other}"),
        };
        problems.push(Diagnostic::error(origin, format!("{what} is not in this rostrans"), remedy(fabric)));
    } else if !fabrics.contains(&fabric) {
        fabrics.push(fabric);
    }
}

/// What an adapter is opened with.
pub(crate) struct Joining<'a> {
    pub(crate) settings: &'a Settings,
    pub(crate) env: Env<'a>,
    pub(crate) types: &'a Arc<TypeRegistry>,
}

/// Joins what was chosen.
///
/// **Errors**: one of them cannot be opened at all. One whose graph is not there yet waits for it in the background.
pub(crate) fn open(choice: &Choice, cx: &Joining<'_>) -> Result<Vec<Arc<dyn RosAdapter>>, AdapterError> {
    let open = |fabric: &Fabric| match fabric {
        Fabric::Dds => dds::open(cx),
        Fabric::Ros1 => ros1::open(cx),
        #[cfg(feature = "zenoh")]
        Fabric::Zenoh => zenoh::open(cx),
        #[cfg(not(feature = "zenoh"))]
        Fabric::Zenoh => Err(AdapterError::Unsupported { adapter: "zenoh", what: "this build" }),
        #[cfg(feature = "r2r")]
        Fabric::R2r => r2r::open(cx),
        #[cfg(not(feature = "r2r"))]
        Fabric::R2r => Err(AdapterError::Unsupported { adapter: "r2r", what: "this build" }),
    };
    choice.fabrics.iter().map(open).collect()
}

#[cfg(test)]
mod tests;

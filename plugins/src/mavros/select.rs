//! Which of MAVROS's plugins are wanted: `plugin_allowlist`, `plugin_denylist`.

use rostrans_core::param::Settings;

/// The lists of one run.
///
/// A plugin is left out when a deny pattern matches it and no allow pattern does; an allow list alone denies all
/// others. Patterns are those of a shell, and letter case does not count, as in MAVROS.
pub(super) struct Selection {
    allow: Vec<String>,
    deny: Vec<String>,
}

impl Selection {
    pub(super) fn new(settings: &Settings) -> Self {
        let list = |key| -> Vec<String> {
            let words = settings.text(key).split([',', ';', ' ', '[', ']', '\'', '"']).map(str::trim);
            words.filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
        };
        let (allow, mut deny) = (list("plugin_allowlist"), list("plugin_denylist"));
        if deny.is_empty() && !allow.is_empty() {
            deny.push("*".to_owned());
        }
        Self { allow, deny }
    }

    /// True when the plugin that has this topic or service is wanted; names are relative to the prefix, and what
    /// belongs to no plugin is.
    pub(super) fn wants(&self, name: &str) -> bool {
        if self.deny.is_empty() || name.starts_with('/') {
            return true;
        }
        let plugin = plugins_of(name);
        let listed = |list: &[String]| {
            list.iter().any(|pattern| plugin.iter().any(|name| matches(pattern.as_bytes(), name.as_bytes())))
        };
        listed(&self.allow) || !listed(&self.deny)
    }
}

/// The plugin of a topic or service; first its name in ROS 2, then the one in ROS 1.
fn plugins_of(name: &str) -> Vec<&str> {
    let first = name.split('/').next().unwrap_or(name);
    match first {
        "state"
        | "extended_state"
        | "sys_status"
        | "battery"
        | "statustext"
        | "status_event"
        | "estimator_status"
        | "set_mode"
        | "set_stream_rate"
        | "set_message_interval"
        | "vehicle_info_get" => {
            vec!["sys_status"]
        }
        "time_reference" | "timesync_status" => vec!["sys_time"],
        "rc" => vec!["rc_io"],
        "cmd" => vec!["command"],
        "mission" => vec!["waypoint"],
        "target_actuator_control" => vec!["actuator_control"],
        "radio_status" => vec!["tdr_radio", "3dr_radio"],
        "gpsstatus" => vec!["gps_status"],
        "companion_process" => vec!["companion_process_status"],
        "mag_calibration" => vec!["mag_calibration_status"],
        "mocap" => vec!["mocap_pose_estimate"],
        "obstacle" => vec!["obstacle_distance"],
        "odometry" => vec!["odometry", "odom"],
        "onboard_computer" => vec!["onboard_computer_status"],
        "vision_pose" => vec!["vision_pose", "vision_pose_estimate"],
        "vision_speed" => vec!["vision_speed", "vision_speed_estimate"],
        other => vec![other],
    }
}

/// A shell pattern of `*`, `?` and `[...]`.
fn matches(pattern: &[u8], text: &[u8]) -> bool {
    match (pattern, text) {
        ([], []) => true,
        ([b'*', rest @ ..], _) => {
            // Patterns and names are short: trying each rest is cheap, and a run of stars is one.
            let rest = rest.iter().position(|c| *c != b'*').and_then(|at| rest.get(at..)).unwrap_or_default();
            (0..=text.len()).any(|at| text.get(at..).is_some_and(|text| matches(rest, text)))
        }
        ([b'?', pattern @ ..], [_, text @ ..]) => matches(pattern, text),
        ([b'[', class @ ..], [c, text @ ..]) => {
            let Some(end) = class.iter().skip(1).position(|c| *c == b']').map(|at| at + 1) else {
                return *c == b'[' && matches(class, text);
            };
            let (class, pattern) = class.split_at(end);
            in_class(class, *c) && matches(pattern.get(1..).unwrap_or_default(), text)
        }
        ([p, pattern @ ..], [c, text @ ..]) => p == c && matches(pattern, text),
        _ => false,
    }
}

/// `a-z_`, or `!a-z` for all others.
fn in_class(class: &[u8], c: u8) -> bool {
    let (negated, class) = match class {
        [b'!' | b'^', rest @ ..] => (true, rest),
        class => (false, class),
    };
    let mut rest = class;
    let mut found = false;
    loop {
        rest = match rest {
            [low, b'-', high, rest @ ..] => {
                found |= (*low..=*high).contains(&c);
                rest
            }
            [only, rest @ ..] => {
                found |= *only == c;
                rest
            }
            [] => return found != negated,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn selection(allow: &[&str], deny: &[&str]) -> Selection {
        let list = |words: &[&str]| words.iter().map(|w| (*w).to_owned()).collect();
        Selection { allow: list(allow), deny: list(deny) }
    }

    #[test]
    fn shell_patterns_match_as_in_a_shell() {
        for (pattern, text, expected) in [
            ("imu", "imu", true),
            ("imu", "imu2", false),
            ("*", "", true),
            ("sys_*", "sys_time", true),
            ("s*s*e", "sys_time", true),
            ("?mu", "imu", true),
            ("?mu", "mu", false),
            ("setpoint_[apv]*", "setpoint_velocity", true),
            ("setpoint_[!apv]*", "setpoint_velocity", false),
            ("gps[0-9_]*", "gps_rtk", true),
            ("[", "[", true),
            ("[a", "a", false),
        ] {
            assert_eq!(matches(pattern.as_bytes(), text.as_bytes()), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn allowed_wins_over_denied_and_alone_denies_the_rest() {
        let both = selection(&["imu"], &["*"]);
        assert!(both.wants("imu/data") && !both.wants("state") && both.wants("/tf"));
        let deny = selection(&[], &["waypoint", "3dr*"]);
        assert!(!deny.wants("mission/push") && !deny.wants("radio_status") && deny.wants("cmd/arming"));
        assert!(selection(&[], &[]).wants("anything"));
    }
}

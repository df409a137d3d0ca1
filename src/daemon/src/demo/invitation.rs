//! What the demo tells people to try.

/// What to do with the vehicles.
pub(super) fn invitation(first: u16, count: u16) -> String {
    let mut command = "rostrans --enable_dllModel=true --enable_mavros=false".to_owned();
    for (key, value) in [("coptersim_startid", first), ("coptersim_count", count)] {
        if value != 1 {
            command.push_str(&format!(" --{key}={value}"));
        }
    }
    let prefix = if first == 1 { "/mavros".to_owned() } else { format!("/mavros{first}") };
    format!(
        "simulating {count} vehicle(s) of CopterSim from number {first} on; Ctrl-C ends it. In another terminal:

  {command}

and with ROS 2 and its package mavros_msgs in a third:

  ros2 service call {prefix}/cmd/arming mavros_msgs/srv/CommandBool '{{value: true}}'
  ros2 service call {prefix}/cmd/takeoff mavros_msgs/srv/CommandTOL '{{altitude: 3}}'
  ros2 topic echo {prefix}/local_position/pose --qos-reliability best_effort
  ros2 service call {prefix}/cmd/land mavros_msgs/srv/CommandTOL '{{}}'
"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invitation_names_the_vehicles() {
        let [one, others] = [invitation(1, 1), invitation(4, 3)];
        assert!(
            one.contains("=true --enable_mavros=false\n") && one.contains(" /mavros/cmd/arming "),
            "{one}"
        );
        let command = "--enable_mavros=false --coptersim_startid=4 --coptersim_count=3\n";
        assert!(others.contains(command) && others.contains(" /mavros4/cmd/land "), "{others}");
    }
}

//! ROS 2 over DDS.

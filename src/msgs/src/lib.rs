//! Typed ROS messages for the hot path.

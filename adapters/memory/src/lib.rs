//! In-process ROS bus.

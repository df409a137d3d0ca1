//! Codecs between frames and ROS messages.

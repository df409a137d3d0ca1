#!/usr/bin/env bash
# Runs a program with the ROS 2 of a venv of install.sh sourced: with_ros2.sh PREFIX DISTRO COMMAND [ARG...]
#
# For programs that are not started by the venv's Python, such as rostrans with the feature r2r.
set -euo pipefail
prefix="$(cd "$1" && pwd)"
export AMENT_PREFIX_PATH="$prefix" ROS_DISTRO="$2" ROS_VERSION=2
# Some libraries that the wheels bring along are beside the Python packages.
libraries="$prefix/lib"
for folder in "$prefix"/lib/python3.*/site-packages/ros_*.libs; do libraries+=":$folder"; done
export LD_LIBRARY_PATH="$libraries"
# librcl.so of the wheels takes symbols from the interpreter, which is not there.
LD_PRELOAD="$("$(dirname "${BASH_SOURCE[0]}")/libpython.sh" "$prefix")"
export LD_PRELOAD
exec "${@:3}"

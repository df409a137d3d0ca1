#!/usr/bin/env bash
# Build ROS 2 interface packages from .msg/.srv/.action files and install them
# into a ROS 2 venv made by install.sh (ros2 or ros2-kilted).
#
#   build_ros2_msgs.sh PREFIX PACKAGE_DIR...
#
# Each PACKAGE_DIR is named like its package and has msg/, srv/ or action/ inside.
# Its own CMakeLists.txt and package.xml, if any, are not used: both are generated
# here. List packages in dependency order. Afterwards rclpy imports them.
set -euo pipefail

[ $# -ge 2 ] || { sed -n '2,10p' "$0" | sed 's/^# \{0,1\}//' >&2; exit 2; }
prefix="$(cd "$1" && pwd)"; shift
export AMENT_PREFIX_PATH="$prefix" CMAKE_PREFIX_PATH="$prefix" PATH="$prefix/bin:$PATH"
# The wheels keep bundled libraries in site-packages/ros_*.libs; the venv's Python must not restart itself
# to find them, as it does outside of a build.
export LD_LIBRARY_PATH="$prefix/lib$(printf ':%s' "$prefix"/lib/python3.*/site-packages/ros_*.libs)"
export _ROS_WHEELS_BOOTSTRAP_COMPLETE=1
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT

for dir in "$@"; do
    dir="$(cd "$dir" && pwd)"
    pkg="$(basename "$dir")"
    src="$work/$pkg"
    mkdir -p "$src"
    for kind in msg srv action; do
        if [ -d "$dir/$kind" ]; then cp -r "$dir/$kind" "$src/"; fi
    done
    files="$(cd "$src" && find . -type f \
        \( -name '*.msg' -o -name '*.srv' -o -name '*.action' \) | sed 's#^\./##' | LC_ALL=C sort)"
    [ -n "$files" ] || { echo "no interface files in $dir" >&2; exit 1; }

    # Packages named in "pkg/Type field" lines, less this one.
    deps="$(cd "$src" && sed -nE 's#^[[:space:]]*([a-z][a-z0-9_]*)/[A-Za-z].*#\1#p' $files \
        | LC_ALL=C sort -u | grep -vx "$pkg" || true)"
    deps="$(echo $deps)"

    {
        echo "cmake_minimum_required(VERSION 3.20)"
        echo "project($pkg)"
        echo "find_package(ament_cmake REQUIRED)"
        echo "find_package(rosidl_default_generators REQUIRED)"
        for d in $deps; do echo "find_package($d REQUIRED)"; done
        echo "rosidl_generate_interfaces($pkg"
        echo "$files" | sed 's/^/  /'
        if [ -n "$deps" ]; then echo "  DEPENDENCIES $deps"; fi
        echo ")"
        echo "ament_export_dependencies(rosidl_default_runtime)"
        echo "ament_package()"
    } > "$src/CMakeLists.txt"
    {
        echo '<?xml version="1.0"?>'
        echo '<package format="3">'
        echo "  <name>$pkg</name><version>0.0.0</version><description>$pkg</description>"
        echo '  <maintainer email="dev@example.com">dev</maintainer><license>see sources</license>'
        echo '  <buildtool_depend>ament_cmake</buildtool_depend>'
        echo '  <buildtool_depend>rosidl_default_generators</buildtool_depend>'
        for d in $deps; do echo "  <depend>$d</depend>"; done
        echo '  <exec_depend>rosidl_default_runtime</exec_depend>'
        echo '  <member_of_group>rosidl_interface_packages</member_of_group>'
        echo '  <export><build_type>ament_cmake</build_type></export>'
        echo '</package>'
    } > "$src/package.xml"

    echo "== $pkg: $(echo "$files" | wc -l) interfaces, depends on: ${deps:-nothing}"
    cmake -S "$src" -B "$work/build-$pkg" -DBUILD_TESTING=OFF \
        -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE=-O0 -DCMAKE_C_FLAGS_RELEASE=-O0 \
        -DCMAKE_INSTALL_PREFIX="$prefix" -DPython3_EXECUTABLE="$prefix/bin/python" \
        > "$work/$pkg.log" 2>&1 || { tail -40 "$work/$pkg.log" >&2; exit 1; }
    cmake --build "$work/build-$pkg" -j"${JOBS:-2}" >> "$work/$pkg.log" 2>&1 \
        || { tail -40 "$work/$pkg.log" >&2; exit 1; }
    cmake --install "$work/build-$pkg" >> "$work/$pkg.log" 2>&1 \
        || { tail -40 "$work/$pkg.log" >&2; exit 1; }
done

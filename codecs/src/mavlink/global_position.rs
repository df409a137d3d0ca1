//! `mavlink.global_position`: GPS and the global position estimate.

use std::sync::Arc;

use rostrans_core::{
    clock::RosTime,
    codec::{CodecError, CodecInfo, Cost, DecodeError, Decoder, Interest, Port, Role},
    emit::Emit,
    topic::Qos,
    transport::{Frame, Framing},
};
use rostrans_mavlink::Version;
use rostrans_msgs::{
    geographic_msgs::msg::GeoPointStamped,
    geometry_msgs::msg::{PoseStamped, TwistStamped},
    nav_msgs::msg::Odometry,
    sensor_msgs::msg::NavSatFix,
    std_msgs::msg::{Float64, UInt32},
};

use super::{
    DecodeOnly,
    attitude::AttitudeTracker,
    dialect::{
        Attitude, AttitudeQuaternion, GlobalPositionInt, GpsGlobalOrigin, GpsRawInt, Heartbeat, HomePosition,
        LocalPositionNedSystemGlobalOffset, Message,
    },
    relay::topic,
    ros,
    tf::{self, Transform},
    uas::{MavContext, Uas},
    vehicle::{self, Vehicle},
};
use crate::{
    frames::{Cov3, Geodetic, Ned, Quaternion},
    options::Options,
};

/// GPS and fused global position to `global_position/*`.
///
/// Latitude and longitude are degrees; `altitude` is metres above the WGS-84 ellipsoid (the undulation comes from the
/// grid or from GPS_RAW_INT, else it counts as 0), `rel_alt` metres above home, `compass_hdg` degrees clockwise from
/// north. `local` is ENU from the map origin: the home position, or before one is known the first position with a fix;
/// it is not published before that. With `exact` its vertical velocity points down. With `tf_send` it is a transform on
/// `/tf` as well, and so is the offset between local and global frame; not beside that of `local_position`.
///
/// Source: MAVLink common, GPS_RAW_INT (24), GLOBAL_POSITION_INT (33), GPS_GLOBAL_ORIGIN (49), HOME_POSITION (242),
/// LOCAL_POSITION_NED_SYSTEM_GLOBAL_OFFSET (89), attitude from 30 and 31.
pub(super) const CODEC: DecodeOnly = DecodeOnly::new(&INFO, build);

const INFO: CodecInfo = CodecInfo {
    name: "mavlink.global_position",
    doc: "GPS fix, fused global position, heading, map origin",
    roles: &[Role::Decode],
    ports: &[
        topic::<NavSatFix>("global", Qos::sensor_data()),
        topic::<NavSatFix>("raw_fix", Qos::sensor_data()),
        topic::<TwistStamped>("raw_gps_vel", Qos::sensor_data()),
        topic::<UInt32>("raw_satellites", Qos::sensor_data()),
        topic::<Odometry>("local", Qos::sensor_data()),
        topic::<Float64>("rel_alt", Qos::sensor_data()),
        topic::<Float64>("compass_hdg", Qos::sensor_data()),
        topic::<GeoPointStamped>("gp_origin", Qos::latched(1)),
        topic::<PoseStamped>("gp_lp_offset", Qos::sensor_data()),
        tf::PORT,
    ],
    inputs: &[],
    services: &[],
    framing: Framing::Mavlink,
    interest: Interest::Tags(&[
        Heartbeat::ID,
        GpsRawInt::ID,
        Attitude::ID,
        AttitudeQuaternion::ID,
        GlobalPositionInt::ID,
        GpsGlobalOrigin::ID,
        LocalPositionNedSystemGlobalOffset::ID,
        HomePosition::ID,
    ]),
    cost: Cost::Inline,
    tick: None,
    options: &[
        vehicle::SYSID,
        vehicle::COMPID,
        vehicle::CONN_TIMEOUT,
        vehicle::EXACT,
        ("frame_id", "local frame; default map"),
        ("child_frame_id", "body frame, also of the fixes; default base_link"),
        ("gps_uere", "metres of error per unit of dilution; default 1.0"),
        ("rot_covariance", "variance of the rotations of 'local'; default 99999"),
        ("use_relative_alt", "z of 'local' is the height above home; default true"),
        tf::SEND,
        ("tf_frame_id", "frame of the map in transforms; default map"),
        ("tf_global_frame_id", "frame of the earth in transforms; default earth"),
        ("tf_child_frame_id", "frame of the body in transforms; default base_link"),
    ],
};

const GLOBAL: Port = Port(0);
const RAW_FIX: Port = Port(1);
const RAW_GPS_VEL: Port = Port(2);
const RAW_SATELLITES: Port = Port(3);
const LOCAL: Port = Port(4);
const REL_ALT: Port = Port(5);
const COMPASS_HDG: Port = Port(6);
const GP_ORIGIN: Port = Port(7);
const GP_LP_OFFSET: Port = Port(8);
const TF: Port = Port(9);

fn build(cx: &MavContext<'_>) -> Result<Box<dyn Decoder>, CodecError> {
    let options = Options::new(cx, &INFO)?;
    let local = ros::header(options.text("frame_id", "map")?);
    let body = ros::header(options.text("child_frame_id", "base_link")?);
    let [map, earth, vehicle] = [
        options.text("tf_frame_id", "map")?,
        options.text("tf_global_frame_id", "earth")?,
        options.text("tf_child_frame_id", "base_link")?,
    ];
    let send = options.flag("tf_send", false)?;
    let transforms = send.then(|| [Transform::new(map, vehicle), Transform::new(earth, map)]);
    let mut fix = NavSatFix { header: body.clone(), ..NavSatFix::default() };
    fix.status.status = STATUS_NO_FIX;
    fix.status.service = SERVICE_GPS;
    fix.position_covariance = Cov3::from_stdev(0.0).0;
    let rotation = options.number("rot_covariance", 99_999.0)?;
    let mut odom = Odometry { header: local.clone(), child_frame_id: body.frame_id, ..Odometry::default() };
    odom.twist.covariance = UNKNOWN_6X6;
    Ok(Box::new(GlobalPositionDecoder {
        rule: cx.rule.rule_id.as_str().to_owned(),
        vehicle: Vehicle::new(&options)?,
        uas: Arc::clone(&cx.uas),
        exact: options.flag("exact", false)?,
        use_relative_alt: options.flag("use_relative_alt", true)?,
        uere: options.number("gps_uere", 1.0)?,
        rotation: Cov3::diagonal(rotation, rotation, rotation),
        attitude: AttitudeTracker::new(),
        geoid_told: false,
        origin: None,
        global: fix.clone(),
        raw_fix: fix,
        raw_gps_vel: TwistStamped { header: local, ..TwistStamped::default() },
        local: odom,
        gp_origin: GeoPointStamped { header: ros::header("earth"), ..GeoPointStamped::default() },
        gp_lp_offset: PoseStamped { header: ros::header("earth"), ..PoseStamped::default() },
        tf: transforms,
    }))
}

struct GlobalPositionDecoder {
    rule: String,
    vehicle: Vehicle,
    uas: Arc<Uas>,
    exact: bool,
    use_relative_alt: bool,
    uere: f64,
    rotation: Cov3,
    attitude: AttitudeTracker,
    /// The absence of ellipsoid heights was told.
    geoid_told: bool,
    /// Where `local` counts from.
    origin: Option<Geodetic>,
    global: NavSatFix,
    raw_fix: NavSatFix,
    raw_gps_vel: TwistStamped,
    local: Odometry,
    gp_origin: GeoPointStamped,
    gp_lp_offset: PoseStamped,
    /// From the map to the body, from the earth to the map.
    tf: Option<[Transform; 2]>,
}

impl Decoder for GlobalPositionDecoder {
    fn decode(&mut self, frame: &Frame<'_>, out: &mut Emit<'_>) -> Result<(), DecodeError> {
        let Some(packet) = self.vehicle.accept(frame)? else { return Ok(()) };
        if self.vehicle.connection_changed(&packet, frame.received) {
            self.attitude.forget_source();
        }
        let payload = packet.payload;
        match packet.msgid {
            GpsRawInt::ID => self.gps_raw(&GpsRawInt::decode(payload), packet.version, out),
            GlobalPositionInt::ID => self.position(&GlobalPositionInt::decode(payload), out),
            GpsGlobalOrigin::ID => self.origin(&GpsGlobalOrigin::decode(payload), out),
            LocalPositionNedSystemGlobalOffset::ID => {
                self.offset(&LocalPositionNedSystemGlobalOffset::decode(payload), out);
            }
            HomePosition::ID => {
                let home = HomePosition::decode(payload);
                self.origin = Some(self.geodetic(home.latitude, home.longitude, home.altitude));
            }
            _ => {
                self.attitude.update(&packet);
            }
        }
        Ok(())
    }
}

impl GlobalPositionDecoder {
    fn geodetic(&self, lat: i32, lon: i32, alt_mm: i32) -> Geodetic {
        Geodetic {
            latitude_deg: ros::degrees(lat),
            longitude_deg: ros::degrees(lon),
            height_m: self.uas.height(lat, lon, alt_mm),
        }
    }

    fn gps_raw(&mut self, m: &GpsRawInt, version: Version, out: &mut Emit<'_>) {
        let known = self.uas.learn_geoid(m);
        if !known && !self.geoid_told && m.fix_type > 2 {
            self.geoid_told = true;
            tracing::warn!(
                rule = %self.rule,
                "the GPS sends no ellipsoid height (GPS_RAW_INT.alt_ellipsoid); heights stay above mean sea level"
            );
        }
        let stamp = self.uas.stamp_us(m.time_usec, out.stamp());
        let here = self.geodetic(m.lat, m.lon, m.alt);
        set_position(&mut self.raw_fix, stamp, here);
        // `global` shows status and covariance too, so they are kept up to date without a listener.
        self.raw_fix.status.status = if m.fix_type > 2 { STATUS_FIX } else { STATUS_NO_FIX };
        let (covariance, kind) = self.fix_covariance(m, version);
        self.raw_fix.position_covariance = covariance.0;
        self.raw_fix.position_covariance_type = kind;
        out.publish(RAW_FIX, stamp, &self.raw_fix);
        out.publish(RAW_SATELLITES, stamp, &UInt32 { data: m.satellites_visible.into() });
        if m.vel != UNKNOWN_U16 && m.cog != UNKNOWN_U16 && out.wants(RAW_GPS_VEL) {
            let speed = f64::from(m.vel) / 100.0;
            let (sin, cos) = (f64::from(m.cog) / 100.0).to_radians().sin_cos();
            ros::stamp(&mut self.raw_gps_vel.header, stamp);
            self.raw_gps_vel.twist.linear = ros::vector3([speed * sin, speed * cos, 0.0]);
            out.publish(RAW_GPS_VEL, stamp, &self.raw_gps_vel);
        }
    }

    /// Covariance and its type, from accuracies (MAVLink 2 only), else from dilutions of precision.
    fn fix_covariance(&self, m: &GpsRawInt, version: Version) -> (Cov3, u8) {
        if version == Version::V2 && m.h_acc > 0 && m.v_acc > 0 {
            let [h, v] = [m.h_acc, m.v_acc].map(|mm| (f64::from(mm) / 1e3).powi(2));
            (Cov3::diagonal(h, h, v), COVARIANCE_DIAGONAL_KNOWN)
        } else if m.eph != UNKNOWN_U16 && m.epv != UNKNOWN_U16 {
            let [h, v] = [m.eph, m.epv].map(|centi| (f64::from(centi) / 100.0 * self.uere).powi(2));
            (Cov3::diagonal(h, h, v), COVARIANCE_APPROXIMATED)
        } else {
            (Cov3::from_stdev(0.0), COVARIANCE_UNKNOWN)
        }
    }

    fn position(&mut self, m: &GlobalPositionInt, out: &mut Emit<'_>) {
        let stamp = self.uas.stamp_ms(m.time_boot_ms, out.stamp());
        let here = self.geodetic(m.lat, m.lon, m.alt);
        self.uas.set_global(here);
        let relative_m = ros::metres(m.relative_alt);
        if out.wants(GLOBAL) {
            set_position(&mut self.global, stamp, here);
            self.global.status.status = self.raw_fix.status.status;
            self.global.position_covariance = self.raw_fix.position_covariance;
            self.global.position_covariance_type = self.raw_fix.position_covariance_type;
            out.publish(GLOBAL, stamp, &self.global);
        }
        if self.origin.is_none() && self.raw_fix.status.status >= STATUS_FIX {
            self.origin = Some(here);
        }
        if let Some(origin) = self.origin.filter(|_| out.wants(LOCAL) || out.wants(TF)) {
            self.publish_local(stamp, m, here, origin, relative_m, out);
        }
        out.publish(REL_ALT, stamp, &Float64 { data: relative_m });
        let heading = if m.hdg == UNKNOWN_U16 { f64::NAN } else { f64::from(m.hdg) / 100.0 };
        out.publish(COMPASS_HDG, stamp, &Float64 { data: heading });
    }

    fn publish_local(
        &mut self,
        stamp: RosTime,
        m: &GlobalPositionInt,
        here: Geodetic,
        origin: Geodetic,
        relative_m: f64,
        out: &mut Emit<'_>,
    ) {
        ros::stamp(&mut self.local.header, stamp);
        let [x, y, z] = here.relative_to(origin).0;
        let z = if self.use_relative_alt { relative_m } else { z };
        if let Some([to_body, _]) = &mut self.tf {
            to_body.publish(TF, stamp, [x, y, z], self.attitude.orientation, out);
        }
        let pose = &mut self.local.pose;
        pose.pose.position = ros::point([x, y, z]);
        pose.pose.orientation = ros::quaternion(self.attitude.orientation);
        pose.covariance = Cov3(self.raw_fix.position_covariance).to_6x6(self.rotation);
        let velocity = Ned([m.vx, m.vy, m.vz].map(|cm| f64::from(cm) / 100.0)).to_enu();
        self.local.twist.twist.linear = ros::vector3(velocity.0);
        if self.exact {
            self.local.twist.twist.linear.z = f64::from(m.vz) / 100.0;
        }
        out.publish(LOCAL, stamp, &self.local);
    }

    fn origin(&mut self, m: &GpsGlobalOrigin, out: &mut Emit<'_>) {
        if out.wants(GP_ORIGIN) {
            let stamp = self.uas.stamp_us(m.time_usec, out.stamp());
            ros::stamp(&mut self.gp_origin.header, stamp);
            let at = self.geodetic(m.latitude, m.longitude, m.altitude);
            self.gp_origin.position.latitude = at.latitude_deg;
            self.gp_origin.position.longitude = at.longitude_deg;
            self.gp_origin.position.altitude = at.height_m;
            out.publish(GP_ORIGIN, stamp, &self.gp_origin);
        }
    }

    fn offset(&mut self, m: &LocalPositionNedSystemGlobalOffset, out: &mut Emit<'_>) {
        let stamp = self.uas.stamp_ms(m.time_boot_ms, out.stamp());
        let position = Ned([m.x, m.y, m.z].map(f64::from)).to_enu();
        let attitude = Quaternion::from_rpy(m.roll.into(), m.pitch.into(), m.yaw.into()).swap_attitude();
        if let Some([_, to_map]) = &mut self.tf {
            to_map.publish(TF, stamp, position.0, attitude, out);
        }
        if out.wants(GP_LP_OFFSET) {
            ros::stamp(&mut self.gp_lp_offset.header, stamp);
            self.gp_lp_offset.pose.position = ros::point(position.0);
            self.gp_lp_offset.pose.orientation = ros::quaternion(attitude);
            out.publish(GP_LP_OFFSET, stamp, &self.gp_lp_offset);
        }
    }
}

fn set_position(fix: &mut NavSatFix, stamp: RosTime, at: Geodetic) {
    ros::stamp(&mut fix.header, stamp);
    fix.latitude = at.latitude_deg;
    fix.longitude = at.longitude_deg;
    fix.altitude = at.height_m;
}

/// `NavSatStatus`.
const STATUS_NO_FIX: i8 = -1;
const STATUS_FIX: i8 = 0;
const SERVICE_GPS: u16 = 1;
/// `NavSatFix`.
const COVARIANCE_UNKNOWN: u8 = 0;
const COVARIANCE_APPROXIMATED: u8 = 1;
const COVARIANCE_DIAGONAL_KNOWN: u8 = 2;
/// What MAVLink sends for an unknown unsigned 16-bit value.
const UNKNOWN_U16: u16 = u16::MAX;
/// A covariance nothing is known of.
const UNKNOWN_6X6: [f64; 36] = {
    let mut covariance = [0.0; 36];
    covariance[0] = -1.0;
    covariance
};

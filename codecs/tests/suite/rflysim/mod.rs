//! Vehicles of CopterSim.

mod flight;
mod other;
mod telemetry;
mod ue;

use rostrans_rflysim::truth::SOut2Simulator;

/// The state of the reference's first example.
fn state() -> SOut2Simulator {
    SOut2Simulator {
        copter_id: 1,
        vehicle_type: 3,
        reserv: 0,
        vel_e: [1.0, 0.5, -0.25],
        ang_euler: [0.1, -0.05, std::f32::consts::FRAC_PI_2],
        ang_quatern: [0.705_119, 0.052_983, 0.017_676, 0.706_886],
        motor_rpms: [1000.0, 1000.0, 1000.0, 1000.0, 0.0, 0.0, 0.0, 0.0],
        acc_b: [0.2, -0.1, -9.81],
        rate_b: [0.01, -0.02, 0.03],
        runned_time: 12.5,
        pos_e: [10.0, 20.0, -5.0],
        pos_gps: [40.154_030_2, 116.259_368_3, 55.0],
    }
}

//! External position and motion, and sensors in both directions.

mod distance;
mod position;
mod seen;
mod sensor;

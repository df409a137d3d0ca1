//! External position and motion, and sensors in both directions.

mod position;
mod seen;
mod sensor;

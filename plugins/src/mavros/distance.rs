//! Distance sensors: one link each, as `mavros_distance_sensor_config` names them.

use rostrans_core::{diag::Diagnostic, param::Settings};
use serde_json::{Map, Value};

/// One sensor.
pub(super) struct Sensor {
    /// Its topic, relative to the prefix.
    pub(super) topic: String,
    /// It is beside the vehicle: the topic is read.
    pub(super) subscriber: bool,
    /// Options of its codec.
    pub(super) options: Map<String, Value>,
}

/// The sensors of the parameter; without it, four of the vehicle's under `distance_sensor/sensor_<id>`.
///
/// The parameter is what MAVROS has in YAML, as JSON: a name with its settings for each sensor.
///
/// **Errors**: it is no such text.
pub(super) fn sensors(settings: &Settings) -> Result<Vec<Sensor>, Diagnostic> {
    let text = settings.text(KEY).trim();
    if text.is_empty() {
        let default = |id: u8| Sensor {
            topic: format!("distance_sensor/sensor_{id}"),
            subscriber: false,
            options: Map::from_iter([("id".to_owned(), id.into())]),
        };
        return Ok((0..4).map(default).collect());
    }
    let wrong = |problem: String| {
        let help = r#"write e.g. {"sonar": {"id": 0, "orientation": "PITCH_270", "frame_id": "sonar"}}"#;
        Diagnostic::error(settings.origin(KEY), format!("'{KEY}': {problem}"), help)
    };
    let config: Map<String, Value> = serde_json::from_str(text).map_err(|error| wrong(error.to_string()))?;
    config
        .into_iter()
        .map(|(topic, settings)| match settings {
            Value::Object(options) => Ok(sensor(topic, options)),
            other => Err(wrong(format!("'{topic}' is {other}, not its settings"))),
        })
        .collect()
}

/// MAVROS's settings as the codec's.
fn sensor(topic: String, mut options: Map<String, Value>) -> Sensor {
    let subscriber = options.remove("subscriber") == Some(Value::Bool(true));
    for group in ["sensor_position", "custom_orientation"] {
        if let Some(Value::Object(values)) = options.remove(group) {
            options.extend(values);
        }
    }
    if let Some(Value::Number(number)) = options.get("orientation") {
        let number = number.to_string();
        options.insert("orientation".to_owned(), number.into());
    }
    Sensor { topic, subscriber, options }
}

const KEY: &str = "mavros_distance_sensor_config";

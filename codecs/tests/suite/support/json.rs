//! Looking at JSON.

use serde_json::Value;

/// Numbers of a JSON object's fields.
pub(crate) fn numbers<const N: usize>(value: &Value, fields: [&str; N]) -> [f64; N] {
    fields.map(|field| value[field].as_f64().unwrap_or_else(|| panic!("'{field}' in {value}")))
}

pub(crate) fn assert_close<const N: usize>(got: [f64; N], want: [f64; N], eps: f64) {
    let close = got.iter().zip(want).all(|(g, w)| (g - w).abs() <= eps);
    assert!(close, "got {got:?}, want {want:?}");
}

/// Asserts that `got` has everything that `want` has; numbers may differ by single precision.
pub(crate) fn assert_has(got: &Value, want: &Value) {
    let mut todo = vec![(String::new(), got, want)];
    while let Some((path, got, want)) = todo.pop() {
        match (got, want) {
            (Value::Object(got), Value::Object(want)) => {
                for (name, value) in want {
                    let field = got.get(name).unwrap_or_else(|| panic!("no '{path}.{name}' in {got:?}"));
                    todo.push((format!("{path}.{name}"), field, value));
                }
            }
            (Value::Array(got), Value::Array(want)) => {
                assert_eq!(got.len(), want.len(), "{path}");
                let pairs = got.iter().zip(want).enumerate();
                todo.extend(pairs.map(|(index, (got, want))| (format!("{path}[{index}]"), got, want)));
            }
            (Value::Number(a), Value::Number(b)) if a.is_f64() && b.is_f64() => {
                let (a, b) = (a.as_f64().unwrap(), b.as_f64().unwrap());
                assert!((a - b).abs() <= 1e-6 * b.abs().max(1.0), "{path}: {a}, not {b}");
            }
            _ => assert_eq!(got, want, "{path}"),
        }
    }
}

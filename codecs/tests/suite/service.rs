//! `json` and `cdr`: services, both ways.

use std::time::{Duration, Instant};

use bytes::BytesMut;
use rostrans_cdr::CdrBytes;
use rostrans_core::{
    codec::{Caller, Exchange, FrameOut, Reply, Retry},
    transport::{Frame, Peer},
};
use rostrans_schema::{ServiceType, TypeName};
use serde_json::{Value, json};
use std::sync::Arc;

use crate::support::{PEER, build, rule, service, types};

const COMMAND_BOOL: &str = "mavros_msgs/srv/CommandBool";
const SET_BOOL: &str = "std_srvs/srv/SetBool";

fn exchange(codec: &str, srv_type: &str) -> Box<dyn Exchange> {
    exchange_with(codec, &json!({"timeout": 0.5}), srv_type).unwrap()
}

fn exchange_with(codec: &str, options: &Value, srv_type: &str) -> Result<Box<dyn Exchange>, String> {
    let mut rule = rule(codec, options);
    rule.links[0].service = Some(service(srv_type));
    build(&rule, |codec, cx| codec.exchange(cx)).map_err(|error| error.to_string())
}

fn caller(codec: &str, srv_type: &str) -> Box<dyn Caller> {
    let mut rule = rule(codec, &json!({}));
    rule.links[0].service = Some(service(srv_type));
    build(&rule, |codec, cx| codec.caller(cx)).unwrap()
}

fn parts(srv_type: &str) -> Arc<ServiceType> {
    types().service(&TypeName::service(srv_type).unwrap()).unwrap()
}

fn frame(bytes: &[u8]) -> Frame<'_> {
    Frame { bytes, peer: Peer::Udp(PEER), received: Instant::now(), tag: None, sender: None }
}

fn frames(out: &mut FrameOut) -> Vec<Vec<u8>> {
    let mut frames = Vec::new();
    out.drain(|frame| frames.push(frame.to_vec()));
    frames
}

fn request(srv_type: &str, value: &Value) -> CdrBytes {
    parts(srv_type).request().json_to_cdr(value, &mut BytesMut::new()).unwrap()
}

fn response(srv_type: &str, value: &Value) -> CdrBytes {
    parts(srv_type).response().json_to_cdr(value, &mut BytesMut::new()).unwrap()
}

fn shown(srv_type: &str, reply: Reply) -> Value {
    let Reply::Done(sample) = reply else { panic!("{reply:?}") };
    parts(srv_type).response().cdr_to_json(&sample).unwrap()
}

#[test]
fn arming_is_asked_for_in_json() {
    let mut exchange = exchange("json", COMMAND_BOOL);
    assert_eq!(exchange.timeout(), Duration::from_millis(500));
    let mut out = FrameOut::new();
    exchange.request(&request(COMMAND_BOOL, &json!({"value": true})), &mut out).unwrap();
    assert_eq!(frames(&mut out), [br#"{"value":true}"#]);
    assert!(exchange.response(&frame(b"not json")).is_err());
    assert!(exchange.response(&frame(br#"{"other": 1}"#)).is_err());
    let reply = exchange.response(&frame(br#"{"success": true, "result": 4}"#)).unwrap();
    assert_eq!(shown(COMMAND_BOOL, reply), json!({"success": true, "result": 4}));
}

#[test]
fn errors_and_silence_of_the_peer_fail_the_call() {
    let mut set = exchange("json", SET_BOOL);
    let reply = set.response(&frame(br#"{"error": "no motor"}"#)).unwrap();
    assert_eq!(shown(SET_BOOL, reply), json!({"success": false, "message": "no motor"}));
    let Retry::GiveUp(Some(late)) = set.timed_out(1, &mut FrameOut::new()) else { panic!("no answer") };
    let late = parts(SET_BOOL).response().cdr_to_json(&late).unwrap();
    assert_eq!(late, json!({"success": false, "message": "the peer did not answer in time"}));
    assert!(set.failure().is_some());

    // This response has no way to say that it failed.
    let mut get = exchange("json", "rcl_interfaces/srv/GetParameters");
    assert_eq!(get.response(&frame(br#"{"error": "x"}"#)), Ok(Reply::Unrelated));
    assert_eq!(get.timed_out(1, &mut FrameOut::new()), Retry::GiveUp(None));
    assert_eq!(get.failure(), None);
}

#[test]
fn json_frames_call_services() {
    let mut caller = caller("json", SET_BOOL);
    let got = caller.request(&frame(br#"{"data": true}"#)).unwrap().unwrap();
    assert_eq!(got, request(SET_BOOL, &json!({"data": true})));
    assert!(caller.request(&frame(br#"{"dta": true}"#)).is_err());
    let mut out = FrameOut::new();
    let answer = response(SET_BOOL, &json!({"success": true, "message": "done"}));
    caller.response(Ok(&answer), &mut out).unwrap();
    caller.response(Err("no server for the service"), &mut out).unwrap();
    assert_eq!(
        frames(&mut out),
        [&br#"{"success":true,"message":"done"}"#[..], br#"{"error":"no server for the service"}"#]
    );
}

#[test]
fn refused_request_is_answered_with_the_reason_but_an_error_is_not() {
    let mut caller = caller("json", SET_BOOL);
    let mut out = FrameOut::new();
    for (bad, reason) in [
        (
            r#"{"dta": true}"#,
            "field 'dta': no such field in 'std_srvs/srv/SetBool_Request'; did you mean 'data'?",
        ),
        (r#"{"data": 1}"#, "field 'data': expected true or false, found '1'"),
        (r#"{"data": tru"#, "not valid JSON: EOF while parsing a value at line 1 column 12"),
    ] {
        assert!(caller.request(&frame(bad.as_bytes())).is_err(), "{bad}");
        assert_eq!(caller.explain().as_deref(), Some(reason));
        caller.refusal(&mut out);
        let frames = frames(&mut out);
        assert_eq!(serde_json::from_slice::<Value>(&frames[0]).unwrap(), json!({ "error": reason }));
        assert!(caller.request(&frame(&frames[0])).is_err());
        caller.refusal(&mut out);
        assert_eq!(self::frames(&mut out), [] as [Vec<u8>; 0], "no answer to an answer");
    }
}

#[test]
fn id_field_pairs_a_response_with_its_request() {
    let mut set = exchange_with("json", &json!({"id_field": "seq"}), SET_BOOL).unwrap();
    assert!(set.correlates() && !exchange("json", SET_BOOL).correlates());
    let mut out = FrameOut::new();
    let mut ask = || {
        set.request(&request(SET_BOOL, &json!({"data": true})), &mut out).unwrap();
        let sent: Value = serde_json::from_slice(&frames(&mut out)[0]).unwrap();
        assert_eq!(sent["data"], true);
        sent["seq"].as_u64().unwrap()
    };
    let (first, second) = (ask(), ask());
    assert_ne!(first, second);
    let mut answer = |value: Value| set.response(&frame(value.to_string().as_bytes()));
    assert_eq!(answer(json!({"seq": first, "success": true})), Ok(Reply::Unrelated));
    assert_eq!(answer(json!({"seq": second.to_string(), "success": true})), Ok(Reply::Unrelated));
    assert!(answer(json!({"success": true})).is_err());
    assert_eq!(
        shown(SET_BOOL, answer(json!({"success": true, "seq": second, "message": "on"})).unwrap()),
        json!({"success": true, "message": "on"})
    );
    let error = answer(json!({"seq": second, "error": "jammed"})).unwrap();
    assert_eq!(shown(SET_BOOL, error), json!({"success": false, "message": "jammed"}));
}

#[test]
fn id_field_must_be_free_and_is_for_requests_to_peers() {
    for taken in ["data", "message"] {
        let error = exchange_with("json", &json!({ "id_field": taken }), SET_BOOL).err().unwrap();
        assert!(error.starts_with(&format!("option 'id_field': '{taken}' is a field of")), "{error}");
    }
    let mut rule = rule("json", &json!({"id_field": "seq"}));
    rule.links[0].service = Some(service(SET_BOOL));
    assert!(build(&rule, |codec, cx| codec.caller(cx).map(drop)).is_err());
    assert!(exchange_with("cdr", &json!({"id_field": "seq"}), SET_BOOL).is_err());
}

#[test]
fn cdr_samples_are_requests_and_responses() {
    let mut exchange = exchange("cdr", COMMAND_BOOL);
    let ask = request(COMMAND_BOOL, &json!({"value": true}));
    let answer = response(COMMAND_BOOL, &json!({"success": true, "result": 0}));
    let mut out = FrameOut::new();
    exchange.request(&ask, &mut out).unwrap();
    assert_eq!(frames(&mut out), [ask.to_vec()]);
    assert_eq!(exchange.response(&frame(&answer)), Ok(Reply::Done(answer.clone())));
    assert!(exchange.response(&frame(&answer[..4])).is_err());
    let Retry::GiveUp(Some(failed)) = exchange.timed_out(1, &mut out) else { panic!("no answer") };
    assert_eq!(failed, response(COMMAND_BOOL, &json!({})));

    let mut caller = caller("cdr", COMMAND_BOOL);
    assert_eq!(caller.request(&frame(&ask)), Ok(Some(ask)));
    assert!(caller.request(&frame(b"\0\x01\0\0")).is_err());
    caller.response(Ok(&answer), &mut out).unwrap();
    caller.response(Err("timed out"), &mut out).unwrap();
    assert_eq!(frames(&mut out), [answer.to_vec(), failed.to_vec()]);
}

#[test]
fn timeout_must_be_sensible() {
    for codec in ["json", "cdr"] {
        let mut rule = rule(codec, &json!({"timeout": 0}));
        rule.links[0].service = Some(service(SET_BOOL));
        let answered = build(&rule, |codec, cx| codec.exchange(cx).map(drop)).unwrap_err();
        let called = build(&rule, |codec, cx| codec.caller(cx).map(drop)).unwrap_err();
        for error in [answered, called] {
            assert_eq!(
                error.to_string(),
                "option 'timeout': 0 is not a number of seconds from 0.001 to 3600"
            );
        }
    }
}

#[test]
fn callers_wait_as_long_as_they_are_told() {
    for codec in ["json", "cdr"] {
        assert_eq!(caller(codec, SET_BOOL).timeout(), Duration::from_secs(5));
        let mut rule = rule(codec, &json!({"timeout": 600}));
        rule.links[0].service = Some(service("example_interfaces/action/Fibonacci_GetResult"));
        let caller = build(&rule, |codec, cx| codec.caller(cx)).unwrap();
        assert_eq!(caller.timeout(), Duration::from_secs(600));
    }
}

use std::time::Duration;

use model::{FINE, Vehicle, Weather, World};
use rostrans_core::codec::CallId;
use rostrans_msgs::mavros_msgs::msg::Waypoint;

use super::*;
use crate::mavlink::mission::task::Answer;

mod model;

fn items(count: u16) -> Vec<Waypoint> {
    let item = |i: u16| Waypoint {
        frame: 3,
        command: 16,
        x_lat: f64::from(i),
        param1: f32::from(i),
        ..Default::default()
    };
    (0..count).map(item).collect()
}

fn vehicle(count: u16) -> Vehicle {
    Vehicle { plan: items(count), int: true, repeats_ack: true, ..Vehicle::default() }
}

#[test]
fn plan_is_read_written_and_cleared() {
    let mut world = World::new(vehicle(3), FINE, 0);
    assert_eq!(world.run(Job::Pull), (true, 3));
    assert_eq!(world.machine.list.waypoints, items(3));
    assert_eq!(
        world.said,
        [
            Say::RequestList,
            Say::Request { seq: 0, int: true },
            Say::Request { seq: 1, int: true },
            Say::Request { seq: 2, int: true },
            Say::Ack(ACCEPTED),
        ]
    );
    assert_eq!(world.run(Job::Push { start: 0, items: items(5) }), (true, 5));
    assert_eq!((world.vehicle.plan.len(), world.machine.list.waypoints.len()), (5, 5));
    assert_eq!(world.run(Job::SetCurrent(2)), (true, 0));
    assert!(world.machine.list.waypoints[2].is_current && world.machine.list.current_seq == 2);
    assert_eq!(world.run(Job::Clear), (true, 0));
    assert_eq!(world.run(Job::Pull), (true, 0));
    assert_eq!((world.published, world.vehicle.plan.len()), (5, 0));
}

#[test]
fn two_hundred_items_pass_a_link_that_loses_doubles_and_reorders() {
    let mut failed = 0;
    for seed in 0..300 {
        for loss in [10, 30] {
            let weather = Weather { loss, twice: 10, latency: 10, jitter: 60 };
            let vehicle = Vehicle { repeats_ack: seed % 2 == 0, ..vehicle(0) };
            let mut world = World::new(vehicle, weather, seed);
            world.machine.set_int_support(true);
            let pushed = world.run(Job::Push { start: 0, items: items(200) });
            if pushed.0 {
                assert_eq!(pushed.1, 200);
                assert_eq!(world.vehicle.plan, items(200), "seed {seed}, loss {loss}");
            }
            // One that failed for want of an answer to its first message may be tried again, as any caller would.
            let pulled = world.run(Job::Pull);
            if pulled.0 && pushed.0 {
                assert_eq!(world.machine.list.waypoints, items(200));
            }
            let cleared = world.run(Job::Clear);
            if cleared.0 {
                assert_eq!(world.vehicle.plan.len(), 0);
            }
            let whole = pushed.0 && pulled.0 && cleared.0;
            assert!(whole || loss == 30, "seed {seed}: {pushed:?} {pulled:?} {cleared:?}");
            failed += u32::from(!whole);
        }
    }
    assert!(failed <= 9, "{failed} of 300 at 30 % loss");
}

#[test]
fn silent_vehicle_is_asked_four_times_in_four_seconds() {
    for job in [Job::Pull, Job::Push { start: 0, items: items(2) }, Job::Clear, Job::SetCurrent(1)] {
        let mut world = World::new(Vehicle { gone: true, ..vehicle(2) }, FINE, 0);
        let begun = world.now;
        assert_eq!(world.run(job), (false, 0));
        assert_eq!(world.now - begun, Duration::from_secs(4));
        assert_eq!(world.said.len(), 4);
        assert_eq!(world.published, 0);
    }
}

#[test]
fn vehicle_that_vanishes_amid_a_transfer_fails_it_soon() {
    for push in [true, false] {
        let mut world = World::new(vehicle(100), FINE, 0);
        world.machine.set_int_support(true);
        let job = if push { Job::Push { start: 0, items: items(100) } } else { Job::Pull };
        let caller = Caller { call: CallId(1), answer: Answer::Pull };
        world.machine.start(job, Some(caller), world.now);
        world.carry_out();
        while world.said.len() < 50 {
            world.step();
        }
        world.vehicle.gone = true;
        let begun = world.now;
        while world.machine.is_active() {
            world.step();
        }
        assert!(world.now - begun < Duration::from_secs(10));
        let (_, success, count) = world.answers[0];
        assert!(!success && (40..60).contains(&count), "{count}");
        assert_eq!(world.machine.list.waypoints.len(), 0, "the old list stays");
    }
}

#[test]
fn vehicle_without_whole_numbers_gets_single_precision() {
    let mut world = World::new(Vehicle { int: false, ..vehicle(3) }, FINE, 0);
    assert_eq!(world.run(Job::Pull), (true, 3));
    assert_eq!(world.said.last(), Some(&Say::Ack(ACCEPTED)));
    world.said.clear();
    assert_eq!(world.run(Job::Push { start: 0, items: items(2) }), (true, 2));
    assert!(!world.said.iter().any(|say| matches!(say, Say::Item { int: true, .. })));
}

#[test]
fn vehicle_that_says_it_has_no_whole_numbers_is_believed() {
    let mut world = World::new(Vehicle { int: false, ..vehicle(1) }, FINE, 0);
    world.machine.set_int_support(false);
    assert_eq!(world.run(Job::Pull), (true, 1));
    assert_eq!(world.said[1], Say::Request { seq: 0, int: false });
}

#[test]
fn lost_last_acknowledgement_is_made_up_for_by_reading() {
    let mut world = World::new(Vehicle { repeats_ack: false, ..vehicle(0) }, FINE, 0);
    world.machine.set_int_support(true);
    let caller = Caller { call: CallId(1), answer: Answer::Push };
    world.machine.start(Job::Push { start: 0, items: items(3) }, Some(caller), world.now);
    world.carry_out();
    while world.vehicle.plan.is_empty() {
        world.step();
    }
    world.mail.clear();
    while world.machine.is_active() {
        world.step();
    }
    assert_eq!(world.answers, [(Answer::Push, true, 3)]);
    assert!(world.said.contains(&Say::RequestList));
}

#[test]
fn part_of_a_list_is_replaced() {
    let mut world = World::new(vehicle(5), FINE, 0);
    assert_eq!(world.run(Job::Pull), (true, 5));
    let mut part = items(2);
    part[0].command = 22;
    world.said.clear();
    // The vehicle model takes the end for the last item, as ArduPilot does.
    world.vehicle.plan.truncate(4);
    assert_eq!(world.run(Job::Push { start: 1, items: part.clone() }), (true, 2));
    assert_eq!(world.said[0], Say::WritePartialList { start: 1, end: 3 });
    assert_eq!((world.vehicle.plan[1].command, world.vehicle.plan[3].x_lat), (22, 3.0));
    // Its end: everything is sent.
    world.said.clear();
    assert_eq!(world.run(Job::Push { start: 3, items: part.clone() }), (true, 2));
    assert_eq!(world.said[0], Say::Count(5));
    assert_eq!(world.run(Job::Push { start: 4, items: part }), (false, 0));
    assert_eq!(world.run(Job::Push { start: 65_535, items: items(2) }), (false, 0));
}

#[test]
fn refusal_ends_a_transfer_at_once() {
    for job in [Job::Pull, Job::Push { start: 0, items: items(2) }, Job::Clear] {
        let mut world = World::new(Vehicle { gone: true, ..vehicle(2) }, FINE, 0);
        let caller = Caller { call: CallId(1), answer: Answer::Push };
        world.machine.start(job, Some(caller), world.now);
        world.machine.hear(Heard::Ack(14), world.now);
        world.carry_out();
        assert_eq!(world.answers, [(Answer::Push, false, 0)]);
        assert!(!world.machine.is_active());
    }
}

#[test]
fn another_current_item_is_told_once() {
    let mut world = World::new(vehicle(3), FINE, 0);
    world.run(Job::Pull);
    for seq in [0, 1, 1, 2] {
        world.machine.hear(Heard::Current(seq), world.now);
    }
    world.carry_out();
    assert_eq!(world.published, 3);
    assert_eq!(world.machine.list.waypoints.iter().filter(|item| item.is_current).count(), 1);
    // Another item than the wanted one becoming current is no success.
    let caller = Caller { call: CallId(1), answer: Answer::SetCurrent };
    world.machine.start(Job::SetCurrent(0), Some(caller), world.now);
    world.machine.hear(Heard::Current(1), world.now);
    assert!(world.machine.is_active());
    world.machine.hear(Heard::Current(0), world.now);
    assert!(!world.machine.is_active());
}

#[test]
fn change_by_somebody_else_is_read_after_five_seconds() {
    let mut world = World::new(vehicle(3), FINE, 0);
    assert_eq!(world.machine.next_pull(), Some(world.now + FIRST_PULL));
    world.run(Job::Pull);
    assert_eq!(world.machine.next_pull(), None);
    for (id, due) in [(0, false), (7, false), (7, false), (8, true)] {
        world.machine.note_plan_id(id, world.now);
        assert_eq!(world.machine.next_pull().is_some(), due, "{id}");
    }
    world.run(Job::Push { start: 0, items: items(1) });
    world.machine.note_plan_id(9, world.now);
    world.run(Job::Pull);
    assert_eq!(world.machine.next_pull(), None, "what we wrote ourselves is known");
    world.machine.changed(world.now);
    assert_eq!(world.machine.next_pull(), Some(world.now + AGAIN));
    let mut deaf = Machine::new(&"r".into(), "mission", Choices { int: true, pull_after_gcs: false });
    deaf.changed(world.now);
    assert_eq!(deaf.next_pull(), None);
}

#[test]
fn hostile_count_costs_nothing_until_items_come() {
    let mut world = World::new(Vehicle { gone: true, ..vehicle(0) }, FINE, 0);
    world.machine.start(Job::Pull, None, world.now);
    world.machine.hear(Heard::Count(65_535), world.now);
    match &world.machine.active.as_ref().unwrap().task {
        Task::Pull { got, .. } => assert_eq!(got.capacity(), 0),
        _ => panic!("no pull"),
    }
    for seq in 0..65_535 {
        world.machine.hear(Heard::Item { seq, item: Waypoint::default(), int: true }, world.now);
    }
    assert_eq!(world.machine.list.waypoints.len(), 65_535);
}

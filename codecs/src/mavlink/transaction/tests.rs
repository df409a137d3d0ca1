use super::*;
use crate::mavlink::value::zero;

const OWN: (u8, u8) = (1, 191);
const PATIENCE: Patience = Patience { timeout: Duration::from_secs(5), retries: 2, wait_in_progress: true };
const TIMED_OUT: Outcome = Outcome { success: false, result: 4 };

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn command(number: u16, param1: f32) -> Command {
    Command::Long(CommandLong { command: number, param1, confirmation: 1, ..zero() })
}

fn ack(command: u16, result: u8) -> CommandAck {
    CommandAck { command, result, ..zero() }
}

type Sent = Vec<(u64, u8)>;
type Ended = Vec<(u64, char, Outcome)>;

/// Confirmations sent up to `end`, each with its time, and how it ended.
fn run(transactions: &mut Transactions<char>, start: Instant, from: u64, end: u64) -> (Sent, Ended) {
    let (mut sent, mut done) = (Vec::new(), Vec::new());
    for at in (from..=end).step_by(100) {
        while let Some(step) = transactions.step(start + ms(at)) {
            match step {
                Step::Send(Command::Long(m)) => sent.push((at, m.confirmation)),
                Step::Send(Command::Int(_)) => sent.push((at, 0)),
                Step::Done(token, outcome) => done.push((at, token, outcome)),
            }
        }
    }
    (sent, done)
}

#[test]
fn silent_vehicle_is_asked_three_times_with_growing_confirmation() {
    let start = Instant::now();
    let mut transactions = Transactions::new(PATIENCE, &Arc::default());
    transactions.begin(command(400, 1.0), 'a', true, start).unwrap();
    assert_eq!(transactions.next_due(), Some(start));
    let (sent, done) = run(&mut transactions, start, 0, 10_000);
    assert_eq!(sent, [(0, 1), (1500, 2), (3000, 3)]);
    assert_eq!(done, [(5000, 'a', TIMED_OUT)]);
    assert_eq!(transactions.next_due(), None);
}

#[test]
fn command_that_must_not_be_done_twice_is_sent_once() {
    let start = Instant::now();
    let mut transactions = Transactions::new(PATIENCE, &Arc::default());
    transactions.begin(command(183, 1.0), 'a', false, start).unwrap();
    assert_eq!(run(&mut transactions, start, 0, 4900), (vec![(0, 1)], vec![]));
}

#[test]
fn different_commands_run_beside_each_other_and_the_same_one_must_wait() {
    let start = Instant::now();
    let mut transactions = Transactions::new(PATIENCE, &Arc::default());
    transactions.begin(command(400, 1.0), 'a', true, start).unwrap();
    transactions.begin(command(22, 1.0), 'b', true, start).unwrap();
    assert_eq!(transactions.begin(command(400, 0.0), 'c', true, start), Err('c'));
    run(&mut transactions, start, 0, 0);
    let accepted = Outcome { success: true, result: 0 };
    assert_eq!(transactions.acknowledged(&ack(22, 0), OWN, start), Some(('b', accepted)));
    assert_eq!(transactions.acknowledged(&ack(22, 0), OWN, start), None);
    assert_eq!(transactions.acknowledged(&ack(400, 0), OWN, start), Some(('a', accepted)));
}

#[test]
fn answers_to_others_are_not_ours() {
    let start = Instant::now();
    let mut transactions = Transactions::new(PATIENCE, &Arc::default());
    transactions.begin(command(400, 1.0), 'a', true, start).unwrap();
    assert_eq!(transactions.acknowledged(&ack(400, 0), OWN, start), None, "nothing was sent yet");
    run(&mut transactions, start, 0, 0);
    for (target_system, target_component, ours) in [(255, 190, false), (1, 190, false), (1, 191, true)] {
        let ack = CommandAck { target_system, target_component, ..ack(400, 0) };
        assert_eq!(transactions.acknowledged(&ack, OWN, start).is_some(), ours);
    }
}

#[test]
fn progress_extends_the_wait_and_ends_repetition() {
    let start = Instant::now();
    let mut transactions = Transactions::new(PATIENCE, &Arc::default());
    transactions.begin(command(22, 1.0), 'a', true, start).unwrap();
    run(&mut transactions, start, 0, 0);
    assert_eq!(transactions.acknowledged(&ack(22, IN_PROGRESS), OWN, start + ms(1000)), None);
    assert_eq!(run(&mut transactions, start, 1100, 5900), (vec![], vec![]));
    assert_eq!(run(&mut transactions, start, 6000, 6000), (vec![], vec![(6000, 'a', TIMED_OUT)]));

    let final_progress = Patience { wait_in_progress: false, ..PATIENCE };
    let mut transactions = Transactions::new(final_progress, &Arc::default());
    transactions.begin(command(22, 1.0), 'b', true, start).unwrap();
    run(&mut transactions, start, 0, 0);
    let outcome = Outcome { success: false, result: 5 };
    assert_eq!(transactions.acknowledged(&ack(22, IN_PROGRESS), OWN, start), Some(('b', outcome)));
}

#[test]
fn late_answer_does_not_complete_a_different_call() {
    let start = Instant::now();
    let mut transactions = Transactions::new(PATIENCE, &Arc::default());
    transactions.begin(command(400, 1.0), 'a', true, start).unwrap();
    run(&mut transactions, start, 0, 5000);
    // Disarming, right after arming was given up, goes out at once; but the answer to arming, still on its way,
    // must not stand for it. The one to its repetition does.
    transactions.begin(command(400, 0.0), 'b', true, start + ms(5100)).unwrap();
    assert_eq!(run(&mut transactions, start, 5100, 6400), (vec![(5100, 1)], vec![]));
    assert_eq!(transactions.acknowledged(&ack(400, 0), OWN, start + ms(6400)), None);
    assert_eq!(run(&mut transactions, start, 6500, 6500).0, [(6500, 2)]);
    assert!(transactions.acknowledged(&ack(400, 0), OWN, start + ms(6600)).is_some());
    // The same again may be answered by either.
    transactions.begin(command(21, 1.0), 'c', true, start + ms(7000)).unwrap();
    run(&mut transactions, start, 7000, 12_000);
    transactions.begin(command(21, 1.0), 'd', true, start + ms(12_100)).unwrap();
    assert_eq!(run(&mut transactions, start, 12_100, 12_100).0, [(12_100, 1)]);
}

#[test]
fn what_must_not_be_done_twice_waits_until_late_answers_are_over() {
    let start = Instant::now();
    let mut transactions = Transactions::new(PATIENCE, &Arc::default());
    transactions.begin(command(183, 1.0), 'a', false, start).unwrap();
    run(&mut transactions, start, 0, 5000);
    transactions.begin(command(183, 2.0), 'b', false, start + ms(5100)).unwrap();
    assert_eq!(run(&mut transactions, start, 5100, 6400), (vec![], vec![]));
    assert_eq!(transactions.acknowledged(&ack(183, 0), OWN, start + ms(6400)), None);
    assert_eq!(run(&mut transactions, start, 6500, 6500).0, [(6500, 1)]);
    assert!(transactions.acknowledged(&ack(183, 0), OWN, start + ms(6600)).is_some());
}

#[test]
fn second_answer_to_a_repeated_command_does_not_complete_the_next() {
    let start = Instant::now();
    let mut transactions = Transactions::new(PATIENCE, &Arc::default());
    transactions.begin(command(400, 1.0), 'a', true, start).unwrap();
    assert_eq!(run(&mut transactions, start, 0, 1500).0.len(), 2);
    assert!(transactions.acknowledged(&ack(400, 0), OWN, start + ms(1600)).is_some());
    transactions.begin(command(400, 0.0), 'b', true, start + ms(1700)).unwrap();
    assert_eq!(run(&mut transactions, start, 1700, 1700).0, [(1700, 1)]);
    assert_eq!(transactions.acknowledged(&ack(400, 0), OWN, start + ms(1800)), None, "that of arming");
    assert_eq!(run(&mut transactions, start, 1800, 3200).0, [(3100, 2)]);
    let denied = Outcome { success: false, result: 2 };
    assert_eq!(transactions.acknowledged(&ack(400, 2), OWN, start + ms(3300)), Some(('b', denied)));
}

/// The vehicle's other codec has a command of that number under way.
fn beside_another(start: Instant) -> (Transactions<char>, Transactions<char>) {
    let underway = Arc::default();
    let (mut other, ours) = (Transactions::new(PATIENCE, &underway), Transactions::new(PATIENCE, &underway));
    other.begin(command(511, 30.0), 'o', true, start).unwrap();
    assert_eq!(run(&mut other, start, 0, 0).0, [(0, 1)]);
    (other, ours)
}

#[test]
fn answer_to_another_codec_does_not_complete_ours() {
    let start = Instant::now();
    let (mut other, mut ours) = beside_another(start);
    ours.begin(command(511, 31.0), 'a', true, start + ms(100)).unwrap();
    // It goes out at once all the same.
    assert_eq!(run(&mut ours, start, 100, 100).0, [(100, 1)]);
    let refused = |transactions: &mut Transactions<char>, at| {
        transactions.acknowledged(&ack(511, 2), OWN, start + ms(at)).map(|(token, _)| token)
    };
    assert_eq!((refused(&mut other, 200), refused(&mut ours, 200)), (Some('o'), None));
    // The next one is ours, and nobody else's.
    assert_eq!((refused(&mut other, 300), refused(&mut ours, 300)), (None, Some('a')));
}

#[test]
fn what_must_not_be_done_twice_waits_for_the_answer_to_another_codec() {
    let start = Instant::now();
    let (_, mut ours) = beside_another(start);
    ours.begin(command(511, 31.0), 'a', false, start + ms(100)).unwrap();
    assert_eq!(run(&mut ours, start, 100, 900), (vec![], vec![]));
    assert_eq!(ours.acknowledged(&ack(511, IN_PROGRESS), OWN, start + ms(900)), None);
    assert_eq!(ours.acknowledged(&ack(511, 0), OWN, start + ms(1000)), None);
    assert_eq!(run(&mut ours, start, 1000, 1000).0, [(1000, 1)]);
    assert!(ours.acknowledged(&ack(511, 0), OWN, start + ms(1100)).is_some());
}

#[test]
fn silence_about_another_codec_ends_the_wait_too() {
    let start = Instant::now();
    let (_, mut ours) = beside_another(start);
    ours.begin(command(511, 31.0), 'a', false, start + ms(100)).unwrap();
    assert_eq!(run(&mut ours, start, 100, 5000).0, [(5000, 1)]);
    assert!(ours.acknowledged(&ack(511, 0), OWN, start + ms(5100)).is_some());
}

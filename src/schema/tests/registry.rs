//! Where types come from and what is said when they do not.

use std::{fs, path::PathBuf, sync::Arc};

use rostrans_schema::{Dialect, MessageType, Shape, TypeKind, TypeName, TypeRegistry, rihs01_text};

/// A folder that is removed with everything in it.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("rostrans-schema-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).expect("a writable temporary folder");
        Self(path)
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.0.join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a writable folder");
        fs::write(path, text).expect("a writable file");
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).ok();
    }
}

fn message(name: &str) -> TypeName {
    TypeName::message(name).expect("a valid name")
}

fn error(types: &TypeRegistry, name: &str) -> String {
    types.message(&message(name)).map(|m| m.name().to_string()).expect_err("an error").to_string()
}

#[test]
fn all_bundled_types_load() {
    let types = TypeRegistry::bundled();
    for name in types.names(Dialect::Ros2, TypeKind::Message) {
        assert!(types.message(&message(&name)).is_ok(), "{name}");
    }
    for name in types.names(Dialect::Ros2, TypeKind::Service) {
        assert!(types.service(&TypeName::service(&name).unwrap()).is_ok(), "{name}");
    }
    for name in types.names(Dialect::Ros2, TypeKind::Action) {
        assert!(types.message(&message(&format!("{name}_FeedbackMessage"))).is_ok(), "{name}");
    }
    for name in types.names(Dialect::Ros1, TypeKind::Service) {
        assert!(types.ros1_service(&TypeName::service(&name).unwrap()).is_ok(), "{name}");
    }
    assert!(types.names(Dialect::Ros1, TypeKind::Message).len() > 200);
}

#[test]
fn unknown_type_is_answered_with_the_nearest_name() {
    let types = TypeRegistry::bundled();
    assert_eq!(
        error(&types, "sensor_msgs/Imgae"),
        "type 'sensor_msgs/msg/Imgae' is unknown; did you mean 'sensor_msgs/msg/Image'?"
    );
    assert_eq!(
        error(&types, "px4_msgs/VehicleOdometry"),
        "type 'px4_msgs/msg/VehicleOdometry' is unknown; source the workspace that has it or add its definition \
         to config/interfaces"
    );
}

#[test]
fn service_parts_are_messages() {
    let types = TypeRegistry::bundled();
    let request = types.message(&TypeName::service("std_srvs/srv/SetBool_Request").unwrap()).unwrap();
    assert_eq!(request.name().dds(), "std_srvs::srv::dds_::SetBool_Request_");
    assert_eq!(request.shape().fields().len(), 1);
    assert!(types.message(&TypeName::service("std_srvs/srv/SetBool").unwrap()).is_err());
}

#[test]
fn actions_have_their_messages_and_services() {
    let types = TypeRegistry::bundled();
    let fields = |message: &MessageType| {
        message.shape().fields().iter().map(|field| field.name.to_string()).collect::<Vec<_>>().join(" ")
    };
    let goal =
        types.service(&TypeName::service("example_interfaces/action/Fibonacci_SendGoal").unwrap()).unwrap();
    assert_eq!(goal.request().name().dds(), "example_interfaces::action::dds_::Fibonacci_SendGoal_Request_");
    assert_eq!([fields(goal.request()), fields(goal.response())], ["goal_id goal", "accepted stamp"]);
    let result =
        types.service(&TypeName::service("tf2_msgs/action/LookupTransform_GetResult").unwrap()).unwrap();
    assert_eq!([fields(result.request()), fields(result.response())], ["goal_id", "status result"]);
    let feedback = types.message(&message("example_interfaces/action/Fibonacci_FeedbackMessage")).unwrap();
    assert_eq!(fields(&feedback), "goal_id feedback");
    let request = types.message(&message("example_interfaces/action/Fibonacci_SendGoal_Request")).unwrap();
    assert!(Arc::ptr_eq(&request, goal.request()));
}

#[test]
fn definition_of_feedback_contains_that_of_its_part() {
    let prefix = Folder::new("feedback");
    prefix.write("share/my_msgs/action/Dock.action", "int8 berth\n---\n---\n# how far\nfloat32 left\n");
    let types = TypeRegistry::builder().with_bundled().with_ament_path(prefix.0.as_os_str()).build();
    let text = types.definition(Dialect::Ros2, &message("my_msgs/action/Dock_FeedbackMessage")).unwrap();
    let separator = "=".repeat(80);
    assert!(text.starts_with("unique_identifier_msgs/UUID goal_id\nmy_msgs/Dock_Feedback feedback\n"));
    assert!(text.contains(&format!("{separator}\nMSG: my_msgs/Dock_Feedback\n# how far\nfloat32 left")));
    assert!(text.contains(&format!("{separator}\nMSG: unique_identifier_msgs/UUID\nuint8[16] uuid")));
}

#[test]
fn names_that_are_almost_an_actions_are_corrected() {
    let types = TypeRegistry::bundled();
    let service = |name: &str| types.service(&TypeName::service(name).unwrap()).unwrap_err().to_string();
    let hint = |name: &str| format!("did you mean 'example_interfaces/action/{name}'?");
    assert!(
        error(&types, "example_interfaces/action/Fibonacci").ends_with(&hint("Fibonacci_FeedbackMessage"))
    );
    assert!(service("example_interfaces/action/Fibonacci").ends_with(&hint("Fibonacci_SendGoal")));
    assert!(
        error(&types, "example_interfaces/action/Fibonaci_FeedbackMessage").ends_with(&hint("Fibonacci"))
    );
    assert!(service("example_interfaces/action/Fibonaci_SendGoal").ends_with(&hint("Fibonacci")));
    assert!(
        error(&types, "example_interfaces/action/Fibonaci_SendGoal_Request").ends_with(&hint("Fibonacci"))
    );
    assert!(error(&types, "example_interfaces/action/Fibonacci_Request").contains("is unknown"));
    // Each of an action's types is of one sort only.
    assert!(types.message(&message("example_interfaces/action/Fibonacci_SendGoal")).is_err());
    assert!(service("example_interfaces/action/Fibonacci_Goal").contains("is unknown"));
}

#[test]
fn humble_definitions_win_when_asked_for() {
    let name = message("sensor_msgs/Range");
    let fields = |types: TypeRegistry| types.message(&name).unwrap().shape().fields().len();
    assert_eq!(fields(TypeRegistry::builder().with_humble().with_bundled().build()), 6);
    assert_eq!(fields(TypeRegistry::bundled()), 7);
}

#[test]
fn sourced_prefix_adds_its_types() {
    let prefix = Folder::new("ament");
    prefix.write("share/my_msgs/msg/Pair.msg", "std_msgs/String name\nPart part\n");
    prefix.write("share/my_msgs/msg/Part.msg", "int32 value 3\n");
    prefix.write("share/my_msgs/srv/Do.srv", "Part part\n---\nbool done\n");
    prefix.write("share/std_msgs/msg/String.msg", "int8 other\n");
    let types = TypeRegistry::builder().with_bundled().with_ament_path(prefix.0.as_os_str()).build();
    let pair = types.message(&message("my_msgs/Pair")).unwrap();
    assert_eq!(pair.shape().depth(), 2);
    assert!(types.service(&TypeName::service("my_msgs/Do").unwrap()).is_ok());
    assert!(types.names(Dialect::Ros2, TypeKind::Message).contains(&"my_msgs/msg/Part".to_owned()));
    // The program's own definitions come first here.
    let string = types.message(&message("std_msgs/String")).unwrap();
    assert!(rihs01_text(string.rihs01()).starts_with("RIHS01_df668c74"));
    assert!(error(&types, "my_msgs/Prat").ends_with("did you mean 'my_msgs/msg/Part'?"));
}

#[test]
fn ros1_workspace_is_searched_for_packages() {
    let root = Folder::new("ros1");
    root.write("stack/my_msgs/package.xml", "<package/>");
    root.write("stack/my_msgs/msg/Stamped.msg", "Header header\ntime when\n");
    let types = TypeRegistry::builder().with_bundled().with_package_path(root.0.as_os_str()).build();
    let stamped = types.ros1_message(&message("my_msgs/Stamped")).unwrap();
    let separator = "=".repeat(80);
    let header = types.definition(Dialect::Ros1, &message("std_msgs/Header")).unwrap();
    let want = format!("Header header\ntime when\n{separator}\nMSG: std_msgs/Header\n{header}");
    assert_eq!(&**stamped.definition(), want);
    assert!(types.message(&message("my_msgs/Stamped")).is_err());
}

#[test]
fn unusable_definitions_are_errors() {
    let prefix = Folder::new("loops");
    prefix.write("share/my_msgs/msg/A.msg", "B[] b\n");
    prefix.write("share/my_msgs/msg/B.msg", "A[] a\n");
    prefix.write("share/my_msgs/msg/C.msg", "int8 ok\nNone none\n");
    prefix.write("share/my_msgs/action/A.action", "A a\n---\n---\n");
    prefix.write("share/my_msgs/action/E.action", "int8 ok\n---\nint8 ok\n");
    prefix.write("share/my_msgs/msg/D.msg", "int8 ok\nint8\n");
    prefix.write("share/my_msgs/msg/Large.msg", "uint8[2147483647] x\n");
    prefix.write("share/my_msgs/msg/Larger.msg", "Large[2147483647] x\n");
    prefix.write("share/my_msgs/msg/Deep0.msg", "int8 x\n");
    for i in 1..40 {
        prefix.write(&format!("share/my_msgs/msg/Deep{i}.msg"), &format!("Deep{} x\n", i - 1));
    }
    let types = TypeRegistry::builder().with_ament_path(prefix.0.as_os_str()).build();
    assert_eq!(error(&types, "my_msgs/A"), "type 'my_msgs/msg/A' contains itself");
    assert!(
        error(&types, "my_msgs/C")
            .starts_with("type 'my_msgs/msg/None' is unknown (needed by 'my_msgs/msg/C')")
    );
    assert!(error(&types, "my_msgs/D").ends_with("D.msg:2: field 'int8' has no name; write 'type name'"));
    assert_eq!(error(&types, "my_msgs/action/A_Goal"), "type 'my_msgs/msg/A' contains itself");
    assert!(error(&types, "my_msgs/action/E_Goal").ends_with("E.action:3: 1 '---' separators, expected 2"));
    for name in ["my_msgs/Large", "my_msgs/Larger"] {
        assert!(error(&types, name).contains("Large' take more than 67108864 bytes"));
    }
    let deepest = Shape::MAX_DEPTH - 1;
    assert!(types.message(&message(&format!("my_msgs/Deep{deepest}"))).is_ok());
    assert!(error(&types, "my_msgs/Deep39").contains("is nested more than 32 deep"));
}

#[test]
fn registry_is_shared_between_threads() {
    let types = TypeRegistry::bundled();
    let load = || *types.message(&message("nav_msgs/Odometry")).expect("a bundled type").rihs01();
    let hashes: Vec<[u8; 32]> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(load)).collect();
        threads.into_iter().map(|t| t.join().expect("no panic")).collect()
    });
    assert!(hashes.windows(2).all(|pair| pair[0] == pair[1]));
}

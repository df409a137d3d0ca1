//! `rostrans interfaces`.

use crate::harness::{Folder, Output};

#[test]
fn packages_are_listed_written_and_written_again() {
    let folder = Folder::new();
    let Output { code, out, .. } = folder.run("interfaces");
    assert_eq!(code, 0);
    assert!(
        out.lines().any(|line| line.split_whitespace().eq(["rflysim_msgs", "2", "13", "0", "0"])),
        "{out}"
    );
    for _ in 0..2 {
        let Output { code, out, err } = folder.run("interfaces --out src");
        assert_eq!((code, err.as_str()), (0, ""));
        assert!(
            out.contains("src/ros1/rflysim_msgs") && out.contains("colcon build --base-paths src/ros2"),
            "{out}"
        );
    }
    let Output { code, out, .. } = folder.run("interfaces --out src mavros_msgs geometry_msgs");
    assert_eq!(code, 0);
    assert_eq!(out.matches(" definitions)").count(), 4, "{out}");
}

#[test]
fn what_is_not_there_or_not_ours_is_refused() {
    let folder = Folder::new();
    for (words, why) in [
        ("interfaces std_msgs", "nowhere to write packages to; add '--out DIR'"),
        (
            "interfaces --out src rflysim_msg",
            "no package 'rflysim_msg' is built in; did you mean 'rflysim_msgs'?",
        ),
        ("interfaces --out", "'--out' needs a value; write '--out DIR'"),
    ] {
        let Output { code, err, .. } = folder.run(words);
        assert_eq!(code, 64, "{words}");
        assert!(err.contains(why), "{words}: {err}");
    }
    folder.run("interfaces --out src");
    folder.write("src/ros2/rflysim_msgs/package.xml", "<package/>");
    let Output { code, err, .. } = folder.run("interfaces --out src");
    assert_eq!(code, 69);
    assert!(err.contains("was not written by rostrans; choose another '--out', or move it away"), "{err}");
}

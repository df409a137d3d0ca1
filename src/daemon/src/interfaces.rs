//! `rostrans interfaces`: the definitions in the program, as packages that ROS can build.

mod package;

use std::{
    ffi::OsString,
    fs, io,
    path::{Path, PathBuf},
};

use rostrans_core::{diag::Diagnostic, suggest::nearest, text::excerpt};
use rostrans_schema::Dialect;

use crate::{
    exit::Exit,
    network::options::{Given, HELP, Opt, describe, problem},
    print, report,
    table::Table,
};

use self::package::Package;

const OUT: Opt = Opt {
    names: &["--out"],
    value: Some("DIR"),
    doc: "write packages there: DIR/ros2/PACKAGE for colcon, DIR/ros1/PACKAGE for catkin",
};
const OPTIONS: &[&Opt] = &[&OUT, &HELP];

/// What is written when no package is named: the one that no distribution has.
const DEFAULT: &str = "rflysim_msgs";

/// Runs `rostrans interfaces` with the words behind it.
pub(crate) fn main(words: impl Iterator<Item = OsString>) -> Exit {
    let given = match Given::parse(words, OPTIONS) {
        Ok(given) => given,
        Err(problems) => {
            report(&problems);
            return Exit::Usage;
        }
    };
    if given.has(&HELP) {
        return print(&help());
    }
    let Some(out) = given.last(&OUT) else {
        if given.words.is_empty() {
            return print(&list());
        }
        report(&[problem("nowhere to write packages to".to_owned(), "add '--out DIR'")]);
        return Exit::Usage;
    };
    let names = if given.words.is_empty() { vec![DEFAULT.to_owned()] } else { given.words.clone() };
    let (packages, problems) = find(&names);
    if !problems.is_empty() {
        report(&problems);
        return Exit::Usage;
    }
    match write_all(Path::new(out), &packages) {
        Ok(text) => print(&text),
        Err(problem) => {
            report(&[problem]);
            Exit::Unavailable
        }
    }
}

/// The packages of these names, in each dialect that has them.
fn find(names: &[String]) -> (Vec<Package>, Vec<Diagnostic>) {
    let all: Vec<Package> = [Dialect::Ros2, Dialect::Ros1].into_iter().flat_map(package::all).collect();
    let mut problems = Vec::new();
    for name in names {
        if !all.iter().any(|package| package.name == *name) {
            let help = match nearest(name, all.iter().map(|package| package.name)) {
                Some(near) => format!("did you mean '{near}'? 'rostrans interfaces' lists them"),
                None => "'rostrans interfaces' lists them".to_owned(),
            };
            problems.push(problem(format!("no package '{}' is built in", excerpt(name)), help));
        }
    }
    let wanted = all.into_iter().filter(|package| names.iter().any(|name| name == package.name)).collect();
    (wanted, problems)
}

/// Writes packages, and says how to build them.
///
/// **Errors**: a folder that is somebody else's, or that cannot be written.
fn write_all(out: &Path, packages: &[Package]) -> Result<String, Diagnostic> {
    for package in packages {
        let folder = folder(out, package);
        if !may_write(&folder) {
            let message = format!("'{}' is there already and was not written by rostrans", folder.display());
            return Err(problem(message, "choose another '--out', or move it away"));
        }
    }
    let mut text = String::new();
    let fail = |path: &Path, error: &io::Error| {
        problem(
            format!("cannot write '{}': {error}", path.display()),
            "see that the folder exists and is yours",
        )
    };
    for package in packages {
        let folder = folder(out, package);
        for (name, content) in package.files() {
            let path = folder.join(name);
            path.parent()
                .map_or(Ok(()), fs::create_dir_all)
                .and_then(|()| fs::write(&path, content))
                .map_err(|error| fail(&path, &error))?;
        }
        text.push_str(&format!("{}  ({} definitions)\n", folder.display(), package.definitions.len()));
    }
    // One workspace may hold both: neither build tool sees what is for the other.
    for (dialect, marker) in [(Dialect::Ros1, "COLCON_IGNORE"), (Dialect::Ros2, "CATKIN_IGNORE")] {
        if packages.iter().any(|package| package.dialect == dialect) {
            let path = out.join(package::folder(dialect)).join(marker);
            fs::write(&path, "").map_err(|error| fail(&path, &error))?;
        }
    }
    let out = out.display();
    text.push_str(&format!(
        "\nROS 2:  colcon build --base-paths {out}/ros2 && source install/setup.bash\n\
         ROS 1:  catkin_make --source {out}/ros1 && source devel/setup.bash\n"
    ));
    Ok(text)
}

fn folder(out: &Path, package: &Package) -> PathBuf {
    out.join(package::folder(package.dialect)).join(package.name)
}

/// Whether a package's folder is new, empty, or of an earlier run.
fn may_write(folder: &Path) -> bool {
    match fs::read_to_string(folder.join("package.xml")) {
        Ok(text) => text.contains(package::MARK),
        Err(_) => fs::read_dir(folder).map_or(true, |mut entries| entries.next().is_none()),
    }
}

fn help() -> String {
    format!(
        "rostrans interfaces lists the message packages that are built into rostrans, and writes them as packages that ROS can build: \
         your programs need them, rostrans does not.

usage: rostrans interfaces [options] [PACKAGE...]

  rostrans interfaces                              which there are
  rostrans interfaces --out src                    {DEFAULT}, for ROS 2 and ROS 1
  rostrans interfaces --out src mavros_msgs        another

options:
{}
The definitions are those that rostrans itself uses, so types, hashes and sums agree. Installed packages of a distribution do as well.
",
        describe(OPTIONS)
    )
}

/// All packages in a table.
fn list() -> String {
    let mut names: Vec<_> = [Dialect::Ros2, Dialect::Ros1].into_iter().flat_map(package::all).collect();
    names.sort_by(|a, b| a.name.cmp(b.name));
    let mut table = Table::new(["PACKAGE", "ROS", "MESSAGES", "SERVICES", "ACTIONS"]);
    for package in &names {
        let count = |folder: &str| {
            let of_kind = package.definitions.iter().filter(|definition| definition.folder == folder);
            of_kind.count().to_string()
        };
        let ros = if package.dialect == Dialect::Ros2 { "2" } else { "1" };
        table.row([package.name.to_owned(), ros.to_owned(), count("msg"), count("srv"), count("action")]);
    }
    format!("{table}\nrostrans interfaces --out DIR [PACKAGE...] writes them for colcon and catkin\n")
}

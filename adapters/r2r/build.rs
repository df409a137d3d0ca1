//! Reads the headers of the sourced ROS: what its structures look like depends on the distribution.

use std::process::ExitCode;

fn main() -> ExitCode {
    for variable in ["AMENT_PREFIX_PATH", "ROS_DISTRO"] {
        println!("cargo::rerun-if-env-changed={variable}");
    }
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/rcl.h");
    println!("cargo::rustc-check-cfg=cfg(has_type_hash)");
    #[cfg(feature = "engine")]
    if let Err(text) = bindings::generate() {
        eprintln!("\nerror: {text}\n");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

#[cfg(feature = "engine")]
mod bindings {
    use std::{
        env, fs,
        path::{Path, PathBuf},
    };

    const SOURCE: &str =
        "source ROS 2 first ('source /opt/ros/jazzy/setup.bash') or build without '--features r2r'";

    /// Structures, and a table of functions that is filled from the libraries at run time: nothing is linked, so that the
    /// program starts, and works over DDS, where no ROS is sourced.
    pub(super) fn generate() -> Result<(), String> {
        let variable = |name| env::var(name).ok().filter(|value| !value.is_empty());
        let not_sourced =
            |name| format!("the feature r2r needs a sourced ROS 2, but {name} is not set; {SOURCE}");
        let distro = variable("ROS_DISTRO").ok_or_else(|| not_sourced("ROS_DISTRO"))?;
        let prefixes = variable("AMENT_PREFIX_PATH").ok_or_else(|| not_sourced("AMENT_PREFIX_PATH"))?;
        let includes = include_folders(&prefixes);
        if !includes.iter().any(|folder| folder.join("rcl/rcl.h").exists()) {
            return Err(format!(
                "rcl/rcl.h is not in AMENT_PREFIX_PATH={prefixes}; install ros-{distro}-rcl and {SOURCE}"
            ));
        }
        let bindings = bindgen::Builder::default()
            .header("src/rcl.h")
            .clang_args(includes.iter().map(|folder| format!("-I{}", folder.display())))
            .dynamic_library_name("Rcl")
            .dynamic_link_require_all(true)
            .allowlist_type("rosidl_(message|service)_type_support_t|rosidl_type_hash_t")
            .allowlist_var("RCL_RET_.*|RMW_GID_STORAGE_SIZE")
            .allowlist_function(FUNCTIONS.join("|"))
            .generate_comments(false)
            .layout_tests(false)
            .merge_extern_blocks(true)
            .wrap_unsafe_ops(true)
            .generate()
            .map_err(|error| format!("cannot read the headers of ROS 2 {distro}: {error}"))?;
        let text = bindings.to_string();
        // Humble has none.
        if text.contains("get_type_hash_func") {
            println!("cargo::rustc-cfg=has_type_hash");
        }
        println!("cargo::rustc-env=ROSTRANS_BUILT_FOR={distro}");
        let file = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default()).join("rcl.rs");
        fs::write(&file, text).map_err(|error| format!("cannot write {}: {error}", file.display()))
    }

    /// `include/PACKAGE` where the headers are in another folder of that name, as in ROS since Humble; else `include`.
    fn include_folders(prefixes: &str) -> Vec<PathBuf> {
        let mut folders = Vec::new();
        for prefix in env::split_paths(prefixes) {
            let include = prefix.join("include");
            for package in fs::read_dir(&include).into_iter().flatten().flatten() {
                let path = package.path();
                if path.join(path.file_name().unwrap_or_default()).is_dir() {
                    folders.push(path);
                }
            }
            if Path::new(&include).is_dir() {
                folders.push(include);
            }
        }
        folders
    }

    const FUNCTIONS: &[&str] = &[
        "rcl_client_fini",
        "rcl_client_get_default_options",
        "rcl_client_init",
        "rcl_context_fini",
        "rcl_get_publishers_info_by_topic",
        "rcl_get_zero_initialized_(client|context|guard_condition|init_options|node|publisher|service|subscription|wait_set)",
        "rcl_guard_condition_fini",
        "rcl_guard_condition_get_default_options",
        "rcl_guard_condition_init",
        "rcl_init",
        "rcl_init_options_fini",
        "rcl_init_options_init",
        "rcl_init_options_set_domain_id",
        "rcl_node_fini",
        "rcl_node_get_default_options",
        "rcl_node_init",
        "rcl_publish_serialized_message",
        "rcl_publisher_fini",
        "rcl_publisher_get_default_options",
        "rcl_publisher_get_rmw_handle",
        "rcl_publisher_get_subscription_count",
        "rcl_publisher_init",
        "rcl_send_(request|response)",
        "rcl_service_fini",
        "rcl_service_get_default_options",
        "rcl_service_init",
        "rcl_service_server_is_available",
        "rcl_shutdown",
        "rcl_subscription_fini",
        "rcl_subscription_get_default_options",
        "rcl_subscription_init",
        "rcl_take_(request|response|serialized_message)",
        "rcl_trigger_guard_condition",
        "rcl_wait",
        "rcl_wait_set_add_(client|guard_condition|service|subscription)",
        "rcl_wait_set_(clear|fini|init)",
        "rcutils_get_default_allocator",
        "rcutils_(get_error_string|reset_error)",
        "rcutils_uint8_array_(fini|init)",
        "rmw_(deserialize|serialize)",
        "rmw_get_gid_for_publisher",
        "rmw_get_implementation_identifier",
        "rmw_get_zero_initialized_(message_info|topic_endpoint_info_array)",
        "rmw_topic_endpoint_info_array_fini",
    ];
}

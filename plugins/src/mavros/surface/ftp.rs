//! Files and logs on the vehicle.

use rostrans_core::param::ParamDef;

use super::Surface;

pub(super) const SURFACES: &[Surface] = &[
    Surface {
        services: &[
            ("list", "ftp/list"),
            ("open", "ftp/open"),
            ("close", "ftp/close"),
            ("read", "ftp/read"),
            ("write", "ftp/write"),
            ("mkdir", "ftp/mkdir"),
            ("rmdir", "ftp/rmdir"),
            ("remove", "ftp/remove"),
            ("rename", "ftp/rename"),
            ("truncate", "ftp/truncate"),
            ("reset", "ftp/reset"),
            ("checksum", "ftp/checksum"),
        ],
        ..Surface::of("mavlink.ftp")
    },
    Surface {
        topics: &[("log_entry", "log_transfer/raw/log_entry"), ("log_data", "log_transfer/raw/log_data")],
        services: &[
            ("log_request_list", "log_transfer/raw/log_request_list"),
            ("log_request_data", "log_transfer/raw/log_request_data"),
            ("log_request_end", "log_transfer/raw/log_request_end"),
            ("log_request_erase", "log_transfer/raw/log_request_erase"),
        ],
        ..Surface::of("mavlink.log_transfer")
    },
];

pub(super) const PARAMS: &[ParamDef] = &[];

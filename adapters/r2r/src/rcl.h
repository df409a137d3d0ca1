#include <rcl/graph.h>
#include <rcl/rcl.h>
#include <rmw/get_topic_endpoint_info.h>
#include <rmw/rmw.h>
#include <rmw/topic_endpoint_info_array.h>
#include <rosidl_runtime_c/message_type_support_struct.h>
#include <rosidl_runtime_c/service_type_support_struct.h>

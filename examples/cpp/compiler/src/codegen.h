// From a schedule to C++ text: one function per group, and one called "run" that calls them in order.
#pragma once

#include <string>

#include "schedule.h"

namespace small_compiler {

// run() takes an array with one pointer per node of the graph; those that no group touches may be null.
using RunFunction = void (*)(float* const* buffers);

std::string generate(const Graph& graph, const Schedule& schedule);

}  // namespace small_compiler

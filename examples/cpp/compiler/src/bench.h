// Times all backends and a plain copy in one run, and prints nothing but ratios.
#pragma once

#include <vector>

#include "graph.h"

namespace small_compiler {

void bench(const Graph& graph, const std::vector<const float*>& inputs);

}  // namespace small_compiler

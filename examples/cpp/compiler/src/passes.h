// Passes that rewrite the graph. Fusion (schedule.h) comes after them: it does not change the graph, it only decides
// which nodes share a loop.
#pragma once

#include <vector>

#include "graph.h"

namespace small_compiler {

Graph fold_constants(Graph graph);
Graph merge_common_subexpressions(Graph graph);
Graph remove_dead_code(Graph graph);

struct Pass {
    const char* name;
    Graph (*run)(Graph);
};

const std::vector<Pass>& passes();  // in the order in which they run
Graph optimise(Graph graph);        // all of them

}  // namespace small_compiler

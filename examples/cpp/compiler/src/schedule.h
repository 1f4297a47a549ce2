// Which nodes share a loop, in which order the loops run, and what each loop reads from and writes to memory.
// Fusion is the decision to let many nodes share one loop: values used only inside it never reach memory.
#pragma once

#include <string>
#include <vector>

#include "graph.h"

namespace small_compiler {

struct Group {
    std::size_t rows, columns;    // the loop
    std::vector<NodeId> members;  // computed in it, in order
    std::vector<NodeId> reads;    // loaded from memory
    std::vector<NodeId> writes;   // stored, because another group or the caller needs them
};
using Schedule = std::vector<Group>;

Schedule one_loop_per_op(const Graph& graph);  // what eager mode does
Schedule fuse(const Graph& graph);

// What a node reads: broadcasts are looked through (a view costs nothing, in eager mode too) and constants are left
// out (they are printed into the code).
std::vector<NodeId> operands(const Graph& graph, NodeId id);
NodeId look_through_broadcasts(const Graph& graph, NodeId id);

std::size_t bytes_moved(const Graph& graph, const Schedule& schedule);  // counted, not measured
std::size_t least_bytes(const Graph& graph);  // each input that is used read once, each output written once
std::string print(const Graph& graph, const Schedule& schedule);

}  // namespace small_compiler

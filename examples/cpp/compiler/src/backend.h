// A backend takes a graph and hands back something to call: the same contract that a backend of torch.compile has.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "graph.h"

namespace small_compiler {

// One pointer per input of the graph goes in, one per output comes out. Results stay valid until the next call.
// Buffers are allocated when the program is made, not when it is called: no timing then includes the first touch of
// fresh memory.
using Program = std::function<std::vector<const float*>(const std::vector<const float*>& inputs)>;

struct Backend {
    std::string name;
    std::function<Program(const Graph&)> compile;
};

std::vector<Backend>& backend_table();  // the first one is the reference
const Backend& find_backend(const std::string& name);

Program interpret(const Graph& graph);  // interpreter.cpp: one op at a time, each with its own buffer

struct Comparison {
    std::string name;
    double difference;  // the largest absolute one; infinite where only one of two values is NaN
    bool agrees;
};

// Runs every backend on the optimised graph and compares it with the reference on the graph as written. A wrong pass
// shows up as well as a wrong backend.
std::vector<Comparison> compare_backends(const Graph& graph, const std::vector<const float*>& inputs);

}  // namespace small_compiler

// A backend takes a graph and hands back something to call: the same contract that a backend of torch.compile has.
#pragma once

#include <limits>

#include "codegen.h"
#include "interpreter.h"
#include "passes.h"
#include "shared_object.h"

namespace small_compiler {

inline Program compile_schedule(const Graph& graph, const Schedule& schedule) {
    struct State {
        SharedObject library;
        std::vector<std::vector<float>> storage;
        std::vector<float*> pointers;  // one per node, null where the value never reaches memory
        State(const std::string& source, std::size_t nodes) : library(source), storage(nodes), pointers(nodes) {}
    };
    auto state = std::make_shared<State>(generate(graph, schedule), graph.nodes.size());
    for (const Group& group : schedule) {
        for (NodeId id : group.writes) {
            state->storage[id].resize(elements(graph.nodes[id].shape));
            state->pointers[id] = state->storage[id].data();
        }
    }
    const auto run = reinterpret_cast<RunFunction>(state->library.symbol("run"));
    return [graph, state, run](const Pointers& inputs) {
        Pointers results;
        auto next_input = inputs.begin();
        for (NodeId id = 0; id < graph.nodes.size(); ++id) {
            // One array holds all pointers. The functions behind it take inputs as const float* and never write them.
            if (graph.nodes[id].op->kind == Kind::Input) state->pointers[id] = const_cast<float*>(*next_input++);
        }
        run(state->pointers.data());
        for (NodeId id : graph.outputs) results.push_back(state->pointers[id]);
        return results;
    };
}

struct Backend {
    std::string name;
    std::function<Program(const Graph&)> compile;
};

inline std::vector<Backend>& backend_table() {
    // To add a backend, add a line here: --run and --bench go through this table. The first one is the reference.
    static std::vector<Backend> table = {
        {"interpreter", interpret},
        {"unfused", [](const Graph& graph) { return compile_schedule(graph, one_loop_per_op(graph)); }},
        {"fused", [](const Graph& graph) { return compile_schedule(graph, fuse(graph)); }},
    };
    return table;
}

struct Comparison {
    std::string name;
    double difference;  // the largest absolute one; infinite where only one of two values is NaN or infinite
    bool agrees;
};

// Every backend runs the optimised graph, and is compared with the reference on the graph as written: a wrong pass
// shows up as well as a wrong backend.
inline std::vector<Comparison> compare_backends(const Graph& graph, const Pointers& inputs) {
    const Program reference = backend_table()[0].compile(graph);
    const Pointers expected = reference(inputs);
    const Graph optimised = optimise(graph);
    std::vector<Comparison> comparisons;
    for (const Backend& backend : backend_table()) {
        const Program program = backend.compile(optimised);
        const Pointers actual = program(inputs);
        Comparison comparison{backend.name, 0.0, true};
        for (std::size_t k = 0; k < expected.size(); ++k) {
            for (std::size_t i = 0; i < elements(graph.nodes[graph.outputs[k]].shape); ++i) {
                const double e = static_cast<double>(expected[k][i]), a = static_cast<double>(actual[k][i]);
                if (e == a || (std::isnan(e) && std::isnan(a))) continue;
                const bool finite = std::isfinite(e) && std::isfinite(a);
                const double difference = finite ? std::abs(e - a) : std::numeric_limits<double>::infinity();
                comparison.difference = std::max(comparison.difference, difference);
                // All backends do the same steps in the same order, so 0 is what we expect. The margin is for a
                // run-time compiler whose std::exp is not the one that this program was built with.
                if (!(difference <= 1e-6 + 1e-5 * std::abs(e))) comparison.agrees = false;
            }
        }
        comparisons.push_back(comparison);
    }
    return comparisons;
}

}  // namespace small_compiler

#include "backend.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <stdexcept>

#include "codegen.h"
#include "passes.h"
#include "shared_object.h"

namespace small_compiler {

static Program compile_schedule(const Graph& graph, const Schedule& schedule) {
    struct State {
        SharedObject library;
        RunFunction run;
        std::vector<std::vector<float>> storage;
        std::vector<float*> pointers;  // one per node, null where the value never reaches memory
        std::vector<NodeId> inputs, outputs;
        explicit State(const std::string& source) : library(source) {}
    };
    auto state = std::make_shared<State>(generate(graph, schedule));
    state->run = reinterpret_cast<RunFunction>(state->library.symbol("run"));
    state->storage.resize(graph.nodes.size());
    state->pointers.resize(graph.nodes.size());
    state->inputs = graph.input_nodes();
    state->outputs = graph.outputs;
    for (const Group& group : schedule) {
        for (NodeId id : group.writes) {
            state->storage[id].resize(elements(graph.nodes[id].shape));
            state->pointers[id] = state->storage[id].data();
        }
    }
    return [state](const std::vector<const float*>& inputs) {
        for (std::size_t i = 0; i < state->inputs.size(); ++i) {
            // One array holds all pointers; the functions behind it take inputs as const float* and never write them.
            state->pointers[state->inputs[i]] = const_cast<float*>(inputs.at(i));
        }
        state->run(state->pointers.data());
        std::vector<const float*> results;
        for (NodeId id : state->outputs) results.push_back(state->pointers[id]);
        return results;
    };
}

std::vector<Backend>& backend_table() {
    // To add a backend, add a line here: --run and --bench go through this table.
    static std::vector<Backend> table = {
        {"interpreter", interpret},
        {"unfused", [](const Graph& graph) { return compile_schedule(graph, one_loop_per_op(graph)); }},
        {"fused", [](const Graph& graph) { return compile_schedule(graph, fuse(graph)); }},
    };
    return table;
}

const Backend& find_backend(const std::string& name) {
    for (const Backend& backend : backend_table()) {
        if (backend.name == name) return backend;
    }
    throw std::out_of_range("no backend " + name);
}

std::vector<Comparison> compare_backends(const Graph& graph, const std::vector<const float*>& inputs) {
    const Program reference = backend_table()[0].compile(graph);
    const std::vector<const float*> expected = reference(inputs);
    const Graph optimised = optimise(graph);
    std::vector<Comparison> comparisons;
    for (const Backend& backend : backend_table()) {
        const Program program = backend.compile(optimised);
        const std::vector<const float*> actual = program(inputs);
        Comparison comparison{backend.name, 0.0, true};
        for (std::size_t k = 0; k < expected.size(); ++k) {
            for (std::size_t i = 0; i < elements(graph.nodes[graph.outputs[k]].shape); ++i) {
                const double e = static_cast<double>(expected[k][i]), a = static_cast<double>(actual[k][i]);
                if (e == a || (std::isnan(e) && std::isnan(a))) continue;
                double difference = std::abs(e - a);
                if (!std::isfinite(difference)) difference = std::numeric_limits<double>::infinity();
                comparison.difference = std::max(comparison.difference, difference);
                // All backends do the same additions in the same order, so 0 is what we expect. The margin is for a
                // run-time compiler with another std::exp than the one that built this program.
                if (difference > 1e-6 + 1e-5 * std::abs(e)) comparison.agrees = false;
            }
        }
        comparisons.push_back(comparison);
    }
    return comparisons;
}

}  // namespace small_compiler

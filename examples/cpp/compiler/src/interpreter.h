// The reference. Slow and simple on purpose: one op at a time, one element at a time, each op with its own buffer.
#pragma once

#include <functional>
#include <memory>

#include "graph.h"

namespace small_compiler {

// One pointer per input of the graph goes in, one per output comes out; results are valid until the next call. Buffers
// are allocated when a program is made, not when it is called, so that no timing includes fresh memory.
using Pointers = std::vector<const float*>;
using Program = std::function<Pointers(const Pointers& inputs)>;

inline void interpret_node(const Graph& graph, const Node& node, const Pointers& values, float* result) {
    const Shape& from = graph.nodes[node.inputs[0]].shape;
    const float* a = values[node.inputs.front()];
    const float* b = values[node.inputs.back()];  // the same one for an op of arity 1
    const std::size_t size = elements(node.shape);
    if (node.op->kind == Kind::Elementwise) {
        for (std::size_t i = 0; i < size; ++i) result[i] = node.op->apply(a[i], b[i]);
    } else if (node.op->kind == Kind::Broadcast) {
        const std::size_t repeats = size / elements(from);  // of each element: all in one row, or one row's worth
        for (std::size_t i = 0; i < size; ++i) result[i] = a[i / repeats];
    } else {
        for (std::size_t row = 0; row < size; ++row) {
            result[row] = node.op->start;
            for (std::size_t i = 0; i < columns(from); ++i) {
                result[row] = node.op->apply(result[row], a[row * columns(from) + i]);
            }
        }
    }
}

inline Program interpret(const Graph& graph) {
    auto storage = std::make_shared<std::vector<std::vector<float>>>();
    for (const Node& node : graph.nodes) {
        const bool handed_in = node.op->kind == Kind::Input;
        storage->emplace_back(handed_in ? 0 : elements(node.shape), node.value);  // fills the constants, too
    }
    return [graph, storage](const Pointers& inputs) {
        Pointers values, results;
        auto next_input = inputs.begin();
        for (NodeId id = 0; id < graph.nodes.size(); ++id) {
            const Node& node = graph.nodes[id];
            float* own = (*storage)[id].data();
            if (!node.inputs.empty()) interpret_node(graph, node, values, own);
            values.push_back(node.op->kind == Kind::Input ? *next_input++ : own);
        }
        for (NodeId id : graph.outputs) results.push_back(values[id]);
        return results;
    };
}

}  // namespace small_compiler

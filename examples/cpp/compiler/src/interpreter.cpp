// The reference. Slow and simple on purpose: one op at a time, one element at a time, every value in memory.
#include <memory>

#include "backend.h"

namespace small_compiler {

Program interpret(const Graph& graph) {
    auto storage = std::make_shared<std::vector<std::vector<float>>>();
    for (const Node& node : graph.nodes) {
        const bool handed_in = node.op->kind == Kind::Input;
        storage->emplace_back(handed_in ? 0 : elements(node.shape), node.value);  // this fills constants, too
    }
    return [graph, storage](const std::vector<const float*>& inputs) {
        std::vector<const float*> values(graph.nodes.size());
        std::size_t next_input = 0;
        for (NodeId id = 0; id < graph.nodes.size(); ++id) {
            const Node& node = graph.nodes[id];
            float* result = (*storage)[id].data();
            values[id] = result;
            const std::size_t height = rows(node.shape), width = columns(node.shape);
            const float* first = node.inputs.empty() ? nullptr : values[node.inputs.front()];
            const float* last = node.inputs.empty() ? nullptr : values[node.inputs.back()];
            switch (node.op->kind) {
                case Kind::Input: values[id] = inputs.at(next_input++); break;
                case Kind::Constant: break;
                case Kind::Broadcast: {
                    const Shape& source = graph.nodes[node.inputs[0]].shape;
                    const bool same = elements(source) == height * width, single = elements(source) == 1;
                    for (std::size_t i = 0; i < height * width; ++i) {
                        result[i] = first[same ? i : single ? 0 : i / width];
                    }
                    break;
                }
                case Kind::Elementwise:
                    for (std::size_t i = 0; i < height * width; ++i) result[i] = node.op->apply(first[i], last[i]);
                    break;
                case Kind::Reduction: {
                    const std::size_t length = columns(graph.nodes[node.inputs[0]].shape);
                    for (std::size_t row = 0; row < height; ++row) {
                        float total = node.op->start;
                        for (std::size_t i = 0; i < length; ++i) {
                            total = node.op->apply(total, first[row * length + i]);
                        }
                        result[row] = total;
                    }
                    break;
                }
            }
        }
        std::vector<const float*> results;
        for (NodeId id : graph.outputs) results.push_back(values[id]);
        return results;
    };
}

}  // namespace small_compiler

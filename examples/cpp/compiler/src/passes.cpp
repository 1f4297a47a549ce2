#include "passes.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <tuple>

namespace small_compiler {

const std::vector<Pass>& passes() {
    // Dead code last: the two before it only redirect uses, and leave what nobody uses any more to it.
    static const std::vector<Pass> list = {
        {"constant folding", fold_constants},
        {"common subexpressions", merge_common_subexpressions},
        {"dead code elimination", remove_dead_code},
    };
    return list;
}

Graph optimise(Graph graph) {
    for (const Pass& pass : passes()) graph = pass.run(std::move(graph));
    return graph;
}

// A node whose operands are all constants becomes a constant. Only that: "x * 0" is not 0 when x is NaN or infinite,
// and "x - x" is not 0 either. A compiler that must give the same answers leaves such identities alone.
Graph fold_constants(Graph graph) {
    for (Node& node : graph.nodes) {
        const bool foldable = !node.inputs.empty() &&
                              std::all_of(node.inputs.begin(), node.inputs.end(), [&](NodeId id) {
                                  return graph.nodes[id].op->kind == Kind::Constant;
                              });
        if (!foldable) continue;
        const Node& first = graph.nodes[node.inputs.front()];
        const Node& last = graph.nodes[node.inputs.back()];  // the same one for an op of arity 1
        if (node.op->kind == Kind::Broadcast) {
            node.value = first.value;
        } else if (node.op->kind == Kind::Elementwise) {
            node.value = node.op->apply(first.value, last.value);
        } else {
            // One addition after the other, not value * columns: that would round differently.
            float total = node.op->start;
            for (std::size_t i = 0; i < columns(first.shape); ++i) total = node.op->apply(total, first.value);
            node.value = total;
        }
        node.op = find_op("constant");
        node.inputs.clear();
    }
    return graph;
}

// Two nodes are equal when op, operands, shape and value are. Operands are redirected before a node is looked up, so
// equality spreads down a chain in one walk. Constants are compared by their bits: 0 and -0 are equal as numbers, but
// 1/0 and 1/-0 are not.
Graph merge_common_subexpressions(Graph graph) {
    using Key = std::tuple<const Op*, std::vector<NodeId>, Shape, std::uint32_t>;
    std::map<Key, NodeId> seen;
    std::vector<NodeId> representative(graph.nodes.size());
    for (NodeId id = 0; id < graph.nodes.size(); ++id) {
        Node& node = graph.nodes[id];
        representative[id] = id;
        if (node.op->kind == Kind::Input) continue;  // two inputs of the same shape are still two inputs
        for (NodeId& operand : node.inputs) operand = representative[operand];
        std::uint32_t bits = 0;
        static_assert(sizeof bits == sizeof node.value, "float32 expected");
        std::memcpy(&bits, &node.value, sizeof bits);
        if (node.op->kind != Kind::Constant) bits = 0;
        representative[id] = seen.emplace(Key{node.op, node.inputs, node.shape, bits}, id).first->second;
    }
    for (NodeId& output : graph.outputs) output = representative[output];
    return graph;
}

// Walks backwards from the outputs; what was not reached is dropped. Inputs stay, used or not: they are the calling
// convention, and the caller goes on handing them in.
Graph remove_dead_code(Graph graph) {
    std::vector<bool> alive(graph.nodes.size(), false);
    for (NodeId output : graph.outputs) alive[output] = true;
    for (NodeId id = graph.nodes.size(); id-- > 0;) {
        if (graph.nodes[id].op->kind == Kind::Input) alive[id] = true;
        if (!alive[id]) continue;
        for (NodeId operand : graph.nodes[id].inputs) alive[operand] = true;
    }
    Graph kept;
    std::vector<NodeId> moved_to(graph.nodes.size());
    for (NodeId id = 0; id < graph.nodes.size(); ++id) {
        if (!alive[id]) continue;
        moved_to[id] = kept.nodes.size();
        kept.nodes.push_back(std::move(graph.nodes[id]));
        for (NodeId& operand : kept.nodes.back().inputs) operand = moved_to[operand];
    }
    for (NodeId output : graph.outputs) kept.outputs.push_back(moved_to[output]);
    return kept;
}

}  // namespace small_compiler

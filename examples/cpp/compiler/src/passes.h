// Passes that rewrite the graph. Fusion comes after them, in schedule.h: it changes no node, it only decides which
// nodes share a loop.
#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <tuple>

#include "graph.h"

namespace small_compiler {

// A node whose operands are all constants becomes a constant. Only that: "x * 0" is not 0 where x is NaN or infinite.
// A compiler that has to give the same answers as before leaves such identities alone.
inline Graph fold_constants(Graph graph) {
    for (Node& node : graph.nodes) {
        const auto constant = [&](NodeId id) { return graph.nodes[id].op->kind == Kind::Constant; };
        if (node.inputs.empty() || !std::all_of(node.inputs.begin(), node.inputs.end(), constant)) continue;
        const Node& first = graph.nodes[node.inputs.front()];
        const Node& last = graph.nodes[node.inputs.back()];  // the same one for an op of arity 1
        if (node.op->kind == Kind::Broadcast) {
            node.value = first.value;
        } else if (node.op->kind == Kind::Elementwise) {
            node.value = node.op->apply(first.value, last.value);
        } else {
            // Step by step, as a loop would do it: value * columns would round differently.
            node.value = node.op->start;
            for (std::size_t i = 0; i < columns(first.shape); ++i) node.value = node.op->apply(node.value, first.value);
        }
        node.op = find_op("constant");
        node.inputs.clear();
    }
    return graph;
}

// Nodes with the same op, operands, shape and value are one. Operands are redirected before a node is looked up, so one
// walk merges whole chains. Values are compared by their bits: 0 and -0 are equal, but 1/0 and 1/-0 are not.
inline Graph merge_common_subexpressions(Graph graph) {
    std::map<std::tuple<const Op*, std::vector<NodeId>, Shape, std::uint32_t>, NodeId> seen;
    std::vector<NodeId> stands_for;
    for (NodeId id = 0; id < graph.nodes.size(); ++id) {
        Node& node = graph.nodes[id];
        for (NodeId& operand : node.inputs) operand = stands_for[operand];
        std::uint32_t bits = 0;
        static_assert(sizeof bits == sizeof node.value, "float must have 32 bits");
        std::memcpy(&bits, &node.value, sizeof bits);
        const auto [first, is_new] = seen.emplace(std::tuple(node.op, node.inputs, node.shape, bits), id);
        const bool unique = is_new || node.op->kind == Kind::Input;  // two inputs of one shape are still two inputs
        stands_for.push_back(unique ? id : first->second);
    }
    for (NodeId& output : graph.outputs) output = stands_for[output];
    return graph;
}

// Walks backwards from the outputs and drops what it does not reach. Inputs stay, used or not: the caller goes on
// handing them in.
inline Graph remove_dead_code(Graph graph) {
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

struct Pass {
    const char* name;
    Graph (*run)(Graph);
};

inline const std::vector<Pass>& passes() {
    // Dead code last: the two before it redirect uses, and leave to it what nobody uses any more.
    static const std::vector<Pass> in_order = {{"constant folding", fold_constants},
                                               {"common subexpressions", merge_common_subexpressions},
                                               {"dead code elimination", remove_dead_code}};
    return in_order;
}

inline Graph optimise(Graph graph) {
    for (const Pass& pass : passes()) graph = pass.run(std::move(graph));
    return graph;
}

}  // namespace small_compiler

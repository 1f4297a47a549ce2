// Which nodes share a loop, and what each loop reads from and writes to memory. Fusion means that many nodes share one
// loop: a value that is used only inside that loop never reaches memory.
#pragma once

#include "graph.h"

namespace small_compiler {

struct Group {
    std::size_t rows, columns;    // the loop
    std::vector<NodeId> members;  // computed in it, in this order
    std::vector<NodeId> reads;    // loaded from memory
    std::vector<NodeId> writes;   // stored, because another group or the caller needs them
};
using Schedule = std::vector<Group>;  // groups run in this order

// A broadcast is a view: whoever uses it reads its source instead, so that it costs nothing. Eager mode does the same.
inline NodeId look_through_broadcasts(const Graph& graph, NodeId id) {
    while (graph.nodes[id].op->kind == Kind::Broadcast) id = graph.nodes[id].inputs[0];
    return id;
}

// The values that a node needs. Constants are left out: they are printed into the code.
inline std::vector<NodeId> operands(const Graph& graph, NodeId id) {
    std::vector<NodeId> found;
    for (NodeId input : graph.nodes[id].inputs) {
        const NodeId source = look_through_broadcasts(graph, input);
        if (graph.nodes[source].op->kind != Kind::Constant) found.push_back(source);
    }
    return found;
}

inline void add_once(std::vector<NodeId>& list, NodeId id) {
    if (std::find(list.begin(), list.end(), id) == list.end()) list.push_back(id);
}

inline Schedule build_schedule(const Graph& graph, bool share_loops) {
    constexpr std::size_t no_group = static_cast<std::size_t>(-1);
    Schedule schedule;
    std::vector<std::size_t> group_of(graph.nodes.size(), no_group);
    for (NodeId id = 0; id < graph.nodes.size(); ++id) {
        const Node& node = graph.nodes[id];
        const bool computes = node.op->kind == Kind::Elementwise || node.op->kind == Kind::Reduction;
        // Constants and broadcasts have to be in memory only where the caller asks for them; inputs are there already.
        if (!computes && !(graph.is_output(id) && node.op->kind != Kind::Input)) continue;
        const Shape& loop = node.op->kind == Kind::Reduction ? graph.nodes[node.inputs[0]].shape : node.shape;

        // Groups run in order, so a node may join any group that does not come before those of its operands; with that
        // rule there are no cycles. A reduction is known only when its loop is over: whoever uses it has to wait for
        // the next group. This is why a reduction always sits at the end of its group.
        std::size_t chosen = share_loops ? 0 : schedule.size();
        for (NodeId operand : operands(graph, id)) {
            if (group_of[operand] == no_group) continue;  // an input
            const bool reduced = graph.nodes[operand].op->kind == Kind::Reduction;
            chosen = std::max(chosen, group_of[operand] + (reduced ? 1 : 0));
        }
        // The first loop of the right size will do. Inductor looks for the one with the most bytes to share.
        const auto fits = [&](const Group& g) { return g.rows == rows(loop) && g.columns == columns(loop); };
        while (chosen < schedule.size() && !fits(schedule[chosen])) ++chosen;
        if (chosen == schedule.size()) schedule.push_back({rows(loop), columns(loop), {}, {}, {}});
        schedule[chosen].members.push_back(id);
        group_of[id] = chosen;
    }
    // Memory traffic is whatever crosses a border between groups.
    for (std::size_t g = 0; g < schedule.size(); ++g) {
        for (NodeId id : schedule[g].members) {
            if (graph.is_output(id)) add_once(schedule[g].writes, id);
            for (NodeId operand : operands(graph, id)) {
                if (group_of[operand] == g) continue;
                add_once(schedule[g].reads, operand);
                if (group_of[operand] != no_group) add_once(schedule[group_of[operand]].writes, operand);
            }
        }
    }
    return schedule;
}

inline Schedule one_loop_per_op(const Graph& graph) { return build_schedule(graph, false); }  // what eager mode does
inline Schedule fuse(const Graph& graph) { return build_schedule(graph, true); }

// Counted, not measured.
inline std::size_t bytes_moved(const Graph& graph, const Schedule& schedule) {
    std::size_t total = 0;
    for (const Group& group : schedule) {
        for (NodeId id : group.reads) total += elements(graph.nodes[id].shape) * sizeof(float);
        for (NodeId id : group.writes) total += elements(graph.nodes[id].shape) * sizeof(float);
    }
    return total;
}

// The best that any schedule can do: read each input that is used once, and write each output once.
inline std::size_t least_bytes(const Graph& graph) {
    Group everything{};
    for (const Group& group : one_loop_per_op(graph)) {
        for (NodeId id : group.reads) {
            if (graph.nodes[id].op->kind == Kind::Input) add_once(everything.reads, id);
        }
        for (NodeId id : group.writes) {
            if (graph.is_output(id)) add_once(everything.writes, id);
        }
    }
    return bytes_moved(graph, {everything});
}

inline std::string print(const Graph& graph, const Schedule& schedule) {
    std::ostringstream text;
    const auto list = [&](const char* title, const std::vector<NodeId>& ids) {
        text << title;
        for (NodeId id : ids) text << " " << graph.nodes[id].name;
    };
    for (std::size_t g = 0; g < schedule.size(); ++g) {
        text << "  group " << g << ", loop " << schedule[g].rows << " x " << schedule[g].columns;
        list(": reads", schedule[g].reads);
        list("; computes", schedule[g].members);
        list("; writes", schedule[g].writes);
        text << "\n";
    }
    text << "  bytes moved: " << bytes_moved(graph, schedule) << " (at least " << least_bytes(graph) << ")\n";
    return text.str();
}

}  // namespace small_compiler

#include "schedule.h"

#include <algorithm>
#include <limits>
#include <sstream>

namespace small_compiler {
namespace {

constexpr std::size_t kNoGroup = std::numeric_limits<std::size_t>::max();

void add_once(std::vector<NodeId>& list, NodeId id) {
    if (std::find(list.begin(), list.end(), id) == list.end()) list.push_back(id);
}

bool needs_a_loop(const Graph& graph, NodeId id) {
    switch (graph.nodes[id].op->kind) {
        case Kind::Input: return false;
        case Kind::Constant:
        case Kind::Broadcast: return graph.is_output(id);  // only the caller needs to see it in memory
        default: return true;
    }
}

Schedule build(const Graph& graph, bool share_loops) {
    Schedule schedule;
    std::vector<std::size_t> group_of(graph.nodes.size(), kNoGroup);
    for (NodeId id = 0; id < graph.nodes.size(); ++id) {
        if (!needs_a_loop(graph, id)) continue;
        const Node& node = graph.nodes[id];
        const Shape& loop = node.op->kind == Kind::Reduction ? graph.nodes[node.inputs[0]].shape : node.shape;

        // Groups run in order, so a node may join any group that is not before those of its operands. That alone rules
        // out cycles. The result of a reduction is known only when its loop is over: its users must wait for the next
        // group. This is why a reduction is always at the end of its group.
        std::size_t chosen = share_loops ? 0 : schedule.size();
        for (NodeId operand : operands(graph, id)) {
            if (group_of[operand] == kNoGroup) continue;  // an input
            const bool reduced = graph.nodes[operand].op->kind == Kind::Reduction;
            chosen = std::max(chosen, group_of[operand] + (reduced ? 1 : 0));
        }
        // The first loop of the right size. Inductor weighs its candidates by the bytes that they share.
        while (chosen < schedule.size() &&
               (schedule[chosen].rows != rows(loop) || schedule[chosen].columns != columns(loop))) {
            ++chosen;
        }
        if (chosen == schedule.size()) schedule.push_back({rows(loop), columns(loop), {}, {}, {}});
        schedule[chosen].members.push_back(id);
        group_of[id] = chosen;
    }
    // With every node in its place, memory traffic follows: whatever crosses a border between groups.
    for (std::size_t g = 0; g < schedule.size(); ++g) {
        for (NodeId id : schedule[g].members) {
            if (graph.is_output(id)) add_once(schedule[g].writes, id);
            for (NodeId operand : operands(graph, id)) {
                if (group_of[operand] == g) continue;
                add_once(schedule[g].reads, operand);
                if (group_of[operand] != kNoGroup) add_once(schedule[group_of[operand]].writes, operand);
            }
        }
    }
    return schedule;
}

std::size_t bytes(const Graph& graph, const std::vector<NodeId>& ids) {
    std::size_t total = 0;
    for (NodeId id : ids) total += elements(graph.nodes[id].shape) * sizeof(float);
    return total;
}

}  // namespace

Schedule one_loop_per_op(const Graph& graph) { return build(graph, false); }
Schedule fuse(const Graph& graph) { return build(graph, true); }

NodeId look_through_broadcasts(const Graph& graph, NodeId id) {
    while (graph.nodes[id].op->kind == Kind::Broadcast) id = graph.nodes[id].inputs[0];
    return id;
}

std::vector<NodeId> operands(const Graph& graph, NodeId id) {
    std::vector<NodeId> found;
    for (NodeId input : graph.nodes[id].inputs) {
        const NodeId source = look_through_broadcasts(graph, input);
        if (graph.nodes[source].op->kind != Kind::Constant) found.push_back(source);
    }
    return found;
}

std::size_t bytes_moved(const Graph& graph, const Schedule& schedule) {
    std::size_t total = 0;
    for (const Group& group : schedule) total += bytes(graph, group.reads) + bytes(graph, group.writes);
    return total;
}

std::size_t least_bytes(const Graph& graph) {
    std::vector<NodeId> used, written;
    for (NodeId id = 0; id < graph.nodes.size(); ++id) {
        for (NodeId operand : operands(graph, id)) {
            if (graph.nodes[operand].op->kind == Kind::Input) add_once(used, operand);
        }
    }
    for (NodeId id : graph.outputs) {
        if (graph.nodes[id].op->kind != Kind::Input) add_once(written, id);  // an input handed back is not copied
    }
    return bytes(graph, used) + bytes(graph, written);
}

std::string print(const Graph& graph, const Schedule& schedule) {
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

// The graph, which is to this compiler what an FX graph is to Inductor. Plain data: a pass takes one and returns one.
#pragma once

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iomanip>
#include <sstream>
#include <stdexcept>
#include <vector>

#include "ops.h"

namespace small_compiler {

// {} is a scalar. Tensors are stored row after row, so a tensor of any rank can be seen as a table of rows and columns.
// Two nested loops are then enough for all shapes.
using Shape = std::vector<std::size_t>;

inline std::size_t elements(const Shape& shape) {
    std::size_t product = 1;
    for (std::size_t dimension : shape) product *= dimension;
    return product;
}
inline std::size_t columns(const Shape& shape) { return shape.empty() ? 1 : shape.back(); }
inline std::size_t rows(const Shape& shape) { return elements(shape) / columns(shape); }

inline std::string to_string(const Shape& shape) {
    std::string text;
    for (std::size_t dimension : shape) text += (text.empty() ? "" : ", ") + std::to_string(dimension);
    return "[" + text + "]";
}

inline std::string to_string(float value) {
    char text[40];
    for (int digits = 6; digits <= 9; ++digits) {  // the shortest that reads back as the same float; 9 always does
        std::snprintf(text, sizeof text, "%.*g", digits, static_cast<double>(value));
        if (std::strtof(text, nullptr) == value) break;
    }
    return text;
}

// One value for the whole shape, or one per row. NumPy allows more; these two keep the loops simple.
inline bool can_broadcast(const Shape& from, const Shape& to) {
    if (from == to || elements(from) == 1) return true;
    return from.size() == to.size() && from.back() == 1 && std::equal(from.begin(), from.end() - 1, to.begin());
}

using NodeId = std::size_t;  // position in Graph::nodes

struct Node {
    const Op* op;
    std::vector<NodeId> inputs;
    Shape shape;
    std::string name;    // given at birth and kept by all passes, so that printed graphs can be compared
    float value = 0.0f;  // constants only
};

struct Graph {
    std::vector<Node> nodes;  // always in an order in which a node comes after its inputs
    std::vector<NodeId> outputs;

    NodeId input(const std::string& name, const Shape& shape) { return append({find_op("input"), {}, shape, name}); }

    NodeId constant(float value, const std::string& name = "") {
        return append({find_op("constant"), {}, {}, name, value});
    }

    // This and apply() check shapes; where they do not fit, they throw std::invalid_argument with a remedy.
    NodeId broadcast(NodeId source, const Shape& shape, const std::string& name = "") {
        if (!can_broadcast(nodes[source].shape, shape)) {
            throw std::invalid_argument("broadcast of " + to_string(nodes[source].shape) + " to " + to_string(shape) +
                                        "; start from one element, or from the same shape with 1 as its last number");
        }
        return append({find_op("broadcast"), {source}, shape, name});
    }

    NodeId apply(const Op& op, std::vector<NodeId> inputs, const std::string& name = "") {
        Shape shape = nodes[inputs[0]].shape;
        if (op.kind == Kind::Reduction) {
            if (shape.empty()) throw std::invalid_argument(op.name + " of a scalar; give it at least one dimension");
            shape.back() = 1;
            return append({&op, std::move(inputs), shape, name});
        }
        // The widest operand gives the shape. The others are broadcast to it, by nodes that the passes can see.
        for (NodeId id : inputs) {
            const Shape& other = nodes[id].shape;
            const bool wider = elements(other) > elements(shape) || other.size() > shape.size();
            if (wider && can_broadcast(shape, other)) shape = other;
        }
        for (NodeId& id : inputs) {
            if (!can_broadcast(nodes[id].shape, shape)) {
                throw std::invalid_argument(op.name + " of shapes " + to_string(shape) + " and " +
                                            to_string(nodes[id].shape) + "; make them equal, or one a scalar");
            }
            if (nodes[id].shape != shape) id = broadcast(id, shape);
        }
        return append({&op, std::move(inputs), shape, name});
    }

    bool is_output(NodeId id) const { return std::find(outputs.begin(), outputs.end(), id) != outputs.end(); }

    std::string print() const {
        std::ostringstream text;
        for (const Node& node : nodes) {
            text << "  " << std::left << std::setw(10) << node.name << " = " << node.op->name;
            for (NodeId id : node.inputs) text << " " << nodes[id].name;
            if (node.op->kind == Kind::Constant) text << " " << to_string(node.value);
            text << "  " << to_string(node.shape) << "\n";
        }
        text << "  output";
        for (NodeId id : outputs) text << " " << nodes[id].name;
        return text.str() + "\n";
    }

  private:
    NodeId append(Node node) {
        // A reader can't write "%", so invented names never clash with given ones.
        if (node.name.empty()) node.name = "%" + std::to_string(nodes.size());
        nodes.push_back(std::move(node));
        return nodes.size() - 1;
    }
};

}  // namespace small_compiler

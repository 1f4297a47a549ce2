#include "graph.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iomanip>
#include <sstream>
#include <stdexcept>

namespace small_compiler {

std::size_t columns(const Shape& shape) { return shape.empty() ? 1 : shape.back(); }
std::size_t rows(const Shape& shape) { return elements(shape) / columns(shape); }

std::size_t elements(const Shape& shape) {
    std::size_t product = 1;
    for (std::size_t dimension : shape) product *= dimension;
    return product;
}

std::string to_string(const Shape& shape) {
    std::string text = "[";
    for (std::size_t i = 0; i < shape.size(); ++i) text += (i ? ", " : "") + std::to_string(shape[i]);
    return text + "]";
}

std::string to_string(float value) {
    char text[40];
    for (int digits = 6; digits <= 9; ++digits) {  // nine digits are always enough for a float
        std::snprintf(text, sizeof text, "%.*g", digits, static_cast<double>(value));
        if (std::strtof(text, nullptr) == value) break;
    }
    return text;
}

NodeId Graph::append(const Op* op, std::vector<NodeId> inputs, Shape shape, const std::string& name, float value) {
    // "%" can't occur in a name that a reader writes, so invented names never clash with given ones.
    const std::string label = name.empty() ? "%" + std::to_string(nodes.size()) : name;
    nodes.push_back({op, std::move(inputs), std::move(shape), label, value});
    return nodes.size() - 1;
}

NodeId Graph::input(const std::string& name, const Shape& shape) {
    return append(find_op("input"), {}, shape, name);
}

NodeId Graph::constant(float value, const std::string& name) {
    return append(find_op("constant"), {}, {}, name, value);
}

// One value for the whole shape, or one value per row. NumPy's rules allow more; two cases keep the loops simple.
static bool can_broadcast(const Shape& from, const Shape& to) {
    if (from == to || elements(from) == 1) return true;
    return from.size() == to.size() && from.back() == 1 && std::equal(from.begin(), from.end() - 1, to.begin());
}

NodeId Graph::broadcast(NodeId source, const Shape& shape, const std::string& name) {
    const Shape& from = nodes[source].shape;
    if (!can_broadcast(from, shape)) {
        throw std::invalid_argument("cannot broadcast " + to_string(from) + " to " + to_string(shape) +
                                    "; give it one element, or the same shape with a last dimension of 1");
    }
    return append(find_op("broadcast"), {source}, shape, name);
}

NodeId Graph::apply(const Op& op, std::vector<NodeId> inputs, const std::string& name) {
    if (op.kind == Kind::Reduction) {
        Shape shape = nodes[inputs[0]].shape;
        if (shape.empty()) {
            throw std::invalid_argument(op.name + " of a scalar; give it a tensor of at least one dimension");
        }
        shape.back() = 1;
        return append(&op, std::move(inputs), shape, name);
    }
    // The widest operand gives the shape; the others are broadcast to it, by nodes of their own that passes can see.
    Shape shape = nodes[inputs[0]].shape;
    for (NodeId id : inputs) {
        const Shape& other = nodes[id].shape;
        const bool wider = elements(other) > elements(shape) || other.size() > shape.size();
        if (wider && can_broadcast(shape, other)) shape = other;
    }
    for (NodeId& id : inputs) {
        if (!can_broadcast(nodes[id].shape, shape)) {
            throw std::invalid_argument(op.name + " of " + to_string(shape) + " and " + to_string(nodes[id].shape) +
                                        "; make the shapes equal, or one of them a scalar or a column");
        }
        if (nodes[id].shape != shape) id = broadcast(id, shape);
    }
    return append(&op, std::move(inputs), shape, name);
}

std::vector<NodeId> Graph::input_nodes() const {
    std::vector<NodeId> found;
    for (NodeId id = 0; id < nodes.size(); ++id) {
        if (nodes[id].op->kind == Kind::Input) found.push_back(id);
    }
    return found;
}

bool Graph::is_output(NodeId id) const { return std::find(outputs.begin(), outputs.end(), id) != outputs.end(); }

std::string Graph::print() const {
    std::ostringstream text;
    for (const Node& node : nodes) {
        text << "  " << std::left << std::setw(10) << node.name << " = " << node.op->name;
        for (NodeId id : node.inputs) text << " " << nodes[id].name;
        if (node.op->kind == Kind::Constant) text << " " << to_string(node.value);
        text << "  " << to_string(node.shape) << "\n";
    }
    text << "  output";
    for (NodeId id : outputs) text << " " << nodes[id].name;
    text << "\n";
    return text.str();
}

}  // namespace small_compiler

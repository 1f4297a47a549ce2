// The graph: what torch.fx is to Inductor. Plain data; passes take one graph and return another.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "ops.h"

namespace small_compiler {

using Shape = std::vector<std::size_t>;  // {} is a scalar

// Every tensor is stored row after row, so any rank can be seen as a table of rows and columns. Two nested loops are
// then enough for all shapes.
std::size_t columns(const Shape& shape);  // the last dimension
std::size_t rows(const Shape& shape);     // all the others, multiplied
std::size_t elements(const Shape& shape);
std::string to_string(const Shape& shape);
std::string to_string(float value);  // the shortest decimal that reads back as the same float

using NodeId = std::size_t;  // position in Graph::nodes

struct Node {
    const Op* op;
    std::vector<NodeId> inputs;
    Shape shape;
    std::string name;     // given at birth and kept by all passes, so that printed graphs can be compared
    float value = 0.0f;  // constants only
};

struct Graph {
    std::vector<Node> nodes;  // always in an order in which a node comes after its inputs
    std::vector<NodeId> outputs;

    NodeId input(const std::string& name, const Shape& shape);
    NodeId constant(float value, const std::string& name = "");
    // These two check shapes and throw std::invalid_argument, with a remedy, where they do not fit.
    NodeId broadcast(NodeId source, const Shape& shape, const std::string& name = "");
    NodeId apply(const Op& op, std::vector<NodeId> inputs, const std::string& name = "");

    std::vector<NodeId> input_nodes() const;
    bool is_output(NodeId id) const;
    std::string print() const;

  private:
    NodeId append(const Op* op, std::vector<NodeId> inputs, Shape shape, const std::string& name, float value = 0.0f);
};

}  // namespace small_compiler

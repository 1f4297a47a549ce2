// The text format. One statement per line, "#" starts a comment:
//   input x [64, 128]
//   half = constant 0.5
//   y = mul x half              (or: y = mul x 0.5)
//   wide = broadcast half [64, 128]
//   output y
#pragma once

#include <string>
#include <vector>

#include "graph.h"

namespace small_compiler {

struct ParseResult {
    Graph graph;                      // of use only where there are no errors
    std::vector<std::string> errors;  // all of them, "LINE: what is wrong; what to do"
};

ParseResult parse(const std::string& text);

}  // namespace small_compiler
